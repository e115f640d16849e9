"""kafka.md prints the worked bytes, and what Kafka reads of them."""

import re
from typing import Final

from each import each
from folders import TOP
from kafka_examples import WORKED, Worked

TEXT: Final = (TOP / "reference/docs/kafka.md").read_text(encoding="utf-8")


@each("worked", WORKED, ids=lambda worked: worked.example)
def test_the_document_prints_the_worked_bytes_and_what_kafka_reads(worked: Worked) -> None:
    heading = f"### {worked.example} ({worked.vector}), {worked.size} bytes\n"
    _, _, section = TEXT.partition(heading)
    _, block, rest = section.split("```", 2)
    reads = re.search(r"^Kafka reads: (.*)$", rest, re.MULTILINE)
    assert block.split() == re.findall(".{1,64}", worked.data)
    assert reads
    assert tuple(re.findall("`([^`]+)`", reads[1])) == worked.reads

"""kafka.md and the tables of the fixtures agree: vectors, worked bytes, bugs in the field."""

import re
import tomllib
from typing import Any, Final

from each import each
from folders import TOP
from kafka_examples import WORKED, Worked

TEXT: Final = (TOP / "reference/docs/kafka.md").read_text(encoding="utf-8")
VECTOR: Final = re.compile(
    r'^\| <a id="\w+"></a>([A-Z]\d\d) \| [^|]+ \| (\d+) \| ([A-Z]+)(?: · (\w+))?', re.MULTILINE
)
BUG: Final = re.compile(r'^\| <a id="no-(\d+)"></a>\1 \| ([^|]+) \|', re.MULTILINE)


def _table(name: str) -> list[dict[str, Any]]:
    path = TOP / f"fixtures/kafka.batch/{name}.toml"
    rows: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))[name]
    return rows


def test_the_document_lists_the_vectors_with_size_and_verdict() -> None:
    rows = {row["id"]: (row["size"], row["verdict"], row.get("name", "")) for row in _table("vectors")}
    listed = {
        name: (int(size), verdict, kind if kind != "TRAILING_PARTIAL" else "")
        for name, size, verdict, kind in VECTOR.findall(TEXT)
    }
    assert listed == rows


def test_the_document_lists_the_bugs_with_their_repositories() -> None:
    assert BUG.findall(TEXT) == [(row["id"], row["repository"]) for row in _table("regressions")]


@each("worked", WORKED, ids=lambda worked: worked.example)
def test_the_document_prints_the_worked_bytes_and_what_kafka_reads(worked: Worked) -> None:
    heading = f"### {worked.example} ({worked.vector}), {worked.size} bytes\n"
    _, _, section = TEXT.partition(heading)
    _, block, rest = section.split("```", 2)
    reads = re.search(r"^Kafka reads: (.*)$", rest, re.MULTILINE)
    assert block.split() == re.findall(".{1,64}", worked.data)
    assert reads
    assert tuple(re.findall("`([^`]+)`", reads[1])) == worked.reads

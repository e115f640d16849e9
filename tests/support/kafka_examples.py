"""The worked examples of kafka.md §6: bytes, and what Kafka's own reader delivered of them.

Notation of the format document: offset/timestamp/key/value/headers, `x..` hex bytes, `CTL@` a control record.
"""

import re
from typing import Final, NamedTuple

from folders import TOP


class Worked(NamedTuple):
    """An example: its number and the vector, the size that the document states, its bytes, its records."""

    example: str
    vector: str
    size: int
    data: bytes
    reads: tuple[str, ...]


_EXAMPLE: Final = re.compile(
    r"^### (E\d+) \((\w+)\), (\d+) bytes\n.*?^```\n(.*?)^```\n\nKafka reads: (.*?)$", re.MULTILINE | re.DOTALL
)

WORKED: Final = tuple(
    Worked(example, vector, int(size), bytes.fromhex(data), tuple(re.findall("`([^`]+)`", reads)))
    for example, vector, size, data, reads in _EXAMPLE.findall(
        (TOP / "reference/docs/kafka.md").read_text(encoding="utf-8")
    )
)
"""All of them, as the document prints them."""

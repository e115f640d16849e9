"""The worked examples of kafka.md §6: number and bytes of each, as the document prints them."""

import re
from typing import Final, NamedTuple

from folders import TOP


class Worked(NamedTuple):
    """An example: its number, and its bytes."""

    example: str
    data: bytes


_EXAMPLE: Final = re.compile(r"^### (E\d+) \(\w+\), \d+ bytes\n.*?^```\n(.*?)^```", re.MULTILINE | re.DOTALL)

WORKED: Final = tuple(
    Worked(example, bytes.fromhex(data))
    for example, data in _EXAMPLE.findall((TOP / "reference/docs/kafka.md").read_text(encoding="utf-8"))
)

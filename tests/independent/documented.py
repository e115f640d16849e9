"""The bytes that the format documents print, by the id of their row, and the cases that must have them.

heka.md has them in tables (§2.4, §3.1, §4.2, §8), iggy.md in its worked examples (§13).
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

DOCUMENTS: Final = Path(__file__).resolve().parents[2] / "reference" / "docs"
ROW: Final = re.compile(r'^\| (?:<a id="\w+"></a>)+([MSAW][0-9]+) \|(.*)$', re.MULTILINE)
EXAMPLE: Final = re.compile(r"^### (W[0-9]+) .*?^```\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMED: Final = re.compile(r"(heka|iggy)\.md §[0-9.]+ ([MSAW][0-9]+)(?: \[RUN[^]]*\])?")
RUN: Final = re.compile(r"<([0-9a-f]{2})\*([0-9]+)>")


@cache
def printed(system: str) -> Mapping[str, bytes]:
    """Return the bytes of each row or example of a document."""
    text = (DOCUMENTS / f"{system}.md").read_text("utf-8")
    if system == "iggy":
        return {name: _bytes(digits) for name, digits in EXAMPLE.findall(text)}
    cells = {name: _first_bytes(rest) for name, rest in ROW.findall(text)}
    short = {"…W3 message": cells["W3"].partition("1f ")[2], "…": cells["M01"], "F": cells["W1"]}
    found = {}
    for name, digits in cells.items():
        for sign, meaning in short.items():
            digits = digits.replace(sign, meaning)  # noqa: PLW2901 - one sign after another
        if re.fullmatch(r"[0-9a-f<>*\s]*", digits):  # a row of words prints no bytes
            found[name] = _bytes(digits)
    return found


def _first_bytes(row: str) -> str:
    """Return the first cell of a row that begins with code."""
    return next((cell.strip().split("`")[1] for cell in row.split("|") if cell.strip().startswith("`")), "")


def _bytes(digits: str) -> bytes:
    spelled = RUN.sub(lambda run: run[1] * int(run[2]), digits)
    return bytes.fromhex(re.sub(r"\s", "", spelled))


def stated_bytes(row: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield the row of a document that a case names as its origin, and the bytes that are printed there."""
    source = row["source"]
    found = NAMED.fullmatch(source["document"]) if source["origin"] == "document" else None
    rows = printed(found[1]) if found else {}
    if found and found[2] in rows:
        yield found[2], rows[found[2]]

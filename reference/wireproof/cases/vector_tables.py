"""Tables that connect the vectors and bug reports of a format document with the fixtures that test them.

`fixtures/<format>/vectors.toml` contains the vectors that were run on the system's own reader,
`regressions.toml` bugs that users reported, and `sightings.toml` bytes and faults that a format document
shows without a one-word verdict. The keys `document`, `section` and `ids` name the source of each table.
Every id has one row, and every row has fixtures or the reason why there is none.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import Factory, frozen

from wireproof.files import read_limited_text
from wireproof.strict_parsing import MAX_TOML_SIZE, parse_toml, structure

VERDICTS: Final = ("VALID", "PARTIAL", "INVALID", "IMPL")
"""kafka.md §5: read · read except for a cut last entry · refused · read, although no writer writes it."""

RANGE: Final = re.compile(r"([A-Z]*)([0-9]+)(?:-([0-9]+))?")


@frozen
class Vector:
    """Bytes that were run on the system's own reader.

    Attributes:
        id: the id in the format document.
        size: number of bytes in the format document.
        verdict: one of `VERDICTS`.
        name: the document's class of a refusal, or of bytes that are read although no writer writes them.
        fixture: the id of the case for this vector.
        note: why the fixture's length or verdict is different.
        exclusion: why there is no fixture.
    """

    id: str
    size: int
    verdict: str
    name: str = ""
    fixture: str = ""
    note: str = ""
    exclusion: str = ""

    @property
    def fixtures(self) -> tuple[str, ...]:
        """Return the one fixture, if there is one."""
        return (self.fixture,) if self.fixture else ()


@frozen
class Regression:
    """A bug that was reported for an implementation.

    Attributes:
        id: the number in the format document.
        repository: `owner/name`.
        links: `owner/name#7` or `owner/name@commit`; the `why` of a fixture contains one of them.
        fault: description of the bug.
        fixtures: the cases that fail while the bug is present.
        exclusion: why there is none.
    """

    id: str
    repository: str
    links: tuple[str, ...]
    fault: str
    fixtures: tuple[str, ...] = ()
    exclusion: str = ""


@frozen
class Sighting:
    """Bytes or a fault in a format document without a one-word verdict.

    Attributes:
        id: the id in the document; a letter before the number names the section.
        text: description of the bytes or fault.
        bytes: hex of the bytes in the document; one of the fixtures has exactly these bytes.
        links: as in a `Regression`; may be empty.
        fixtures: the cases that test it; `<id>~<family>` is a family of derived cases.
        exclusion: why there is none.
    """

    id: str
    text: str
    bytes: str = ""
    links: tuple[str, ...] = ()
    fixtures: tuple[str, ...] = ()
    exclusion: str = ""


Row = Vector | Regression | Sighting


@frozen
class Table:
    """A file of rows of one kind.

    Attributes:
        path: the path of the file.
        document, section: the section that the table covers.
        ids: every id of that section, in its order.
        rows: one row for each id, if the file is correct.
    """

    path: Path
    document: str
    section: str
    ids: tuple[str, ...]
    rows: tuple[Row, ...] = Factory(tuple)


KINDS: Final[Mapping[str, type[Row]]] = {"vectors": Vector, "regressions": Regression, "sightings": Sighting}
"""Row classes by the name of the file and the name of the list in it."""


def tables(root: Path) -> Iterator[Table]:
    """Yield the tables of a folder of fixtures; raise ValueError with the file and the problem."""
    for name, kind in KINDS.items():
        for path in sorted(root.glob(f"*/{name}.toml")):
            try:
                yield _table(path, parse_toml(read_limited_text(path, MAX_TOML_SIZE)), name, kind)
            except KeyError as error:
                raise ValueError(f"{path}: {error} is missing") from None
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path}: {error}") from None


def _table(path: Path, page: Mapping[str, Any], name: str, kind: type[Row]) -> Table:
    unknown = set(page) - {"document", "section", "ids", name}
    if unknown:
        raise ValueError(f"holds the unknown {', '.join(sorted(unknown))}")
    rows = tuple(structure(row, kind, "row") for row in page[name])
    return Table(path, page["document"], page["section"], expanded(page["ids"]), rows)


def expanded(text: str) -> tuple[str, ...]:
    """Expand `W01-46 S01` to W01 … W46 and S01; a number has the width of the first one of its range."""
    return tuple(one for part in text.split() for one in _range(part))


def _range(part: str) -> Iterator[str]:
    found = RANGE.fullmatch(part)
    if found is None:
        raise ValueError(f"{part} is no range of ids")
    letter, first, last = found.groups()
    for number in range(int(first), int(last or first) + 1):
        yield f"{letter}{number:0{len(first)}}"

"""What a rule book lists beside its rules, and the fixtures that answer it: measured bytes, field reports.

`fixtures/<format>/vectors.toml` holds the vectors that the system's own reader was run on,
`regressions.toml` what went wrong in the field, and `sightings.toml` bytes and faults that a rule book
shows without a verdict of one word. Each says in `document`, `section` and `ids` what it answers; every
id has one row, and every row fixtures or the reason why there is none.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import cattrs
from attrs import Factory, frozen

from wireproof.files import read_limited_text
from wireproof.safe_parsing import MAX_TOML_SIZE, parse_toml

VERDICTS: Final = ("VALID", "PARTIAL", "INVALID", "IMPL")
"""kafka.md §5: read · read but for an entry cut at the end · refused · read, though no writer makes it."""

RANGE: Final = re.compile(r"([A-Z]*)([0-9]+)(?:-([0-9]+))?")


@frozen
class Vector:
    """Bytes that the system's own reader was run on.

    Attributes:
        id: as in the rule book.
        size: bytes there.
        verdict: one of `VERDICTS`.
        name: the rule book's class of a refusal, or of what is read though nobody writes it.
        fixture: the id of the case that stands for it.
        note: why the fixture's length or verdict is another.
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
        """The one fixture, if there is one."""
        return (self.fixture,) if self.fixture else ()


@frozen
class Regression:
    """A fault that somebody had in the field.

    Attributes:
        id: the number of the rule book.
        repository: `owner/name`.
        links: `owner/name#7` or `owner/name@commit`, of which the fixtures' `why` bears one.
        fault: what went wrong.
        fixtures: the cases that fail while the fault is there.
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
    """Bytes that a rule book shows, or a fault that it lists, for which no one word is a verdict.

    Attributes:
        id: as in the rule book; a letter before the number tells its sections apart.
        text: what it is.
        bytes: hex of what the rule book spells out; one of the fixtures takes these very bytes, all of them.
        links: as of a `Regression`, where there are any.
        fixtures: the cases that answer it; `<id>~<family>` is a family of derived cases.
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
        path: where it stands.
        document, section: what it answers.
        ids: every id of that section, in its order.
        rows: one for each id, if the file is in order.
    """

    path: Path
    document: str
    section: str
    ids: tuple[str, ...]
    rows: tuple[Row, ...] = Factory(tuple)


KINDS: Final[Mapping[str, type[Row]]] = {"vectors": Vector, "regressions": Regression, "sightings": Sighting}
"""By the name of the file, and of the list in it."""


def tables(root: Path) -> Iterator[Table]:
    """The tables of a folder of fixtures; raises ValueError with the file and what is wrong."""
    for name, kind in KINDS.items():
        for path in sorted(root.glob(f"*/{name}.toml")):
            try:
                yield _table(path, parse_toml(read_limited_text(path, MAX_TOML_SIZE)), name, kind)
            except (KeyError, TypeError, ValueError, cattrs.BaseValidationError) as error:
                raise ValueError(f"{path}: {_said(error)}") from None


def _table(path: Path, page: Mapping[str, Any], name: str, kind: type[Row]) -> Table:
    unknown = set(page) - {"document", "section", "ids", name}
    if unknown:
        raise ValueError(f"holds the unknown {', '.join(sorted(unknown))}")
    rows = tuple(_CONVERTER.structure(row, kind) for row in page[name])
    return Table(path, page["document"], page["section"], expanded(page["ids"]), rows)


def _said(error: Exception) -> str:
    if isinstance(error, cattrs.BaseValidationError):
        return "; ".join(cattrs.transform_error(error, path="row"))
    return f"misses {error}" if isinstance(error, KeyError) else str(error)


def expanded(text: str) -> tuple[str, ...]:
    """`W01-46 S01` as W01 to W46 and S01; a number keeps the width of the first one of its range."""
    return tuple(one for part in text.split() for one in _range(part))


def _range(part: str) -> Iterator[str]:
    found = RANGE.fullmatch(part)
    if found is None:
        raise ValueError(f"{part} is no range of ids")
    letter, first, last = found.groups()
    for number in range(int(first), int(last or first) + 1):
        yield f"{letter}{number:0{len(first)}}"


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True)
    reject: Callable[[object, type], object] = _exactly
    for kind in (str, int):
        converter.register_structure_hook(kind, reject)
    return converter


def _exactly(value: object, kind: type) -> object:
    if type(value) is not kind:
        raise ValueError(f"want {'a text' if kind is str else 'a whole number'}, not {value!r}")
    return value


_CONVERTER: Final = _converter()

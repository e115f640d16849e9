"""The mutants that each golden case kills, read from the `kill.json` that `python -m tests.mutants` writes.

A mutant is a copy of the reference with one planted bug. The mutants and the tool that runs them are in
`tests/mutants/` of a checkout; `docs --kill` shows what the tool found.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from attrs import field, frozen

from wireproof.files import UnreadableError, read_limited_bytes
from wireproof.strict_parsing import STRICT, Reader, parse_json

T = TypeVar("T")

FILE: Final = "kill.json"
LARGEST: Final = 16 * 1024 * 1024
"""Size limit of the file in bytes."""

GOLDEN: Final = "golden"
"""The column of the golden cases."""

Kills = Mapping[str, Sequence[str]]
"""The mutants that a case kills, by the id of the case."""


class KillTableError(ValueError):
    """The file `kill.json` is no kill table; the message names the file and the next step."""


@frozen
class _Cell:
    ids: tuple[str, ...] = ()


@frozen
class _Row:
    cells: Mapping[str, _Cell] = field(factory=dict)


@frozen
class _Table:
    rows: Mapping[str, _Row] = field(factory=dict)


def read_kills(folder: Path) -> Kills:
    """Return the mutants that each golden case kills, by the table in `folder`; none without a table.

    Raises:
        KillTableError: the file is no kill table.
    """
    table = load_table(folder, _Table, Reader(other_fields=True)) or _Table()
    found: dict[str, list[str]] = {}
    for name, row in table.rows.items():
        for case in row.cells[GOLDEN].ids if GOLDEN in row.cells else ():
            found.setdefault(case, []).append(name)
    return found


def load_table(folder: Path, kind: type[T], reader: Reader = STRICT) -> T | None:
    """Return the table in `folder` as an object of class `kind`; None without a file.

    Raises:
        KillTableError: the file is no kill table.
    """
    path = folder / FILE
    try:
        return reader.read(parse_json(read_limited_bytes(path, LARGEST)), kind, "the table")
    except FileNotFoundError:
        return None
    except (ValueError, UnreadableError) as error:
        raise KillTableError(
            f"{path}: no kill table ({error}): move it away, or give another --out"
        ) from None

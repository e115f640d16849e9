"""Derived cases of golden cases; each family is derived once, however many adapters of a run need it.

`Families` derives in this process. `FamilyStore` shares the work between the processes of a run through
files in a folder: the first process that needs a family derives it, and one that would have to wait derives
a later family meanwhile.
"""

import os
import pickle
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Final

import zstandard
from attrs import define, field, fields, frozen

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Case
from wireproof.cases.derived import derived_cases
from wireproof.cases.wrap_as_stream import wrap_case
from wireproof.formats import FORMATS
from wireproof.runner.requests import stream_wrapping

LOOK_AHEAD: Final = 16
"""Families that a process looks ahead for one to derive, while another process derives the one it needs."""

POLL_SECONDS: Final = 0.002
"""Pause between two checks for a family that another process derives."""

CASES_PER_BLOCK: Final = 64
"""Cases of a family that are written and read at a time, so that a large family is never held whole."""

_ROW: Final = attrgetter(*(a.name for a in fields(Case)))
"""Converts a case to a tuple, which is written and read in a third of the time of the object."""

COMPRESSION_LEVEL: Final = 1
"""The compression level of zstd: level 1 already finds the repetitions within a family."""


@frozen
class FamilyRequest:
    """The family of a golden case in the form that one adapter needs.

    Attributes:
        case: the golden case.
        unknown: the revisions that the adapter's stream reader does not know, if the members are to be
            wrapped as streams (`wrap_case.lift`); None leaves them as they are.
    """

    case: Case
    unknown: frozenset[str] | None = None

    @property
    def key(self) -> tuple[str, frozenset[str] | None]:
        """Return a key that is unique within a run."""
        return self.case.id, self.unknown

    def made(self) -> Iterator[Case]:
        """Derive the members."""
        members = derived_cases(self.case)
        if self.unknown is None:
            return members
        return (wrap_case(member, FORMATS[member.format_id], self.unknown) for member in members)


class Families:
    """Derives each family in this process, when it is needed."""

    def of_all(self, cases: Iterable[Case], hello: Hello) -> Iterator[Case]:
        """Yield the members of the families of `cases`, in order, in the form for the adapter of `hello`."""
        return self._members([FamilyRequest(case, stream_wrapping(case, hello)) for case in cases])

    def _members(self, wanted: Sequence[FamilyRequest]) -> Iterator[Case]:
        for one in wanted:
            yield from one.made()


@frozen
class FamilyStore(Families):
    """Shares families between the processes of a run.

    Attributes:
        folder: belongs to the run alone; only its processes may write there, because its files are unpickled.
        by_id: the golden cases, for `helper`.
    """

    folder: Path
    by_id: Mapping[str, Case] = field(factory=dict)

    def _members(self, wanted: Sequence[FamilyRequest]) -> Iterator[Case]:
        """Yield the members, deriving only families that no other process of the run has started."""
        self._announce(wanted)
        for number, one in enumerate(wanted):
            while (members := self._derived(one)) is None and not self._path(one).exists():
                if not any(map(self.derive, islice(wanted, number + 1, number + LOOK_AHEAD))):
                    self._free(one)
                    time.sleep(POLL_SECONDS)
            yield from self._read(one) if members is None else members

    def helper(self) -> "FamilyHelper":
        """Return a helper that derives ahead of the processes that judge."""
        return FamilyHelper(self)

    # --- files ---

    def _announce(self, wanted: Sequence[FamilyRequest]) -> None:
        """Write the list of families that this process will need, in order."""
        self._write(
            self.folder / f"{os.getpid()}-{time.monotonic_ns()}.wanted", [[one.key for one in wanted]]
        )

    def announced(self, file: Path) -> Iterator[FamilyRequest]:
        """Yield the families that a process listed in `file`, in the order in which it needs them."""
        for keys in _blocks(file):
            yield from (
                FamilyRequest(self.by_id[name], unknown) for name, unknown in keys if name in self.by_id
            )

    def derive(self, one: FamilyRequest) -> bool:
        """Derive a family for the process that needs it; return False if that is done or under way."""
        return not self._path(one).exists() and self._derived(one) is not None

    def _path(self, one: FamilyRequest) -> Path:
        name = f"{one.case.id} {None if one.unknown is None else sorted(one.unknown)}"
        return self.folder / blake2b(name.encode(), digest_size=16).hexdigest()

    def _derived(self, one: FamilyRequest) -> list[Case] | None:
        """Derive, write and return the members; return None if another process does so, or has done it."""
        claim = self._path(one).with_suffix(".claim")
        try:
            with claim.open("x") as mine:
                mine.write(str(os.getpid()))
        except FileExistsError:
            return None
        try:
            members = list(one.made())
            rows = [_ROW(member) for member in members]
            self._write(
                self._path(one),
                [rows[at : at + CASES_PER_BLOCK] for at in range(0, len(rows), CASES_PER_BLOCK)],
            )
        except BaseException:
            claim.unlink()
            raise
        return members

    def _free(self, one: FamilyRequest) -> None:
        """Remove the claim of a process that died on a family, so that another process derives it."""
        claim = self._path(one).with_suffix(".claim")
        try:
            os.kill(int(claim.read_text() or os.getpid()), 0)
        except ProcessLookupError:
            claim.unlink(missing_ok=True)
        except (FileNotFoundError, PermissionError):
            return

    def _read(self, one: FamilyRequest) -> Iterator[Case]:
        """Yield the members from the file of a family."""
        for block in _blocks(self._path(one)):
            yield from (Case(*row) for row in block)

    @staticmethod
    def _write(path: Path, blocks: Iterable[object]) -> None:
        new = path.with_suffix(f".{os.getpid()}")
        with (
            new.open("wb") as raw,
            zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).stream_writer(raw) as file,
        ):
            for block in blocks:
                pickle.dump(block, file, protocol=pickle.HIGHEST_PROTOCOL)
        new.replace(path)


@define
class FamilyHelper:
    """Derives families for the other processes of a run, in the order in which each needs them.

    Attributes:
        store: the families.
        lists: the families left in each announcement, by its file.
    """

    store: FamilyStore
    lists: dict[Path, Iterator[FamilyRequest]] = field(factory=dict)

    def step(self) -> bool:
        """Derive one family; return False if none is left for now."""
        for file in sorted(self.store.folder.glob("*.wanted")):
            if any(map(self.store.derive, self.lists.setdefault(file, self.store.announced(file)))):
                return True
        return False


def _blocks(path: Path) -> Iterator[list]:  # type: ignore[type-arg]
    """Yield the blocks that `FamilyStore._write` wrote."""
    with path.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as file:
        try:
            while True:
                yield pickle.load(file)  # noqa: S301 - the folder belongs to this run alone
        except EOFError:
            return

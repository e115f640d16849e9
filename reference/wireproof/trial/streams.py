"""Files of events: written as a run goes, read back, and merged from shards. Design, section 5."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from attrs import evolve, frozen

from wireproof.trial.events import (
    LONGEST,
    NAMES,
    CaseEvent,
    Event,
    EventError,
    Footer,
    Run,
    footer_of,
    from_line,
    line_and_digest,
)


@frozen
class Stream:
    """One run as it was read; without a footer it is incomplete."""

    run: Run
    cases: tuple[CaseEvent, ...]
    footer: Footer | None = None

    @property
    def complete(self) -> bool:
        """Whether it has a footer that says so."""
        return self.footer is not None and self.footer.complete

    @property
    def filtered(self) -> bool:
        """Whether cases were left out by choice."""
        return bool(self.run.filters or self.run.shard)

    @property
    def sampled(self) -> bool:
        """Whether a part of the derived cases was asked, because the adapter says that it is slow."""
        return self.run.hello.get("cost") == "slow"


class Lines(Protocol):
    """Where lines are written: a text file, as far as `EventWriter` needs one."""

    def write(self, text: str, /) -> int:
        """Write text."""

    def flush(self) -> None:
        """Hand on what is held back."""


class EventWriter:
    """Writes one run; a run that dies leaves no footer."""

    def __init__(self, out: Lines, run: Run) -> None:
        """Write the manifest to `out`, a text file that the caller closes."""
        self._out = out
        self._counts: dict[str, int] = {}
        self._previous = ""
        self._line(run)

    def _line(self, event: Event) -> None:
        line, self._previous = line_and_digest(event, self._previous)
        self._out.write(line + "\n")

    def case(self, event: CaseEvent) -> None:
        """Write one case."""
        self._counts[event.verdict] = self._counts.get(event.verdict, 0) + 1
        self._line(event)

    def footer(self, *, complete: bool = True) -> Footer:
        """Write the footer: nothing follows it."""
        footer = Footer(dict(sorted(self._counts.items())), complete, self._previous)
        self._line(footer)
        self._out.flush()
        return footer


def read(path: Path) -> tuple[Stream, ...]:
    """The runs of a file; raises `EventError` with file and line."""
    with path.open(encoding="utf-8", errors="replace") as file:
        lines = iter(partial(file.readline, LONGEST + 2), "")  # a line without end is not read to its end
        return tuple(parse(lines, str(path)))


def parse(lines: Iterable[str], name: str = "stream") -> Iterator[Stream]:
    """The runs of an iterable of lines; a last line without its newline is a run that was cut off."""
    run: Run | None = None
    cases: list[CaseEvent] = []
    for number, line in enumerate(lines, 1):
        event = _event(line, f"{name}:{number}")
        if event is None:
            break
        match event, run:
            case Run(), None:
                run, cases = event, []
            case Run(), Run():
                yield Stream(run, tuple(cases))
                run, cases = event, []
            case _, None:
                raise EventError(f"{name}:{number}: a {NAMES[type(event)]} before any run")
            case CaseEvent(), Run():
                cases.append(event)
            case Footer(), Run():
                yield _ended(run, cases, event, f"{name}:{number}")
                run = None
    if run is not None:
        yield Stream(run, tuple(cases))


def _event(line: str, where: str) -> Event | None:
    """The event, or None for a line that was being written when the run died."""
    try:
        return from_line(line)
    except EventError as error:
        if not line.endswith("\n") and len(line) <= LONGEST:
            return None
        raise EventError(f"{where}: {error}") from None


def _ended(run: Run, cases: list[CaseEvent], footer: Footer, where: str) -> Stream:
    seen = footer_of(cases).counts
    if dict(footer.counts) != dict(seen):
        raise EventError(f"{where}: the footer counts {dict(footer.counts)}, the cases are {dict(seen)}")
    return Stream(run, tuple(cases), footer)


def merge(shards: Iterable[Stream]) -> Stream:
    """The shards of one run as one stream in plan order; raises `EventError` where they do not fit."""
    parts = sorted(shards, key=lambda part: part.run.shard)
    if not parts:
        raise EventError("no shards to merge")
    for one in parts[1:]:
        for name in ("suite", "fixtures", "adapter", "version", "seed", "level", "filters"):
            ours, theirs = getattr(parts[0].run, name), getattr(one.run, name)
            if ours != theirs:
                raise EventError(
                    f"shards {parts[0].run.shard} and {one.run.shard} differ in {name}: {ours} {theirs}"
                )
    cases = sorted((case for part in parts for case in part.cases), key=lambda case: case.seq)
    for earlier, later in pairwise(cases):
        if earlier.seq == later.seq:
            raise EventError(f"{earlier.id} and {later.id} stand at one place of the plan, {later.seq}")
    complete = all(part.complete for part in parts) and _whole(parts)
    return Stream(evolve(parts[0].run, shard=""), tuple(cases), footer_of(cases, complete=complete))


def _whole(parts: list[Stream]) -> bool:
    """Whether shards `1/n` to `n/n` are all there."""
    last = parts[0].run.shard.partition("/")[2]
    return not last or {part.run.shard for part in parts} == {f"{n}/{last}" for n in range(1, int(last) + 1)}

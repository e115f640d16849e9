"""Files of events: written during a run, read back, and merged from shards. See architecture.md#events."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Final, Protocol

from attrs import evolve, frozen

from wireproof.runner.events import (
    EVENT_NAMES,
    MAX_LINE,
    CaseEvent,
    Event,
    EventError,
    Footer,
    Run,
    footer_of,
    from_line,
    to_line,
)
from wireproof.runner.shard import Shard

LONGEST_RUN: Final = timedelta(hours=24)
"""Shards that began further apart are of two runs: a nightly run, for example, that lost one."""

OF_ONE_RUN: Final = (
    "suite", "fixtures", "adapter", "version", "seed", "level", "filters", "requirements"
)  # fmt: skip
"""The fields in which the shards of a run are equal."""


@frozen
class EventStream:
    """One run as it was read; without a footer it is incomplete.

    Attributes:
        lacks: what a run that was joined from shards lacks, as words: `shard 2/3 is missing`.
    """

    run: Run
    cases: tuple[CaseEvent, ...]
    footer: Footer | None = None
    lacks: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Return True if the run has a footer that marks it as complete."""
        return self.footer is not None and self.footer.complete

    @property
    def filtered(self) -> bool:
        """Return True if the user left cases out."""
        return bool(self.run.filters or self.run.shard or self.run.requirements)

    @property
    def sampled(self) -> bool:
        """Return True if only a part of the derived cases ran, because the adapter claims to be slow."""
        return self.run.hello.get("cost") == "slow"


class LineWriter(Protocol):
    """The part of a text file that `EventWriter` needs."""

    def write(self, text: str, /) -> int:
        """Write text."""

    def flush(self) -> None:
        """Write out buffered text."""


class EventWriter:
    """Writes one run; an interrupted run leaves no footer."""

    def __init__(self, out: LineWriter, run: Run) -> None:
        """Write the manifest to `out`, a text file that the caller closes."""
        self._out = out
        self._counts: dict[str, int] = {}
        self._line(run)

    def _line(self, event: Event) -> None:
        self._out.write(to_line(event) + "\n")

    def case(self, event: CaseEvent) -> None:
        """Write one case."""
        self._counts[event.verdict] = self._counts.get(event.verdict, 0) + 1
        self._line(event)

    def footer(self, *, complete: bool = True) -> Footer:
        """Write the footer, the last event."""
        footer = Footer(dict(sorted(self._counts.items())), complete)
        self._line(footer)
        self._out.flush()
        return footer


def read_events(path: Path) -> tuple[EventStream, ...]:
    """Return the runs of a file; raises `EventError` with file and line."""
    with path.open(encoding="utf-8", errors="replace") as file:
        lines = iter(partial(file.readline, MAX_LINE + 2), "")  # an endless line is not read to its end
        return tuple(parse_events(lines, str(path)))


def parse_events(lines: Iterable[str], name: str = "stream") -> Iterator[EventStream]:
    """Yield the runs of lines; a last line without its newline marks an interrupted run."""
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
                yield EventStream(run, tuple(cases))
                run, cases = event, []
            case _, None:
                raise EventError(f"{name}:{number}: a {EVENT_NAMES[type(event)]} before any run")
            case CaseEvent(), Run():
                cases.append(event)
            case Footer(), Run():
                yield _ended(run, cases, event, f"{name}:{number}")
                run = None
    if run is not None:
        yield EventStream(run, tuple(cases))


def _event(line: str, where: str) -> Event | None:
    """Return the event of a line; None for a line that was being written when the run died."""
    try:
        return from_line(line)
    except EventError as error:
        if not line.endswith("\n") and len(line) <= MAX_LINE:
            return None
        raise EventError(f"{where}: {error}") from None


def _ended(run: Run, cases: list[CaseEvent], footer: Footer, where: str) -> EventStream:
    seen = footer_of(cases).counts
    if dict(footer.counts) != dict(seen):
        raise EventError(f"{where}: the footer counts {dict(footer.counts)}, the cases are {dict(seen)}")
    return EventStream(run, tuple(cases), footer)


def joined(streams: Iterable[EventStream]) -> list[EventStream]:
    """Return the streams, the shards of a run merged; raises `EventError`.

    Shards belong together in the order in which they began; a shard that is there again is of another run.
    """
    whole: list[EventStream] = []
    shards: dict[tuple[str, str, int], list[dict[str, EventStream]]] = {}
    for stream in sorted(streams, key=lambda one: one.run.started if one.run.shard else ""):
        run = stream.run
        if not run.shard:
            whole.append(stream)
            continue
        runs = shards.setdefault((run.spec, run.version, _shard(run).count), [{}])
        if run.shard in runs[-1]:
            runs.append({})
        runs[-1][run.shard] = stream
    return [*whole, *(merge_shards(parts.values()) for runs in shards.values() for parts in runs)]


def merge_shards(shards: Iterable[EventStream]) -> EventStream:
    """Merge the shards of a run in plan order; raises `EventError` if they are not of one run."""
    parts = sorted(shards, key=lambda part: _shard(part.run).number)
    if not parts:
        raise EventError("no shards to merge")
    _check_same_run(parts)
    cases = sorted((case for part in parts for case in part.cases), key=lambda case: case.seq)
    for earlier, later in pairwise(cases):
        if earlier.seq == later.seq:
            raise EventError(f"{earlier.id} and {later.id} have the same place in the plan, {later.seq}")
    lacks = tuple(_lacks(parts))
    complete = all(part.complete for part in parts) and not lacks
    return EventStream(
        evolve(parts[0].run, shard=""), tuple(cases), footer_of(cases, complete=complete), lacks
    )


def _check_same_run(parts: Sequence[EventStream]) -> None:
    """Raise `EventError` if the settings of shards differ, or the times at which they began by too much."""
    first = parts[0].run
    for run in (part.run for part in parts[1:]):
        for name in OF_ONE_RUN:
            one, other = getattr(first, name), getattr(run, name)
            if one != other:
                raise EventError(f"shards {first.shard} and {run.shard} differ in {name}: {one} {other}")
    early, *_, late = sorted((part.run for part in parts), key=attrgetter("started")) * 2
    begins = [time for run in (early, late) if (time := _begin(run)) is not None]
    if len(begins) > 1 and begins[1] - begins[0] > LONGEST_RUN:
        raise EventError(
            f"shard {early.shard} of {early.adapter} began at {early.started}, shard {late.shard} at "
            f"{late.started}: these are of two runs, and shards of each are missing"
        )


def _begin(run: Run) -> datetime | None:
    """Return when a run began; None if it does not say."""
    try:
        time = datetime.fromisoformat(run.started)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _shard(run: Run) -> Shard:
    """Return the shard that a run is; a whole run is the only shard. Raises `EventError`."""
    try:
        return Shard.of(run.shard or "1/1")
    except ValueError as error:
        raise EventError(str(error)) from None


def _lacks(parts: Iterable[EventStream]) -> Iterator[str]:
    """Yield a few words for each shard that is not there or has no end."""
    found = {_shard(part.run): part for part in parts}
    count = next(iter(found)).count
    for shard in (Shard(number, count) for number in range(1, count + 1)):
        if shard not in found:
            yield f"shard {shard} is missing"
        elif found[shard].footer is None:
            yield f"shard {shard} was broken off"

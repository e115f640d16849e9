"""Files of events: written during a run, read back, and merged from shards. See architecture.md#events."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Protocol

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
    line_and_digest,
)


@frozen
class EventStream:
    """One run as it was read; without a footer it is incomplete."""

    run: Run
    cases: tuple[CaseEvent, ...]
    footer: Footer | None = None

    @property
    def complete(self) -> bool:
        """Return True if the run has a footer that marks it as complete."""
        return self.footer is not None and self.footer.complete

    @property
    def filtered(self) -> bool:
        """Return True if the user left cases out."""
        return bool(self.run.filters or self.run.shard)

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
        """Write the footer, the last event."""
        footer = Footer(dict(sorted(self._counts.items())), complete, self._previous)
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
    """Return the streams, the shards of a run merged; a shard that is there again is of another run."""
    whole: list[EventStream] = []
    shards: dict[tuple[str, str], list[dict[str, EventStream]]] = {}
    for stream in streams:
        run = stream.run
        if not run.shard:
            whole.append(stream)
            continue
        runs = shards.setdefault((run.spec, run.version), [{}])
        if run.shard in runs[-1]:
            runs.append({})
        runs[-1][run.shard] = stream
    return [*whole, *(merge_shards(parts.values()) for runs in shards.values() for parts in runs)]


def merge_shards(shards: Iterable[EventStream]) -> EventStream:
    """Merge the shards of shard run in plan order; raises `EventError` if they do not match."""
    parts = sorted(shards, key=lambda part: part.run.shard)
    if not parts:
        raise EventError("no shards to merge")
    for shard in parts[1:]:
        for name in ("suite", "fixtures", "adapter", "version", "seed", "level", "filters"):
            first, other = getattr(parts[0].run, name), getattr(shard.run, name)
            if first != other:
                raise EventError(
                    f"shards {parts[0].run.shard} and {shard.run.shard} differ in {name}: {first} {other}"
                )
    cases = sorted((case for part in parts for case in part.cases), key=lambda case: case.seq)
    for earlier, later in pairwise(cases):
        if earlier.seq == later.seq:
            raise EventError(f"{earlier.id} and {later.id} have the same place in the plan, {later.seq}")
    complete = all(part.complete for part in parts) and _whole(parts)
    return EventStream(evolve(parts[0].run, shard=""), tuple(cases), footer_of(cases, complete=complete))


def _whole(parts: list[EventStream]) -> bool:
    """Return whether shards `1/n` to `n/n` are all present."""
    last = parts[0].run.shard.partition("/")[2]
    return not last or {part.run.shard for part in parts} == {f"{n}/{last}" for n in range(1, int(last) + 1)}

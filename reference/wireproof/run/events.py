"""The events of a run: the one stream of JSON lines that a run writes. See architecture.md#events.

`run` opens a run of one adapter, `baseline` has the text of its known failures, if there are any, a `case`
follows as soon as a case is judged, a `footer` ends it. A run without a footer is incomplete.
"""

import json
import platform
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Protocol, Self, TypeAlias, TypeVar

import msgspec
from attrs import evolve, field, frozen

from wireproof import __version__
from wireproof.adapters.contract import Hello
from wireproof.cases.case import PROPERTY, Case, Level, Op
from wireproof.cases.observable_fields import not_compared
from wireproof.formats import FORMATS
from wireproof.judge.signature import Signature, signature_parts, without_indices
from wireproof.judge.verdicts import Verdict, VerdictName, gates
from wireproof.strict_parsing import JSON_NAME, FieldError, structure, to_tree
from wireproof.wire.rejection import Position

SCHEMA: Final = 1

EXAMPLE_OPS: Final = ("decode", "encode", "scan", "read-back")
"""The last part of the topic: the op, or `read-back` of the bytes that the adapter itself wrote."""

MAX_LINE: Final = 1024 * 1024
"""Maximum characters of a line; a token longer than 2 KiB is a file, so a valid line is far shorter."""

T = TypeVar("T")


class EventError(ValueError):
    """A stream cannot be read; the message names file, line and fault."""


@frozen
class Shard:
    """The shard `number` of `count`, from 1 on: every N-th case, for machines that share the work."""

    number: int
    count: int

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the shard of a text such as `2/5`; raises `ValueError`."""
        found = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text)
        number, count = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= count <= 1000:
            raise ValueError(f"{text!r} is no shard: write 2/5 for the second of five")
        return cls(number, count)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def part(self, plan: Sequence[T]) -> Sequence[T]:
        return plan[self.number - 1 :: self.count]

    def place(self, seq: int) -> int:
        """Return the place in the whole plan of item `seq` of `part`.

        Items after the plan, such as the cases derived from it, get places that no other shard has.
        """
        return seq * self.count + self.number - 1


@frozen
class Requirements:
    """The set that a run was judged against, and the ids of it whose expectation was corrected since then."""

    id: str
    title: str
    corrected: tuple[str, ...] = ()


@frozen
class Examples:
    """The generated examples of a run: results.md#event-stream."""

    count: int
    seed: int
    hypothesis: str
    by_default: bool = False


@frozen
class Run:
    """The manifest of one run: results.md#event-stream explains its fields.

    `started` is ISO 8601 in UTC; with `ns` of the cases, it is all that differs between two runs of one seed.
    """

    suite: str
    fixtures: str
    spec: str
    adapter: str
    version: str = ""
    hello: Mapping[str, Any] = field(factory=dict)
    seed: int = 0
    platform: str = ""
    python: str = ""
    level: Level = "must"
    filters: tuple[str, ...] = ()
    shard: str = ""
    not_compared: Mapping[str, tuple[str, ...]] = field(factory=dict)
    started: str = ""
    requirements: Requirements | None = None
    examples: Examples | None = None
    left_out: Mapping[str, Level] = field(factory=dict)
    schema: int = SCHEMA


@frozen
class CaseEvent:
    """The verdict on one case: results.md#event-stream explains its fields."""

    seq: int
    id: str
    format: str
    revision: str
    op: Op
    level: Level
    verdict: VerdictName
    kind: str = ""
    cls: str = field(default="", metadata={JSON_NAME: "class"})
    path: str = ""
    at: Position | None = None
    text: str = ""
    want: str = ""
    got: str = ""
    ns: int = 0
    token: str = ""
    title: str = ""
    rules: tuple[str, ...] = ()
    twin: str = ""
    flags: tuple[str, ...] = ()
    profile: str = "reader"
    fields: tuple[str, ...] = ()
    detail: str = ""
    broken: str = ""

    @property
    def deciding_rules(self) -> tuple[str, ...]:
        return (self.broken,) if self.broken else self.rules

    @property
    def label(self) -> str:
        return f"{self.verdict}:{self.kind}" if self.kind else self.verdict

    @property
    def is_security(self) -> bool:
        return "security" in self.flags

    @property
    def format_id(self) -> str:
        return f"{self.format}/{self.revision}"

    @property
    def is_property(self) -> bool:
        """Return True for a generated example, whose id depends on the seed."""
        return self.suite.endswith(f"/{PROPERTY}")

    @property
    def suite(self) -> str:
        """Return format, revision and topic, by which reports group cases."""
        return "/".join(self.id.split("~", 1)[0].split("/")[:3])

    def signature(self, implementation: str) -> Signature:
        rest = signature_parts(self.label, self.cls, self.path, self.broken)
        return Signature(implementation, self.format_id, self.op, *rest)

    @property
    def signature_path(self) -> str:
        """Return the rule that the answer breaks, or the field without its indices."""
        return self.broken or without_indices(self.path)


@frozen
class BaselineText:
    """The file of known failures that a run was judged with; a long one is several events, to be joined."""

    file: str
    text: str


BASELINE_CHARACTERS: Final = 128 * 1024
"""Characters of a baseline in one event; JSON may need six for each, which stays below `MAX_LINE`."""


@frozen
class Footer:
    """The end of a run: results.md#event-stream."""

    counts: Mapping[str, int]
    complete: bool = True
    error: str = ""


Event: TypeAlias = Run | BaselineText | CaseEvent | Footer


def case_event(seq: int, case: Case, verdict: Verdict, ns: int = 0, token: str = "") -> CaseEvent:
    return CaseEvent(
        seq, case.id, case.format, case.revision, case.op, verdict.level or case.level,
        verdict.name, verdict.kind, verdict.cls, verdict.path, verdict.at, verdict.text,
        verdict.want, verdict.got, ns, token, case.title, case.rules, case.twin or "", case.flags,
        case.profile, verdict.fields, verdict.detail, verdict.broken,
    )  # fmt: skip


def run_event(hello: Hello, **fields: Any) -> Run:  # noqa: ANN401 - the other fields of `Run`, by name
    """Return the manifest of a run of the adapter with the hello `hello`."""
    tree = to_tree(hello, without_defaults=True)
    hidden = {
        format_id: left_out
        for format_id, claim in hello.revisions.items()
        if format_id in FORMATS and (left_out := not_compared(FORMATS[format_id], claim.observes))
    }
    return Run(adapter=hello.name, version=hello.version, hello=tree, not_compared=hidden, **fields)


def fails_run(event: CaseEvent, run: Run) -> bool:
    """Return whether the verdict on a case makes the adapter not conform, by the settings of the run."""
    return gates(event.verdict, event.level, hold=run.level, security=event.is_security)


def footer_of(cases: Iterable[CaseEvent], *, complete: bool = True) -> Footer:
    return Footer(_counts(case.verdict for case in cases), complete)


def _counts(verdicts: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(verdicts).items()))


# --- lines ---

_KINDS: Final[dict[str, type]] = {"run": Run, "baseline": BaselineText, "case": CaseEvent, "footer": Footer}
EVENT_NAMES: Final = {kind: name for name, kind in _KINDS.items()}
"""The value of `event` for each class."""


def to_line(event: Event) -> str:
    """Return an event as one line, without its newline; fields that have their default are left out."""
    row = {"event": EVENT_NAMES[type(event)], **to_tree(event, without_defaults=True)}
    if isinstance(event, CaseEvent):
        # A run has thousands of these. msgspec writes printable ASCII as `json` does, several times as fast.
        try:
            line = msgspec.json.encode(row)
        except UnicodeEncodeError:  # a lone surrogate
            return _LINE(row)
        if line.isascii() and b"\x7f" not in line:
            return line.decode()
    return _LINE(row)


_LINE: Final = json.JSONEncoder(separators=(",", ":")).encode


def from_line(line: str) -> Event:
    """Return the event of a line; raises `EventError` with a message of one line."""
    if len(line) > MAX_LINE:
        raise EventError(f"a line of {len(line)} characters, at most {MAX_LINE} are read")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise EventError(f"is no JSON: {error}") from None
    name = row.pop("event", None) if isinstance(row, dict) else None
    if not isinstance(name, str) or name not in _KINDS:
        raise EventError(f'"event" must be one of {", ".join(_KINDS)}, not {name!r}')
    try:
        event: Event = structure(row, _KINDS[name], f"the event {name}")
    except FieldError as error:
        raise EventError(str(error)) from None
    return event


# --- event files ---

OF_ONE_RUN: Final = (
    "suite", "fixtures", "adapter", "version", "seed", "level", "filters", "requirements"
)  # fmt: skip
"""The fields in which the shards of a run are equal."""


@frozen
class EventStream:
    """One run as it was read; without a footer it is incomplete.

    `lacks` says why a run is not whole: `shard 2/3 is missing`, or the error that ended it.
    """

    run: Run
    cases: tuple[CaseEvent, ...]
    footer: Footer | None = None
    lacks: tuple[str, ...] = ()
    baseline: BaselineText | None = None

    @property
    def complete(self) -> bool:
        return self.footer is not None and self.footer.complete

    @property
    def filtered(self) -> bool:
        return bool(self.run.filters or self.run.shard or self.run.requirements)

    @property
    def sampled(self) -> bool:
        """Return True if only a part of the derived cases ran, because the adapter claims to be slow."""
        return self.run.hello.get("cost") == "slow"


class LineWriter(Protocol):
    """What events are written to: a text file, or one whose disk may be full."""

    def write(self, text: str, /) -> int: ...

    def flush(self) -> None: ...


class EventWriter:
    """Writes one run; an interrupted run leaves no footer."""

    def __init__(self, out: LineWriter, run: Run, baseline: BaselineText | None = None) -> None:
        """Write the manifest and the baseline to `out`, a text file that the caller closes."""
        self._out = out
        self._verdicts: dict[tuple[int, str], str] = {}
        self._line(run)
        if baseline:
            for start in range(0, len(baseline.text) or 1, BASELINE_CHARACTERS):
                self._line(evolve(baseline, text=baseline.text[start : start + BASELINE_CHARACTERS]))

    def _line(self, event: Event) -> None:
        self._out.write(to_line(event) + "\n")

    def case(self, event: CaseEvent) -> None:
        """Write the event of a case; it counts instead of an earlier one of the same case."""
        self._verdicts[event.seq, event.id] = event.verdict
        self._line(event)

    def footer(self, *, complete: bool = True, error: str = "") -> Footer:
        footer = Footer(_counts(self._verdicts.values()), complete, error)
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
    known: BaselineText | None = None

    def stream(footer: Footer | None = None) -> EventStream:
        assert run is not None, "every other event comes behind a run"
        lacks = (footer.error,) if footer is not None and footer.error else ()
        return EventStream(run, _in_order(cases), footer, lacks, known)

    for where, event in _events(lines, name):
        if run is None and not isinstance(event, Run):
            raise EventError(f"{where}: a {EVENT_NAMES[type(event)]} before any run")
        match event:
            case Run():
                if run is not None:
                    yield stream()
                run, cases, known = event, [], None
            case BaselineText():
                known = evolve(event, text=(known.text if known else "") + event.text)
            case CaseEvent():
                cases.append(event)
            case Footer():
                _check_counts(event, cases, where)
                yield stream(event)
                run = None
    if run is not None:
        yield stream()


def _events(lines: Iterable[str], name: str) -> Iterator[tuple[str, Event]]:
    """Yield the event of each line with its place, but for one that was being written when the run died."""
    for number, line in enumerate(lines, 1):
        try:
            yield f"{name}:{number}", from_line(line)
        except EventError as error:
            if not line.endswith("\n") and len(line) <= MAX_LINE:
                return
            raise EventError(f"{name}:{number}: {error}") from None


def _check_counts(footer: Footer, cases: Iterable[CaseEvent], where: str) -> None:
    said, seen = dict(footer.counts), footer_of(_in_order(cases)).counts
    if said != seen:
        raise EventError(f"{where}: the footer counts {said}, the cases are {seen}")


def _in_order(cases: Iterable[CaseEvent]) -> tuple[CaseEvent, ...]:
    """Return events in the order of the plan; of two events of one case the later one counts."""
    last = {(event.seq, event.id): event for event in cases}
    return tuple(sorted(last.values(), key=attrgetter("seq")))


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
    first = parts[0].run
    for part in parts[1:]:
        if part.baseline != parts[0].baseline:
            raise EventError(f"shards {first.shard} and {part.run.shard} had different baselines")
    for run in (part.run for part in parts[1:]):
        for name in OF_ONE_RUN:
            one, other = getattr(first, name), getattr(run, name)
            if one != other:
                raise EventError(f"shards {first.shard} and {run.shard} differ in {name}: {one} {other}")
    early, *_, late = sorted((part.run for part in parts), key=attrgetter("started")) * 2
    begins = [time for run in (early, late) if (time := _begin(run)) is not None]
    if len(begins) > 1 and begins[1] - begins[0] > timedelta(hours=24):
        raise EventError(
            f"shard {early.shard} of {early.adapter} began at {early.started}, shard {late.shard} at "
            f"{late.started}: these are of two runs, and shards of each are missing"
        )
    cases = sorted((case for part in parts for case in part.cases), key=lambda case: case.seq)
    for earlier, later in pairwise(cases):
        if earlier.seq == later.seq:
            raise EventError(f"{earlier.id} and {later.id} have the same place in the plan, {later.seq}")
    lacks = tuple(_lacks(parts))
    complete = all(part.complete for part in parts) and not lacks
    return EventStream(
        evolve(parts[0].run, shard=""), tuple(cases), footer_of(cases, complete=complete), lacks,
        parts[0].baseline,
    )  # fmt: skip


def _begin(run: Run) -> datetime | None:
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
        else:
            yield from (f"shard {shard}: {error}" for error in found[shard].lacks)


def manifest_fields() -> dict[str, str]:
    """Return the fields of a manifest that describe the machine and the time."""
    return {
        "suite": __version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "started": datetime.now(tz=UTC).isoformat(timespec="seconds"),
    }

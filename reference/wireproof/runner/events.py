"""The events of a run: the one stream of JSON lines that a run writes. See architecture.md#events.

`run` opens a run of one adapter, a `case` follows for each case in plan order, a `footer` ends it. A
run without a footer is incomplete. `event_files` writes, reads and merges whole files.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from attrs import field, frozen

from wireproof.adapters.contract import Hello
from wireproof.cases.case import PROPERTY, Case, Level, Op
from wireproof.cases.observable_fields import not_compared
from wireproof.formats import FORMATS
from wireproof.runner.signature import Signature, signature_parts, without_indices
from wireproof.runner.verdicts import Verdict, VerdictName, gates
from wireproof.strict_parsing import JSON_NAME, FieldError, structure, to_tree
from wireproof.wire.rejection import Position

SCHEMA: Final = 1

EXAMPLE_OPS: Final = ("decode", "encode", "scan", "read-back")
"""The last part of the topic: the op, or `read-back` of the bytes that the adapter itself wrote."""

RETIRED_FIELDS: Final = ("cluster", "previous", "strict_class")
"""Fields that runs of earlier versions have. Nothing reads them, and those runs can still be read."""

MAX_LINE: Final = 1024 * 1024
"""Maximum characters of a line; a token longer than 2 KiB is a file, so a valid line is far shorter."""


class EventError(ValueError):
    """A stream cannot be read; the message names file, line and fault."""


@frozen
class Requirements:
    """The requirement set that a run was judged against.

    Attributes:
        id: `2026.12:kafka-consumer-2`.
        title: `Kafka consumer 2 (2026.12)`.
        corrected: ids of the set whose expectation was corrected since then.
    """

    id: str
    title: str
    corrected: tuple[str, ...] = ()


@frozen
class Examples:
    """The generated examples of a run.

    Attributes:
        count: of each format and op that the adapter claims.
        seed: of all of them.
        hypothesis: the version of Hypothesis, which decides with the seed what is drawn.
        by_default: whether the run has them because nobody gave another number.
    """

    count: int
    seed: int
    hypothesis: str
    by_default: bool = False


@frozen
class Run:
    """The manifest of one run.

    Attributes:
        suite: the version of wireproof.
        fixtures: the hash of the fixture files of the formats of its cases.
        spec: the adapter as the user named it: a name, `py:…`, `exec:…`.
        adapter, version: from its hello.
        hello: the rest of its hello, in the JSON of the contract.
        seed: of the shuffled ids and the samples.
        platform, python: where it ran.
        level: the lowest level that can fail the run.
        filters: the patterns of a selection; empty for the whole plan.
        shard: `2/8`, or empty.
        not_compared: by format and revision, the patterns of the fields that the adapter does not show.
        started: ISO 8601 in UTC; with `ns`, all that differs between two runs of one seed.
        requirements: the requirement set; None for a run on its own choice of cases.
        examples: the generated examples; None for a run without any.
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
    schema: int = SCHEMA


@frozen
class CaseEvent:
    """The verdict on one case.

    Attributes:
        seq: its place in the plan, independent of the shard.
        level: of the case; of the rule in `broken`, if there is one.
        verdict, kind, cls, path, at, text, want, got, fields, detail: the verdict.
        ns: nanoseconds from request to answer.
        token: replays the case; empty if the id is enough.
        title, rules, twin, flags: of the case, for a reader that has only the stream.
        profile: of the case: `reader` (a consumer) or `produce` (a broker that checks a producer's bytes).
        broken: the rule that the answer breaks, where that is not what the case is about.
    """

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
        """Return the rules that the verdict is about."""
        return (self.broken,) if self.broken else self.rules

    @property
    def label(self) -> str:
        """Return `fail:wrong-value`, or the bare name."""
        return f"{self.verdict}:{self.kind}" if self.kind else self.verdict

    @property
    def is_security(self) -> bool:
        """Return True if its case is about security: an attacker can exploit a codec that fails it."""
        return "security" in self.flags

    @property
    def format_id(self) -> str:
        """Return `kafka.batch/v2`."""
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
        """Return the signature that groups findings."""
        rest = signature_parts(self.label, self.cls, self.path, self.broken)
        return Signature(implementation, self.format_id, self.op, *rest)

    @property
    def signature_path(self) -> str:
        """Return the rule that the answer breaks, or the field without its indices."""
        return self.broken or without_indices(self.path)


@frozen
class Footer:
    """The end of a run: the number of cases by verdict name, and whether all planned cases are there."""

    counts: Mapping[str, int]
    complete: bool = True


Event: TypeAlias = Run | CaseEvent | Footer


def case_event(seq: int, case: Case, verdict: Verdict, ns: int = 0, token: str = "") -> CaseEvent:
    """Return the event of one judged case."""
    return CaseEvent(
        seq,
        case.id,
        case.format,
        case.revision,
        case.op,
        verdict.level or case.level,
        verdict.name,
        verdict.kind,
        verdict.cls,
        verdict.path,
        verdict.at,
        verdict.text,
        verdict.want,
        verdict.got,
        ns,
        token,
        case.title,
        case.rules,
        case.twin or "",
        case.flags,
        case.profile,
        fields=verdict.fields,
        detail=verdict.detail,
        broken=verdict.broken,
    )


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
    """Return the footer that counts `cases`."""
    counts: dict[str, int] = {}
    for case in cases:
        counts[case.verdict] = counts.get(case.verdict, 0) + 1
    return Footer(dict(sorted(counts.items())), complete)


# --- lines ---

_KINDS: Final[dict[str, type]] = {"run": Run, "case": CaseEvent, "footer": Footer}
EVENT_NAMES: Final = {kind: name for name, kind in _KINDS.items()}
"""The value of `event` for each class."""


def to_line(event: Event) -> str:
    """Return an event as one line, without its newline; fields that have their default are left out."""
    return _LINE({"event": EVENT_NAMES[type(event)], **to_tree(event, without_defaults=True)})


_LINE: Final = json.JSONEncoder(separators=(",", ":"), default=list).encode


def from_line(line: str) -> Event:
    """Return the event of a line; raises `EventError` with a message of one line."""
    if len(line) > MAX_LINE:
        raise EventError(f"a line of {len(line)} characters, at most {MAX_LINE} are read")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise EventError(f"is no JSON: {error}") from None
    name = row.pop("event", None) if isinstance(row, dict) else None
    for retired in RETIRED_FIELDS if isinstance(row, dict) else ():
        row.pop(retired, None)
    if not isinstance(name, str) or name not in _KINDS:
        raise EventError(f'"event" must be one of {", ".join(_KINDS)}, not {name!r}')
    try:
        event: Event = structure(row, _KINDS[name], f"the event {name}")
    except FieldError as error:
        raise EventError(str(error)) from None
    return event

"""The table of verdicts, the judge's conclusions on one case. See architecture.md#verdicts."""

from typing import Final, Literal, get_args

from attrs import field, frozen

from wireproof.cases.case import Level
from wireproof.cases.outcome import Cause
from wireproof.wire.rejection import Position

VerdictName = Literal[
    "pass",
    "pass-unclassified",
    "undocumented",
    "lenient",
    "info",
    "fail",
    "crash",
    "timeout",
    "resource",
    "stalled",
    "unsupported",
    "blocked",
    "adapter-error",
    "suite-bug",
    "not-run",
]

Gate = Literal["level", "runaway", "should", "adapter", "suite", "cause", "never"]
"""The condition under which a verdict sets the exit code of a run.

`level`: for cases at a level that the run checks. `should`: likewise, but only in a run at level `should`.
`runaway`: for `must` and `should` cases in every run: a level says how sure an answer is, and this is none.
`adapter`, `suite`: always, with exit codes 4 and 5.
`cause`: depends on the reason why a case was left out, see `conclusion`.
"""

NO_FINDING_GATES: Final = frozenset({"cause", "never"})
"""The gates of verdicts that are no finding about a codec."""


@frozen
class VerdictRow:
    """One verdict: its name, its allowed kinds (`*`: any), its gate, and its meaning."""

    name: VerdictName
    kinds: tuple[str, ...]
    gate: Gate
    meaning: str


FLAKY: Final = "flaky"
"""The kind of a failure that passes when it is asked again."""

FAIL_KINDS: Final = (
    "wrong-value",
    "wrong-accept",
    "wrong-reject",
    "wrong-reason",
    "wrong-bytes",
    "not-round-trip",
    "over-read",
    "under-read",
    "prefix-lost",
    "undeclared-skip",
    FLAKY,
)

TABLE: Final[tuple[VerdictRow, ...]] = (
    VerdictRow("pass", ("canonical", "alternate", "semantic"), "never", "right"),
    VerdictRow("pass-unclassified", (), "never", "refused as it should be, without the expected class"),
    VerdictRow("undocumented", (), "should", "refused as it should be, with an undocumented error"),
    VerdictRow("lenient", (), "should", "accepted, but a should or may case expects a refusal"),
    VerdictRow("info", ("*",), "never", "one of the answers that the format leaves open"),
    VerdictRow("fail", FAIL_KINDS, "level", "wrong"),
    VerdictRow(
        "crash",
        (),
        "runaway",
        "its process died, or its driver caught a panic that would have ended another caller",
    ),
    VerdictRow("timeout", (), "runaway", "no answer in time"),
    VerdictRow("resource", ("memory", "output"), "runaway", "over a limit of memory or output"),
    VerdictRow("stalled", (), "runaway", "returned neither a result nor an error"),
    VerdictRow("unsupported", (), "never", "outside its claims; counted separately"),
    VerdictRow("blocked", ("*",), "level", "refused, as it refuses the accepted twin that the kind names"),
    VerdictRow("adapter-error", (), "adapter", "the adapter broke its contract"),
    VerdictRow("suite-bug", (), "suite", "the reference disagrees with the fixture"),
    VerdictRow("not-run", get_args(Cause), "cause", "was not run; the run is incomplete"),
)

ROWS: Final[dict[str, VerdictRow]] = {row.name: row for row in TABLE}

CAUSED_BY_CODEC: Final = frozenset({"same-as", "spent"})
"""The kinds of `not-run` that the codec itself caused by dying or not answering."""

PASSING: Final = frozenset({"pass", "pass-unclassified", "undocumented", "lenient", "info"})
"""The verdicts of an acceptable answer."""

_LEVELS: Final[dict[Level, tuple[Level, ...]]] = {"must": ("must",), "should": ("must", "should")}
"""The levels that a run checks, by its `--level`; `may` and `info` never gate."""


@frozen
class Verdict:
    """The conclusion of the judge on one case.

    Attributes:
        name: the name of a row of `TABLE`.
        kind: the sub-label: the kind of a failure, the open behaviour, the twin that blocks.
        cls: the reject class involved.
        path: the field involved, with indices.
        at: the position of that field in the input.
        text: one line for a person.
        want, got: the expectation and the answer, short.
        fields: all fields that have another value, without indices; of golden cases only.
        detail: the library's own name of a refusal of a golden case, such as the error code of a broker.
        broken: the rule that the answer breaks, if it is not the subject of the case.
        level: that of `broken`, which then decides in place of the level of the case.
        shape: how a value differs from the expected one, whatever the values are, see `shape_of`.
    """

    name: VerdictName
    kind: str = ""
    cls: str = ""
    path: str = ""
    at: Position | None = None
    text: str = ""
    want: str = ""
    got: str = ""
    fields: tuple[str, ...] = field(default=(), eq=False)
    detail: str = field(default="", eq=False)
    broken: str = ""
    level: Level | None = None
    shape: str = field(default="", eq=False)
    row: VerdictRow = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        """Look up the row; raise `ValueError` for a kind that the row does not have."""
        object.__setattr__(self, "row", ROWS[self.name])
        if self.kind and "*" not in self.row.kinds and self.kind not in self.row.kinds:
            raise ValueError(f"verdict {self.name} has no kind {self.kind}")

    @property
    def label(self) -> str:
        """Return `fail:wrong-value`, `info:<class>`, or the bare name."""
        return f"{self.name}:{self.kind}" if self.kind else self.name

    @property
    def passing(self) -> bool:
        return self.name in PASSING

    @property
    def accepts(self) -> bool:
        """Return True if this verdict on a twin proves that the codec accepts it, and not by a rejection.

        A codec may reject where the format is open, but then its rejection of the neighbour shows nothing. An
        `info` has a class only if the adapter rejected.
        """
        return self.passing and self.name != "undocumented" and not (self.name == "info" and self.cls)


def gates(name: str, level: Level, *, hold: Level = "must", security: bool = False) -> bool:
    """Return whether a verdict on a case of `level` makes the adapter not conform (exit code 1).

    A case with the flag `security` fails a run at `should` as at `must`, and so does a codec that runs away.
    """
    gate = ROWS[name].gate
    if level == "should" and (security or gate == "runaway"):
        level = "must"
    if level not in _LEVELS.get(hold, _LEVELS["must"]):
        return False
    return gate in ("level", "runaway") or gate == hold == "should"

"""What lies before the judge: the case, who is judged, and the reference's answer once it is wanted."""

from collections.abc import Callable

from attrs import evolve

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Case
from wireproof.trial.claims import EXACT, observed
from wireproof.trial.compare import scan_tree, steps
from wireproof.trial.reference import Answer
from wireproof.wire.observe import Wanted, project
from wireproof.wire.rejected import Remark
from wireproof.wire.values import Json, digest


class Bench:
    """One sitting of the judge; asks the reference at most once, and only if a rule needs it."""

    __slots__ = ("_answer", "_digested", "case", "hello", "reference", "wanted")

    def __init__(
        self,
        case: Case,
        hello: Hello,
        reference: Callable[[Case], Answer] | None,
        known: Answer | None = None,
    ) -> None:
        """Lay out the case; `known` is the reference's answer if it has been asked before."""
        self.case = case
        self.hello = hello
        self.reference = reference
        self._answer = known
        self._digested: tuple[Json, str] | None = None
        tree = observed(hello, case)
        self.wanted: Wanted = scan_tree(tree) if case.op == "scan" else tree

    @property
    def exact(self) -> bool:
        """Whether the adapter's classes are judged."""
        return self.hello.errors == "exact"

    @property
    def ours(self) -> bool:
        """Whether positions and remarks are judged as well."""
        return self.hello.name in EXACT

    @property
    def golden(self) -> bool:
        """Whether somebody wrote the expectation; elsewhere any refusal agrees with any refusal."""
        return self.case.family is None and self.case.source.origin not in ("fuzz", "derived", "corpus")

    def answer(self) -> Answer:
        """The reference's answer to the case; may raise whatever a broken reference raises."""
        if self._answer is None:
            assert self.reference is not None
            self._answer = self.reference(self.case)
        return self._answer

    def remarks(self) -> tuple[Remark, ...]:
        """The open places of the case, by the reference; none where the reference cannot tell."""
        if self.reference is None:
            return ()
        try:
            return tuple(self._as_seen(remark) for remark in self.answer().remarks)
        except Exception:  # noqa: BLE001 - the failure that follows is turned into `suite-bug` by the judge
            return ()

    def _as_seen(self, remark: Remark) -> Remark:
        """The remark with its other values cut to the fields that the adapter shows."""
        others = (
            evolve(other, value=project(other.value, self._below(other.path))) for other in remark.others
        )
        return evolve(remark, others=tuple(others)) if remark.others else remark

    def _below(self, path: str) -> Wanted:
        """What is wanted of the part of a value that lies at `path`."""
        tree = self.wanted
        for step in steps(path):
            tree = tree.get("[]" if isinstance(step, int) else step, {})
        return tree

    def seen(self, value: Json) -> Json:
        """The part of a value that the adapter shows."""
        return project(value, self.wanted)

    def digest(self, value: Json) -> str:
        """The digest of that part; the last one is kept, as one value is asked about twice."""
        if self._digested is None or self._digested[0] is not value:
            self._digested = value, digest(self.seen(value))
        return self._digested[1]

"""Judge context: the case, the adapter's claims, and the reference's answer, computed when needed."""

from collections.abc import Callable

from attrs import evolve

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Accept, Case, Generated, Steps
from wireproof.cases.made_case import made_case
from wireproof.cases.observable_fields import EVERY_FIELD
from wireproof.cases.reference_answers import ReferenceAnswer
from wireproof.runner.claims import OWN_DECODERS, claim_of, observed_fields
from wireproof.runner.value_diff import scan_patterns, split_path
from wireproof.wire.json_values import Json, json_digest
from wireproof.wire.observed_fields import FieldTree, project
from wireproof.wire.rejection import Remark


class JudgeContext:
    """The context of one judgement; it runs the reference at most once, and only if a rule needs it."""

    __slots__ = ("_answer", "_digested", "case", "hello", "reference", "wanted")

    def __init__(
        self,
        case: Case,
        hello: Hello,
        reference: Callable[[Case], ReferenceAnswer] | None,
        known: ReferenceAnswer | None = None,
    ) -> None:
        """Store the case; `known` is the answer of the reference if it was computed before."""
        self.case = case
        self.hello = hello
        self.reference = None if isinstance(case.input, Steps) else reference  # it keeps no state
        self._answer = known
        self._digested: tuple[Json, str] | None = None
        self.wanted: FieldTree = _wanted(case, observed_fields(hello, case))

    @property
    def shows_whole_values(self) -> bool:
        """Return True if the adapter shows all fields; derived ones do not count."""
        claim = claim_of(self.hello, self.case)
        return claim is None or claim.observes in ((), (EVERY_FIELD,))

    @property
    def exact(self) -> bool:
        """Return True if the adapter's reject classes are judged."""
        return self.hello.errors == "exact"

    @property
    def ours(self) -> bool:
        """Return True if the adapter is part of this package: positions and remarks are judged too."""
        return self.hello.name in OWN_DECODERS

    @property
    def golden(self) -> bool:
        """Return True if a person wrote the expectation; in other cases any two rejections agree."""
        return self.case.golden

    @property
    def is_whole(self) -> bool:
        """Return False for a generated case in a stream: its digest is that of the entry."""
        return not (isinstance(self.case.input, Generated) and self.case.input.list_name)

    def expected(self, expect: Accept) -> Json:
        """Return the expected value; of a generated case, make it."""
        if not isinstance(self.case.input, Generated):
            return expect.value
        made = made_case(self.case).expect
        return made.value if isinstance(made, Accept) else None

    def answer(self) -> ReferenceAnswer:
        """Return the answer of the reference; a broken reference may raise anything."""
        if self._answer is None:
            assert self.reference is not None
            self._answer = self.reference(self.case)
        return self._answer

    def remarks(self) -> tuple[Remark, ...]:
        """Return the remarks of the reference on the case; empty if there is no reference or it fails."""
        if self.reference is None:
            return ()
        try:
            return tuple(self._project_remark(remark) for remark in self.answer().remarks)
        except Exception:  # noqa: BLE001 - the judge reports the failure that follows as `suite-bug`
            return ()

    def _project_remark(self, remark: Remark) -> Remark:
        """Return the remark with its alternative values reduced to the fields that the adapter shows."""
        others = (
            evolve(other, value=project(other.value, self._observed_below(other.path)))
            for other in remark.others
        )
        return evolve(remark, others=tuple(others)) if remark.others else remark

    def _observed_below(self, path: str) -> FieldTree:
        """Return the observed fields below `path`."""
        tree = self.wanted
        for step in split_path(path):
            tree = tree.get("[]" if isinstance(step, int) else step, {})
        return tree

    def seen(self, value: Json) -> Json:
        """Return the part of a value that the adapter shows."""
        return project(value, self.wanted)

    def digest(self, value: Json) -> str:
        """Return the digest of the observed part; the last digest is kept, as each value is needed twice."""
        if self._digested is None or self._digested[0] is not value:
            self._digested = value, json_digest(self.seen(value))
        return self._digested[1]


def _wanted(case: Case, tree: FieldTree) -> FieldTree:
    """Return the observed fields of the value of a case: of a sequence, all fields of its answers."""
    match case.op:
        case "scan":
            return scan_patterns(tree)
        case "sequence":
            return {}
        case _:
            return tree

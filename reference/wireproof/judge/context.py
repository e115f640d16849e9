"""Judge context: the case, the adapter's claims and their effect, and the reference's answer when needed."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from attrs import evolve

from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.requests import claims_op, claims_profile, missing_capability, no_digests
from wireproof.cases.case import Accept, Case, Generated, Steps, Value
from wireproof.cases.made_case import made_case
from wireproof.cases.observable_fields import EVERY_FIELD, observed_tree
from wireproof.cases.reference_answers import ReferenceAnswer
from wireproof.cases.steps import SEQUENCE
from wireproof.judge.differences import scan_patterns, split_path
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
        tree = observed_fields(hello, case)
        if case.op in {"scan", "sequence"}:  # of a sequence, all fields of its answers
            tree = scan_patterns(tree) if case.op == "scan" else {}
        self.wanted: FieldTree = tree

    @property
    def shows_whole_values(self) -> bool:
        """Return True if the adapter shows all fields; derived ones do not count."""
        claim = claim_of(self.hello, self.case)
        return claim is None or claim.observes in ((), (EVERY_FIELD,))

    @property
    def exact(self) -> bool:
        return self.hello.errors == "exact"

    @property
    def ours(self) -> bool:
        """Return True if the adapter is part of this package: positions and remarks are judged too."""
        return self.hello.name in (REFERENCE, "columnar")

    def expected(self, expect: Accept) -> Json:
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
            remarks = self.answer().remarks
        except Exception:  # noqa: BLE001 - the judge reports the failure that follows as `suite-bug`
            return ()
        # Their alternative values are reduced to the fields that the adapter shows.
        found = []
        for remark in remarks:
            others = []
            for other in remark.others:
                tree = self.wanted
                for step in split_path(other.path):
                    tree = tree.get("[]" if isinstance(step, int) else step, {})
                others.append(evolve(other, value=project(other.value, tree)))
            found.append(evolve(remark, others=tuple(others)) if others else remark)
        return tuple(found)

    def seen(self, value: Json) -> Json:
        return project(value, self.wanted)

    def digest(self, value: Json) -> str:
        """Return the digest of the observed part; the last digest is kept, as each value is needed twice."""
        if self._digested is None or self._digested[0] is not value:
            self._digested = value, json_digest(self.seen(value))
        return self._digested[1]


REFERENCE: Final = "reference"

_WORD: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
"""A word, also of a name such as `offsetDelta` or `offset_delta`."""


def claim_of(hello: Hello, case: Case) -> Claim | None:
    """Return the claim on the case's format and revision; None if there is none."""
    return hello.revisions.get(case.format_id)


def exclusion_reason(hello: Hello, case: Case) -> str:
    """Return why the claims exclude the case, as words; empty if they do not.

    An adapter without any claim excludes nothing: it has not been probed yet.
    """
    claim = claim_of(hello, case)
    if not hello.revisions:
        if case.op == SEQUENCE:
            return f"claims no {SEQUENCE}"
        return no_digests(case, hello) if claims_profile(case, None) else f"claims no profile {case.profile}"
    if claim is None:
        return f"claims no {case.format_id}"
    if not claims_op(claim, case.op):
        return f"claims no {case.op} of {case.format_id}"
    lack = missing_capability(case, claim).replace("profile:", "profile ")
    return f"claims no {lack}" if lack else no_digests(case, hello)


def names_field(case: Case, text: str) -> bool:
    """Return whether a text names a key of the value of an encode case: `user headers` for `userHeaders`."""
    if not isinstance(case.input, Value):
        return bool(text)
    named = _words(text)
    keys = map(_words, _keys(case.input.value))
    return any(key in named or f"{key[:-1]}s " in named for key in keys)


def _keys(value: Json) -> Iterator[str]:
    match value:
        case dict():
            yield from value
            for part in value.values():
                yield from _keys(part)
        case list():
            for part in value:
                yield from _keys(part)


def _words(text: str) -> str:
    """Return the words of a text or of a name between spaces: ` user headers ` for `userHeaders`."""
    return f" {' '.join(_WORD.findall(text)).lower()} "


def observed_fields(hello: Hello, case: Case) -> FieldTree:
    """Return the patterns of the fields that the adapter shows; an empty tree means all fields."""
    claim = claim_of(hello, case)
    if claim is None:
        return observed_tree(case.format_id, (EVERY_FIELD,) if hello.name == REFERENCE else ())
    return observed_tree(case.format_id, claim.observes)

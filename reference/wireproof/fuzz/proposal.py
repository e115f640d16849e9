"""What a fixture says that its finding does not: the rule that it breaks."""

import json
import re
from collections.abc import Iterable

from wireproof import formats
from wireproof.cases.case import Accept, Case, Chunks, Data, Reject, Value
from wireproof.cases.fixtures import Suite
from wireproof.cases.nearest import likeness
from wireproof.cases.rules import Rule
from wireproof.formats import FORMATS, Layout
from wireproof.trial.signature import without_indices


def rules_of(case: Case, suite: Suite) -> tuple[tuple[str, ...], tuple[Rule, ...]]:
    """The rules that the case is proposed to test, and those among them that did not exist.

    The rule of a refusal is that of the most alike case that is refused in the same way: of the same class
    and at the same field, if there is one; of an accepted case that of its nearest neighbour. What nobody
    was refused for yet gets a rule of its own, for the author to word.
    """
    alike = [one for one in suite.cases if _alike(one, case)]
    same_field = [one for one in alike if _refused_at(one) == _refused_at(case)]
    best = _nearest(case, same_field or alike)
    if best is not None:
        return best.rules[:1], ()
    new = _proposed(case)
    return (new.id,), (new,)


def _alike(one: Case, case: Case) -> bool:
    if (one.format, one.op, one.profile) != (case.format, case.op, case.profile) or not one.rules:
        return False
    match one.expect, case.expect:
        case Reject(theirs), Reject(ours):
            return theirs == ours
        case Accept(), Accept():
            return True
        case _:
            return False


def _nearest(case: Case, pool: Iterable[Case]) -> Case | None:
    """The most alike of those whose input is of the same sort; those of the same revision come first."""
    content = _content(case)
    rows = [one for one in pool if type(one.input) is type(case.input)]
    return max(
        rows,
        key=lambda one: (one.revision == case.revision, likeness(content, _content(one))),
        default=None,
    )


def _content(case: Case) -> bytes:
    match case.input:
        case Data(data):
            return data
        case Value(value):
            return json.dumps(value, sort_keys=True).encode()
        case Chunks(chunks):
            return b"".join(chunks)


def _layout(case: Case) -> Layout | None:
    row = FORMATS.get(case.joined)
    return formats.layout(row, _content(case), case.options) if row and isinstance(case.input, Data) else None


def _refused_at(case: Case) -> str:
    """The field of a refusal without indices; empty for what is accepted."""
    seen = _layout(case)
    return without_indices(seen.rejected.path) if seen is not None and seen.rejected is not None else ""


def _proposed(case: Case) -> Rule:
    path = _refused_at(case)
    cls = case.expect.cls if isinstance(case.expect, Reject) else "accepted"
    words = re.sub(r"[^a-z0-9]+", "-", f"{path} {cls}".lower()).strip("-")
    kind = "refusing" if isinstance(case.expect, Reject) else "value"
    where = f"the field {path}" if path else "the bytes"
    text = (
        f"PROPOSED: a reader refuses {where} as {cls}."
        if kind == "refusing"
        else "PROPOSED: these bytes are read."
    )
    return Rule(
        f"{case.format}.{words}", kind, text, "proposed", case.id,
        exclusion="Proposed by a finding; its author words it and adds the cases that it lacks.",
    )  # fmt: skip

"""The rule of a promoted finding: the rule of the most similar known case, or a proposal for a new one."""

import json
import re
from collections.abc import Iterable

from attrs import asdict

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data, Reject
from wireproof.cases.fixtures import Suite
from wireproof.cases.made_case import input_bytes
from wireproof.cases.rules import Rule, lacks_cases
from wireproof.cases.similar_cases import similarity
from wireproof.formats import FORMATS, TracedDecode
from wireproof.runner.signature import without_indices


def propose_rules(case: Case, suite: Suite) -> tuple[tuple[str, ...], tuple[Rule, ...]]:
    """Return the ids of the rules that `case` tests, and the rules among them that are new.

    A rejected case takes the rule of the most similar case that is rejected with the same class, if possible
    at the same field. An accepted case takes the rule of the most similar accepted case. If there is no such
    case, a new rule is proposed, and the author of the fixture writes its text.
    """
    comparable = [known for known in suite.cases if _is_comparable(known, case)]
    same_field = [known for known in comparable if _rejected_field(known) == _rejected_field(case)]
    best = _most_similar(case, same_field or comparable)
    if best is not None:
        return best.rules[:1], ()
    new = _new_rule(case)
    return (new.id,), (new,)


def rule_toml(rule: Rule) -> str:
    """Return `rule` as a `[[rule]]` table of a `rules.toml` file."""
    pairs = ((key, value) for key, value in asdict(rule).items() if value)
    lines = "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in pairs)
    return f"\n[[rule]]\n{lines}"


def _is_comparable(known: Case, case: Case) -> bool:
    """Report whether a rule of `known` could be the rule of `case`: same kind of question, same answer."""
    same = (known.format, known.op, known.profile) == (case.format, case.op, case.profile)
    if not same or not known.rules:
        return False
    match known.expect, case.expect:
        case Reject(known_class), Reject(cls):
            return known_class == cls
        case Accept(), Accept():
            return True
        case _:
            return False


def _most_similar(case: Case, pool: Iterable[Case]) -> Case | None:
    """Return the case with the most similar input of the same type; prefer the revision of `case`."""
    content = input_bytes(case)
    candidates = [known for known in pool if type(known.input) is type(case.input)]
    return max(
        candidates,
        key=lambda known: (known.revision == case.revision, similarity(content, input_bytes(known))),
        default=None,
    )


def _layout(case: Case) -> TracedDecode | None:
    """Return the layout trace of a decode; None for other cases and for unknown formats."""
    fmt = FORMATS.get(case.format_id)
    return (
        formats.decode_with_trace(fmt, input_bytes(case), case.options)
        if fmt and isinstance(case.input, Data)
        else None
    )


def _rejected_field(case: Case) -> str:
    """Return the path of the rejected field without indices; empty if the case is accepted."""
    layout = _layout(case)
    return without_indices(layout.rejected.path) if layout is not None and layout.rejected is not None else ""


def _new_rule(case: Case) -> Rule:
    """Return a rule for the answer to `case`, with a placeholder text."""
    path = _rejected_field(case)
    cls = case.expect.cls if isinstance(case.expect, Reject) else "accepted"
    words = re.sub(r"[^a-z0-9]+", "-", f"{path} {cls}".lower()).strip("-")
    kind = "refusing" if isinstance(case.expect, Reject) else "value"
    where = f"the field {path}" if path else "the bytes"
    text = (
        f"PROPOSED: a reader rejects {where} with {cls}."
        if kind == "refusing"
        else "PROPOSED: a reader accepts these bytes."
    )
    lacking = lacks_cases(kind, int(kind == "value"), int(kind == "refusing"))
    todo = "Proposed for a finding; the author writes the text and adds the missing cases."
    return Rule(f"{case.format}.{words}", kind, text, "proposed", case.id, exclusion=todo if lacking else "")

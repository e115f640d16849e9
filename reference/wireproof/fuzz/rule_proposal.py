"""The words of a promoted finding: a title from the difference, and the rules that fit at its place."""

import json
import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from attrs import asdict, frozen

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data, Reject, Value
from wireproof.cases.fixtures import Suite
from wireproof.cases.made_case import input_bytes
from wireproof.cases.mutate import repair
from wireproof.cases.rules import Rule, lacks_cases
from wireproof.cases.similar_cases import similarity
from wireproof.formats import FORMATS, TracedDecode
from wireproof.runner.signature import without_indices
from wireproof.runner.summaries import short_value
from wireproof.runner.value_diff import differences
from wireproof.wire.json_values import Json
from wireproof.wire.trace import FieldSpan

MAX_RULES: Final = 3
"""Number of rules that are proposed."""

MAX_FIELDS: Final = 2
"""Number of differing fields that a title names."""

SECTION: Final = re.compile(r"^(\S+\.md),? sections? ([0-9.]+)")
"""Document and section of the source of a remark."""


@frozen
class Difference:
    """How an implementation differed from the reference on the case of a finding.

    Attributes:
        kind: of the signature, such as `fail:wrong-value`.
        path: of the field, without indices.
        want, got: as the verdict has them: `field = value` for a field.
    """

    kind: str = ""
    path: str = ""
    want: str = ""
    got: str = ""


NO_DIFFERENCE: Final = Difference()
"""The difference of a case that no finding names."""


def proposed_title(case: Case, suite: Suite, difference: Difference) -> str:
    """Return a title that says what is special in the bytes of a finding.

    A rejected case is named after the field at which the reference rejects it, with the value that it has
    when lengths and checksums are fixed up. An accepted case is named after the field that was read
    differently, or else after the fields in which it differs from the most similar case.
    """
    if isinstance(case.expect, Reject):
        return _title_of_rejection(case, case.expect)
    if difference.kind.startswith("fail:wrong-value") and " = " in difference.want:
        field, _, value = difference.want.partition(" = ")
        return f"{field} is {_bare(value)}, not {_bare(difference.got.partition(' = ')[2])}"
    near = next(iter(_by_similarity(case, (one for one in suite.cases if _is_comparable(one, case)))), None)
    if near is None:
        return f"{len(input_bytes(case))} bytes that are accepted"
    found = list(islice(differences(_value(near), _value(case)), MAX_FIELDS + 1))
    shown = " and ".join(f"{one.path} {_bare(short_value(one.got))}" for one in found[:MAX_FIELDS])
    more = " and more" if len(found) > MAX_FIELDS else ""
    return f"As {near.id}, with {shown}{more}" if shown else f"The value of {near.id}, in other bytes"


def _bare(text: str) -> str:
    """Return a JSON text without the quotation marks around numbers."""
    return text[1:-1] if re.fullmatch(r'"-?\d+"', text) else text


def _value(case: Case) -> Json:
    """Return the value that is encoded or, of accepted bytes, the value that is expected."""
    if isinstance(case.input, Value):
        return case.input.value
    return case.expect.value if isinstance(case.expect, Accept) else None


def _title_of_rejection(case: Case, expect: Reject) -> str:
    layout = _layout(case)
    fault = layout.rejected if layout is not None else None
    if layout is None or fault is None or not fault.path:
        return f"{len(input_bytes(case))} bytes: {fault.text if fault and fault.text else expect.cls}"
    fmt = FORMATS[case.format_id]
    fixed = formats.decode_with_trace(fmt, repair(fmt, input_bytes(case)), case.options)
    value = _value_at(layout.spans, fault.path)
    right = _value_at(fixed.spans, fault.path) if fixed.rejected is None else None
    if None in (value, right) or value == right:
        leaf, text = _leaf(fault.path), fault.text or fault.cls
        return fault.path + (text.removeprefix(leaf) if text.startswith(f"{leaf} ") else f": {text}")
    return f"{fault.path} is {value} instead of {right}: {fault.cls}"


def _value_at(spans: Iterable[FieldSpan], path: str) -> int | None:
    """Return the number in a field; None if the field is missing or no number."""
    found = next((span.value for span in spans if span.path == path), None)
    return found if isinstance(found, int) else None


def propose_rules(
    case: Case, suite: Suite, difference: Difference = NO_DIFFERENCE
) -> tuple[tuple[str, ...], tuple[Rule, ...]]:
    """Return the ids of the rules that `case` may test, the likeliest first, and those that are new.

    A rejected case may be of a rule whose cases are rejected with the same class at the same field. An
    accepted case may be of a rule whose section the reference cites in a remark at the field that was read
    differently, or whose sentence names this field. Where none fits, it is the rule of the most similar case.
    The rule whose case is most similar comes first. If there is no such case, a new rule is proposed, and the
    author of the fixture writes its text.
    """
    comparable = [known for known in suite.cases if _is_comparable(known, case)]
    leaf = _leaf(difference.path)
    fitting = list(filter(_fits_place(case, suite, leaf), comparable))
    if not fitting and leaf:  # a derived field such as nextOffset stands in no sentence
        words = re.findall("[A-Z]?[a-z]+", leaf) or [leaf]
        fitting = list(filter(_fits_place(case, suite, words[-1]), comparable))
    best = _of_revision(case, _by_similarity(case, fitting)) or _by_similarity(case, comparable)[:1]
    if best:
        return tuple(dict.fromkeys(known.rules[0] for known in best))[:MAX_RULES], ()
    new = _new_rule(case)
    return (new.id,), (new,)


def _of_revision(case: Case, found: list[Case]) -> list[Case]:
    """Return the cases of the revision of `case`; all if there are none."""
    return [known for known in found if known.revision == case.revision] or found


def _fits_place(case: Case, suite: Suite, leaf: str) -> Callable[[Case], bool]:
    """Return a function that reports whether a known case is about the place where `case` is special.

    `leaf` is the name of the field that was read differently, or a word of it.
    """
    if isinstance(case.expect, Reject):
        rejected = _rejected_field(case)
        return lambda known: _rejected_field(known) == rejected
    sections = _cited_sections(case, leaf)
    named = re.compile(rf"\b{re.escape(leaf)}\b", re.IGNORECASE)

    def fits(known: Case) -> bool:
        rule = suite.rules.get(known.rules[0])
        if rule is None or not leaf:
            return False
        return named.search(rule.text) is not None or (rule.document, rule.section) in sections

    return fits


def _leaf(path: str) -> str:
    """Return the name of the last field of a path, without an index."""
    return path.rpartition(".")[2].partition("[")[0]


def _cited_sections(case: Case, leaf: str) -> frozenset[tuple[str, str]]:
    """Return document and section of the remarks of the reference at the fields with a name."""
    layout = _layout(case)
    remarks = layout.decoded.remarks if layout is not None and layout.decoded is not None else ()
    known = formats.remark_classes()
    sources = (SECTION.match(known[one.cls].source) for one in remarks if _leaf(one.path) == leaf)
    return frozenset((match[1], f"§{match[2]}") for match in sources if match)


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


def _by_similarity(case: Case, pool: Iterable[Case]) -> list[Case]:
    """Return the cases with an input of the same type, most similar first; prefer the revision of `case`."""
    content = input_bytes(case)
    return sorted(
        (known for known in pool if type(known.input) is type(case.input)),
        key=lambda known: (known.revision == case.revision, similarity(content, input_bytes(known))),
        reverse=True,
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

"""Checks of the fixtures themselves.

Pure checks over a loaded suite; each yields problems of one line. The last check compares every expectation
with the reference, so that a wrong fixture is found before any adapter fails it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from wireproof.cases.case import ROBUSTNESS, Accept, Case, Expect, Generated, Reject, Step, Steps
from wireproof.cases.fixture_writer import CASE_KEYS, MAX_INLINE_BYTES, FrozenCase, page_text
from wireproof.cases.fixtures import Suite
from wireproof.cases.outcome import Accepted, Refused
from wireproof.cases.reference_answers import decode_answer, reference_answer
from wireproof.cases.rules import lacks_cases
from wireproof.cases.steps import OWN_FIELDS, SEQUENCE, StepOp, is_refused
from wireproof.family import object_at
from wireproof.formats import FORMATS, Format, family_of
from wireproof.lint.sources import Problem, check_sentences, check_sources, permitted
from wireproof.wire.json_values import Json, from_json, to_json
from wireproof.wire.rejection import Rejected
from wireproof.wire.remark_classes import REMARK_CLASSES

if TYPE_CHECKING:
    from pathlib import Path


def check_steps(suite: Suite) -> Iterator[Problem]:
    for case in suite.cases:
        if isinstance(case.input, Steps) and case.format_id in FORMATS:
            place = family_of(FORMATS[case.format_id]).step_ops
            table: Mapping[str, StepOp] = object_at(place) if place else {}
            for number, step in enumerate(case.input.steps, 1):
                yield from (Problem(case.id, f"step {number}: {text}") for text in _faults(step, table))


def _faults(step: Step, table: Mapping[str, StepOp]) -> Iterator[str]:
    row = table.get(step.op)
    if row is None:
        yield f"the op {step.op} is unknown; known are {', '.join(table) or 'none'}"
        return
    named = frozenset(step.fields)
    if wrong := sorted(named - row.required - row.optional - OWN_FIELDS):
        yield f"{step.op} has no {', '.join(wrong)}"
    if lacking := sorted(row.required - named):
        yield f"{step.op} must have {', '.join(lacking)}"
    if (step.data is not None) != row.data:
        yield f"{step.op} {'must have hex' if row.data else 'has no hex'}"


def lint(suite: Suite) -> list[Problem]:
    return [problem for check in CHECKS for problem in check(suite)]


def _files(suite: Suite) -> Iterator[Problem]:
    """Check the form and order of files, and that long inputs, and nothing else, are in separate files."""
    used: set[Path] = set()
    for path in sorted(set(suite.files.values())):
        text = path.read_text(encoding="utf-8")
        page = json.loads(text)
        rows = page["cases"]
        if text != page_text(page):
            yield Problem(str(path), "is not in the form of a fixture file; `lint --fix` rewrites it")
        ids = [fmt["id"] for fmt in rows]
        if ids != sorted(ids):
            yield Problem(str(path), "its cases are not sorted by id; `lint --fix` sorts them")
        for fmt in rows:
            if list(fmt) != [key for key in CASE_KEYS if key in fmt]:
                order = f"{', '.join(CASE_KEYS)}; `lint --fix` sorts them"
                yield Problem(fmt["id"], f"its keys must be in the order {order}")
            given = fmt.get("input", {})
            used |= {path.parent / given["file"]} if "file" in given else set()
            if len(given.get("hex", "")) > 2 * MAX_INLINE_BYTES:
                yield Problem(fmt["id"], f"over {MAX_INLINE_BYTES} bytes belong into a file")
    for root in suite.roots:
        for stray in sorted(set(root.rglob("*.bin")) - used):
            yield Problem(str(stray), "no case names this file")


def _frozen(suite: Suite) -> Iterator[Problem]:
    """Check that every frozen case still exists, byte for byte."""
    for name, text in suite.frozen.items():
        case = suite.by_id.get(name)
        if case is None:
            yield Problem(name, "is frozen and was removed: restore it, an id is never taken back")
        elif FrozenCase.of(case).input != FrozenCase.parse(text).input:
            yield Problem(name, "is frozen and its input differs: restore it; new bytes need a new id")


def changed_cases(suite: Suite) -> Iterator[Problem]:
    """Check that level and expectation of every frozen case are those that were frozen last."""
    for name, text in suite.frozen.items():
        if case := suite.by_id.get(name):
            for part in FrozenCase.parse(text).changed_parts(FrozenCase.of(case)):
                yield Problem(
                    name, f"its {part} is another than the frozen one: write the change and its source into "
                    "case-changes.md, then run lint --freeze",
                )  # fmt: skip


def _words(suite: Suite) -> Iterator[Problem]:
    """Check that formats, rules, flags, remarks and capabilities exist."""
    for case in suite.cases:
        fmt = FORMATS.get(case.format_id)
        if fmt is None:
            yield Problem(case.id, f"{case.format_id} is no format")
            continue
        for name, known, words in (
            ("rule", suite.rules, case.rules),
            ("flag", ("security", "resource", ROBUSTNESS), case.flags),
            ("remark", REMARK_CLASSES, [name for accept in _accepts(case.expect) for name in accept.remarks]),
            ("need", fmt.capabilities, case.needs),
        ):
            for word in words:
                if word not in known:
                    yield Problem(case.id, f"the {name} {word} is unknown")
        if not case.rules:
            yield Problem(case.id, "it tests no rule")
        if ROBUSTNESS in case.flags and (case.level == "must" or ROBUSTNESS not in case.title.lower()):
            yield Problem(case.id, f"a case of {ROBUSTNESS} is no must, and has the word in its title")


def _accepts(expect: Expect) -> Iterator[Accept]:
    yield from (answer for answer in permitted(expect) if isinstance(answer, Accept))


def _twins(suite: Suite) -> Iterator[Problem]:
    """Check that a rejected case names an accepted one of its own system and op."""
    for case in suite.cases:
        if not is_refused(case):
            continue
        twin = suite.by_id.get(case.twin or "")
        if twin is None:
            yield Problem(case.id, f"its twin {case.twin or '(none)'} does not exist")
        elif is_refused(twin):
            yield Problem(case.id, f"its twin {twin.id} is refused too")
        elif (twin.op, twin.format.split(".")[0]) != (case.op, case.format.split(".")[0]):
            yield Problem(case.id, f"its twin {twin.id} is another op or system")


def _values(suite: Suite) -> Iterator[Problem]:
    for case in suite.cases:
        fmt = FORMATS.get(case.format_id)
        if fmt is None or case.op in ("scan", SEQUENCE):
            continue
        # `before` of a rejection is not compared: it may be a part of a value
        for value in (accept.value for accept in _accepts(case.expect) if accept.value is not None):
            try:
                again = to_json(from_json(fmt.value, value), with_derived=True)
            except Rejected as rejected:
                yield Problem(
                    case.id, f"its value is none of {case.format_id}: {rejected.path} {rejected.text}"
                )
                continue
            if again != value:
                yield Problem(case.id, "its value leaves out or misspells what is computed")


def _covered(suite: Suite) -> Iterator[Problem]:
    """Check that each rule has enough accepted and rejected cases for its kind, or an exclusion."""
    for rule in suite.rules.values():
        cases = suite.by_rule.get(rule.id, ())
        refused = sum(1 for case in cases if is_refused(case))
        accepted = len(cases) - refused
        lacking = lacks_cases(rule.kind, accepted, refused)
        if lacking and not rule.exclusion:
            counts = f"{accepted} accepted and {refused} refused cases"
            yield Problem(rule.id, f"{counts} are too few for a {rule.kind} rule")
        if rule.exclusion and not lacking:
            yield Problem(rule.id, "has all its cases, so its exclusion is wrong")


def _reference(suite: Suite) -> Iterator[Problem]:
    """Check that the reference answers as every stored case expects; `check reference` makes large ones."""
    for case in suite.cases:
        if isinstance(case.input, Generated | Steps):
            continue
        if (fmt := FORMATS.get(case.format_id)) is None:
            continue
        outcome = reference_answer(case).outcome
        if isinstance(outcome, Accepted) and outcome.data is not None:
            texts = [_encoded(fmt, case, outcome.data)]
        else:
            texts = [_difference(answer, outcome) for answer in permitted(case.expect)]
        if "" not in texts:
            yield Problem(case.id, texts[0])


def _encoded(fmt: Format, case: Case, data: bytes) -> str:
    if not isinstance(case.expect, Accept):
        return f"the reference encodes it: {data.hex()[:80]}" if isinstance(case.expect, Reject) else ""
    if case.expect.data and data not in case.expect.data:
        return f"the reference encodes {data.hex()[:160]}"
    for option in case.expect.data or (data,):
        again = decode_answer(fmt, option, case.effective_options).outcome
        if isinstance(again, Refused):
            return _difference(case.expect, again)
        if case.profile == "produce" and again.remarks:
            return f"{option.hex()[:80]} is not what a producer writes: {again.remarks[0]}"
        if case.expect.value is not None and again.value != case.expect.value:
            return f"{option.hex()[:80]} decodes to another value: {_where(case.expect.value, again.value)}"
    return ""


def _difference(expect: Accept | Reject, answer: Accepted | Refused) -> str:
    """Describe how a decode of the reference differs from one expectation; empty if it does not."""
    if isinstance(answer, Refused):
        return _refused(expect, answer)
    if isinstance(expect, Reject):
        return f"the reference accepts what should be refused as {expect.cls}"
    value, consumed, remarks = answer.value, answer.consumed, tuple(sorted(answer.remarks))
    if expect.value != value:
        return f"the reference reads another value: {_where(expect.value, value)}"
    if consumed is not None and expect.consumed not in (None, consumed):
        return f"the reference consumes {consumed}, not {expect.consumed}"
    if tuple(sorted(expect.remarks)) != remarks:
        seen, wanted = (", ".join(names) or "nothing" for names in (remarks, expect.remarks))
        return f"the reference remarks {seen}, not {wanted}"
    return ""


def _refused(expect: Accept | Reject, refusal: Refused) -> str:
    reason = Rejected(refusal.cls, refusal.at, refusal.path, refusal.text)
    if isinstance(expect, Accept):
        return f"the reference refuses it: {reason}"
    if refusal.cls not in (expect.cls, *expect.also):
        return f"the reference refuses it as {refusal.cls}, not {expect.cls}: {reason}"
    if expect.at is not None and refusal.at != expect.at:
        return f"the reference refuses it at {refusal.at}, not {expect.at}: {reason}"
    if expect.before is not None and not contains_prefix(refusal.before, expect.before):
        return f"the reference delivers {_where(expect.before, refusal.before)} before it refuses"
    return ""


def contains_prefix(got: Json, want: Json) -> bool:
    """Return whether `got` equals `want`, except for further elements at the end of lists."""
    match got, want:
        case dict(), dict():
            return got.keys() >= want.keys() and all(
                contains_prefix(got[key], part) for key, part in want.items()
            )
        case list(), list():
            return len(got) >= len(want) and all(
                contains_prefix(part, two) for part, two in zip(got, want, strict=False)
            )
        case _:
            return got == want


def _where(want: Json, got: Json, path: str = "value") -> str:
    """Return the first place where two values differ."""
    match want, got:
        case dict(), dict() if want.keys() == got.keys():
            pairs = ((f"{path}.{key}", want[key], got[key]) for key in want)
        case list(), list() if len(want) == len(got):
            pairs = (
                (f"{path}[{at}]", part, two) for at, (part, two) in enumerate(zip(want, got, strict=True))
            )
        case _:
            return f"{path} want {json.dumps(want)[:90]} got {json.dumps(got)[:90]}"
    return next((_where(part, two, where) for where, part, two in pairs if part != two), "")


CHECKS: Final[tuple[Callable[[Suite], Iterator[Problem]], ...]] = (
    _files, _frozen, _words, _twins, _values, check_steps, _covered, check_sources, check_sentences,
    _reference,
)  # fmt: skip
"""Every check, in the order of its problems."""

"""Write a finding as a fixture, with a twin, its origin, a title and a rule that fits.

Nothing is written unless the reference gives the same answer in three fresh processes, does not contradict
itself, and `lint` accepts the new fixtures.
"""

import hashlib
import re
import shutil
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from attrs import evolve, frozen

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data, Generated, Reject, Source, Steps, Value
from wireproof.cases.case_json import read
from wireproof.cases.fixture_writer import fixture_page
from wireproof.cases.fixtures import FROZEN, Suite, fixture_files, load, own_folders
from wireproof.cases.id_patterns import most_similar
from wireproof.cases.made_case import input_bytes
from wireproof.cases.reference_answers import reference_answer, reference_expectation
from wireproof.cases.rules import ID_COMPONENT
from wireproof.derive.examples import FUZZ, capabilities_of_case
from wireproof.derive.mutate import repair
from wireproof.files import replace_bytes
from wireproof.formats import FORMATS
from wireproof.judge.differences import differences, short_value
from wireproof.judge.judge import REFERENCE_HELLO, judge
from wireproof.judge.likely_rules import layout_of_decode, leaf_of, likely_rules, most_like
from wireproof.judge.signature import without_indices
from wireproof.lint.cases import lint
from wireproof.lint.sources import Problem, backed_level
from wireproof.run.engine import Engine
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import Rejected
from wireproof.wire.text import counted
from wireproof.wire.trace import FieldSpan


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


def proposed_title(case: Case, suite: Suite, difference: Difference) -> str:
    """Return a title that says what is special in the bytes of a finding.

    A rejected case is named after the field at which the reference rejects it, with the value that it has
    when lengths and checksums are fixed up. An accepted case is named after the field that was read
    differently, or else after the fields in which it differs from the most similar case.
    """
    if isinstance(case.expect, Reject):
        layout = layout_of_decode(case)
        fault = layout.rejected if layout is not None else None
        if layout is None or fault is None or not fault.path:
            size = counted(len(input_bytes(case)), "byte", grouped=False)
            return f"{size}: {fault.text if fault and fault.text else case.expect.cls}"
        fmt = FORMATS[case.format_id]
        fixed = formats.decode_with_trace(fmt, repair(fmt, input_bytes(case)), case.options)
        wrong = _value_at(layout.spans, fault.path)
        right = _value_at(fixed.spans, fault.path) if fixed.rejected is None else None
        if None not in (wrong, right) and wrong != right:
            return f"{fault.path} is {wrong} instead of {right}: {fault.cls}"
        leaf, text = leaf_of(fault.path), fault.text or fault.cls
        return fault.path + (text.removeprefix(leaf) if text.startswith(f"{leaf} ") else f": {text}")
    if difference.kind.startswith("fail:wrong-value") and " = " in difference.want:
        field, _, value = difference.want.partition(" = ")
        return f"{field} is {_bare(value)}, not {_bare(difference.got.partition(' = ')[2])}"
    near = most_like(case, suite)
    if near is None:
        return f"{counted(len(input_bytes(case)), 'byte that is', 'bytes that are', grouped=False)} accepted"
    found = list(islice(differences(_value(near), _value(case)), 3))
    shown = " and ".join(f"{one.path} {_bare(short_value(one.got))}" for one in found[:2])
    more = " and more" if len(found) > 2 else ""
    return f"As {near.id}, with {shown}{more}" if shown else f"The value of {near.id}, in other bytes"


def _bare(text: str) -> str:
    """Return a JSON text without the quotation marks around numbers."""
    return text[1:-1] if re.fullmatch(r'"-?\d+"', text) else text


def _value(case: Case) -> Json:
    """Return the value that is encoded or, of accepted bytes, the value that is expected."""
    if isinstance(case.input, Value):
        return case.input.value
    return case.expect.value if isinstance(case.expect, Accept) else None


def _value_at(spans: Iterable[FieldSpan], path: str) -> int | None:
    """Return the number in a field; None if the field is missing or no number."""
    found = next((span.value for span in spans if span.path == path), None)
    return found if isinstance(found, int) else None


class PromotionError(ValueError):
    """The finding cannot become a fixture; the message gives the reason in one line."""


def likeliest(fitting: tuple[str, ...]) -> str:
    """Return the first of the rules that fit; raises `PromotionError` if there is none."""
    if not fitting:
        raise PromotionError(
            "no rule has a case like this one: name one with --rule, or add it to rules.toml first"
        )
    return fitting[0]


CONFIRMATIONS: Final = 3
"""Number of fresh processes of the reference that must give the same answer."""


@frozen
class Promoted:
    """The result of a promotion.

    Attributes:
        case: the fixture.
        twin: the twin that was made for it; None if an existing case is the twin, or if it needs none.
        fitting: ids of the rules that fit, the likeliest first; the first is that of the case.
        files: the files that were changed.
    """

    case: Case
    twin: Case | None
    fitting: tuple[str, ...]
    files: tuple[Path, ...]


def promote(
    case: Case,
    suite: Suite,
    to: Path,
    name: str = "",
    why: str = "",
    *,
    difference: Difference = Difference(),
    choose: Callable[[tuple[str, ...]], str] = likeliest,
) -> Promoted:
    """Write `case` into the fixtures under `to`.

    Args:
        case: the case of the token.
        suite: all known fixtures.
        to: the folder of fixtures; `<to>/<format>/<revision>/<topic>.json` is written.
        name: `topic/name`, or the last part of the id alone; if empty, it is made of class, field and digest.
        why: what goes wrong in practice; if empty, how the case was found.
        difference: how an implementation differed on the case.
        choose: returns the rule; it is called with the rules that fit.

    Raises:
        PromotionError: the reference contradicts itself or does not confirm the case, or `lint` reports a
            problem. Nothing is written then.
    """
    if isinstance(case.input, Generated):
        raise PromotionError(f"{case.id} is generated from a rule: there are no bytes to promote")
    if isinstance(case.input, Steps):
        raise PromotionError(f"{case.id} has steps: only a live server answers it, and the reference cannot")
    case = _with_expectation(case)
    confirm(case)
    if difference.got:
        why = why or f"A codec answered {difference.got}; the format requires {difference.want}."
    fixture = _named(case, name, why)
    if not all(re.fullmatch(ID_COMPONENT, part) for part in fixture.id.split("/")):
        raise PromotionError(f"{fixture.id}: --name has a-z, 0-9, '.', '+' and '-' only")
    if fixture.id in suite.by_id:
        raise PromotionError(f"{fixture.id} exists: ids are never reused, give --name another")
    twin, twin_id = _twin(fixture, suite)
    if not fixture.title:
        fixture = evolve(fixture, title=proposed_title(fixture, suite, difference))
        twin = evolve(twin, title=f"{fixture.title}, repaired") if twin is not None else None
    fitting = likely_rules(fixture, suite, difference.path)
    rules = (choose(fitting),)
    needs = capabilities_of_case(fixture)
    fixture = backed_level(evolve(fixture, twin=twin_id, rules=rules, needs=needs), suite)
    if twin is not None:
        twin = backed_level(evolve(twin, rules=rules, needs=capabilities_of_case(twin)), suite)
    cases = [fixture] if twin is None else [fixture, twin]
    return Promoted(fixture, twin, fitting, _write(cases, to))


def _with_expectation(case: Case) -> Case:
    """Return the case with the answer of the reference as its expectation.

    Raises `PromotionError` if the reference contradicts itself, or contradicts the expectation of the token.
    """
    if case.format_id not in FORMATS:
        raise PromotionError(f"{case.format_id} is no format")
    expect = reference_expectation(case)
    if isinstance(case.input, Data):
        given = FORMATS[case.format_id], case.input.data, case.effective_options
        traced, what = formats.decode_with_trace(*given), "value"
        try:
            same = formats.decode(*given) == traced.decoded
        except Rejected as rejected:
            other, what = traced.rejected, "rejection"
            same = other is not None and (other.cls, other.at) == (rejected.cls, rejected.at)
        if not same:
            fault = f"with a trace the {what} is another one"
            raise PromotionError(f"the reference disagrees with itself: {fault}")
    if case.expect != expect:
        outcome = reference_answer(case).outcome
        verdict = judge(case, outcome, hello=REFERENCE_HELLO, twin=None)
        if not verdict.passing and verdict.name != "blocked":
            raise PromotionError(f"the reference disagrees with the token's expectation: {verdict.text}")
    return evolve(case, expect=expect)


def confirm(case: Case) -> None:
    """Run the case in fresh processes of the reference; raises `PromotionError` if an answer differs."""
    # Without the fuzzer's origin and family, the judge compares the class of a rejection too.
    golden = evolve(case, twin=None, family=None, parent=None, source=Source("hand"))
    for number in range(1, CONFIRMATIONS + 1):
        with Engine("reference") as engine:
            ran = next(engine.run([golden]))
        verdict = judge(ran.case, ran.outcome, hello=REFERENCE_HELLO)
        if not verdict.passing:
            fault = f"fresh process {number} of {CONFIRMATIONS} does not confirm: {verdict.label}"
            raise PromotionError(fault)


def _named(case: Case, name: str, why: str) -> Case:
    """Return the case with the id and the origin of a fixture; a fuzzed case has no title of its own."""
    topic, _, last = name.rpartition("/")
    digest = hashlib.sha256(input_bytes(case)).hexdigest()[:8]
    subject: str = "accepted" if case.op == "decode" else case.op
    if isinstance(case.expect, Reject):  # class and field
        field = getattr(reference_answer(case).outcome, "path", "").rpartition(".")[2]
        words = f"{case.expect.cls} {without_indices(field)}"
        subject = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
    last = last or f"{subject}-{digest}"
    origin = case.source.document or case.id
    return evolve(
        case,
        id=f"{case.format}/{case.revision}/{topic or 'found'}/{last}",
        title="" if case.family == FUZZ else case.title,
        why=why or case.why or "A codec answered these bytes in another way than the format requires.",
        source=Source("fuzz", f"promoted from {origin}, sha256 {digest}"),
        parent=None,
        family=None,
        twin=None,
        rules=(),
    )


def _twin(case: Case, suite: Suite) -> tuple[Case | None, str | None]:
    """Return the twin of a rejected case, if it is new, and its id.

    The twin has the same bytes with lengths and checksums fixed up, if the reference accepts them then.
    Otherwise it is the most similar accepted case.
    """
    if not isinstance(case.expect, Reject):
        return None, None
    if isinstance(case.input, Data):
        data = repair(FORMATS[case.format_id], case.input.data)
        title = f"{case.title}, repaired" if case.title else ""
        twin = evolve(case, id=f"{case.id}-twin", input=Data(data), title=title)
        twin = evolve(twin, expect=reference_expectation(twin))
        if isinstance(twin.expect, Accept):
            for known in suite.cases:
                same = (known.input, known.format_id) == (twin.input, twin.format_id)
                if same and isinstance(known.expect, Accept):
                    return None, known.id
            return twin, twin.id
    pool = [
        other
        for other in suite.cases
        if isinstance(other.expect, Accept) and other.op == case.op and other.profile == case.profile
    ]
    near = most_similar(input_bytes(case), case.format_id, None, pool)
    if near is None:
        raise PromotionError("no accepted case of this format is known that could be its twin")
    return None, near.id


def _write(cases: list[Case], to: Path) -> tuple[Path, ...]:
    """Write the files, after `lint` has accepted a copy of them; a kill leaves each file old or new."""
    with TemporaryDirectory(prefix="wireproof-") as temporary:
        copy = Path(temporary) / to.name
        for path in (*fixture_files(to), *to.glob(FROZEN)):
            target = copy / path.relative_to(to)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        first = cases[0]
        page = Path(first.format, first.revision, f"{first.topic}.json")
        known = read(copy / page) if (copy / page).exists() else []
        made = fixture_page(first.format, first.revision, [*known, *cases])
        # The file of the cases is the last one: the bytes that it names are there before it.
        changed = {page.parent / name: data for name, data in made.files.items()}
        changed[page] = made.text.encode()
        for path, data in changed.items():
            replace_bytes(copy / path, data, durable=False)
        if problems := _problems(cases, to, copy):
            raise PromotionError(f"lint reports a problem, nothing is written: {problems[0]}")
    _replace_files({to / path: data for path, data in changed.items()})
    return tuple(to / path for path in changed)


def _replace_files(changed: dict[Path, bytes]) -> None:
    """Replace the files; if that is interrupted, restore those that were replaced."""
    before: dict[Path, bytes | None] = {}
    try:
        for path, data in changed.items():
            before[path] = path.read_bytes() if path.exists() else None
            replace_bytes(path, data)
    except BaseException:
        for path, old in before.items():
            path.unlink(missing_ok=True) if old is None else replace_bytes(path, old)
        raise


def _problems(cases: list[Case], to: Path, copy: Path) -> list[Problem]:
    """Return the problems that `lint` reports about the new cases and their rules in the copy of `to`."""
    own = [copy if root.resolve() == to.resolve() else root for root in own_folders()]
    suite = load(own[1:] if copy in own else (*own[1:], copy), own=own[0])
    names = {case.id for case in cases} | {rule for case in cases for rule in case.rules}
    return [
        evolve(problem, where=problem.where.replace(str(copy), str(to), 1))
        for problem in lint(suite)
        if problem.where in names or problem.where.startswith(str(copy))
    ]

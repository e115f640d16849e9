"""A finding written down as a fixture: twin, provenance and rule proposed, held to `lint` before it stays.

Design, section 3, the table of the fixture file. Nothing is written that the reference does not answer
alike three times in fresh processes, or of which it contradicts itself.
"""

import hashlib
import json
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from attrs import evolve, frozen

from wireproof import formats
from wireproof.cases.case import Accept, Case, Chunks, Data, Reject, Source, Value
from wireproof.cases.fixtures import FROZEN, Suite, folder, found_in, load, read
from wireproof.cases.lint import lint
from wireproof.cases.mutate import repair
from wireproof.cases.nearest import nearest
from wireproof.cases.needs import needs_of
from wireproof.cases.page import page_of
from wireproof.cases.problem import Problem
from wireproof.cases.rules import PLAIN, Rule
from wireproof.files import replace_bytes
from wireproof.formats import FORMATS
from wireproof.fuzz.proposal import rules_of
from wireproof.fuzz.ruletext import rule_text
from wireproof.trial.engine import Engine
from wireproof.trial.judge import OURSELVES, judge
from wireproof.trial.reference import answer, expectation
from wireproof.wire.rejected import Rejected

CONFIRMATIONS: Final = 3
"""Fresh processes that must answer alike."""

TOPIC: Final = "found"
"""The topic of promoted findings that name none."""


class PromotionError(ValueError):
    """The finding cannot become a fixture; one line says why."""


@frozen
class Promoted:
    """What was written: the case, the twin that was made for it (or None), new rules, the files."""

    case: Case
    twin: Case | None
    rules: tuple[Rule, ...]
    files: tuple[Path, ...]


def promote(case: Case, suite: Suite, to: Path, name: str = "", why: str = "") -> Promoted:
    """Write `case` into the fixtures under `to`.

    Args:
        case: what was found, as its token has it.
        suite: all fixtures that are known.
        to: the folder of fixtures; `<to>/<format>/<revision>/<topic>.json` is written.
        name: `topic/name` or the last part of the id alone; empty makes one of class, field and bytes.
        why: what breaks in the field; empty says how it was found.

    Raises:
        PromotionError: the reference contradicts itself, does not confirm, or `lint` finds fault; then
            nothing is written.
    """
    case = _expected(case)
    confirm(case)
    found = _named(case, name, why)
    if not all(re.fullmatch(PLAIN, part) for part in found.id.split("/")):
        raise PromotionError(f"{found.id}: --name has a-z, 0-9, '.', '+' and '-' only")
    if found.id in suite.by_id:
        raise PromotionError(f"{found.id} exists: ids are never reused, give --name another")
    twin, twin_id = _twin(found, suite)
    rules, new = rules_of(found, suite)
    atoms = needs_of(found)
    found = evolve(found, twin=twin_id, rules=rules, needs=atoms)
    if twin is not None:
        twin = evolve(twin, rules=rules, needs=needs_of(twin))
    rows = [found] if twin is None else [found, twin]
    return Promoted(found, twin, new, _written(rows, new, to))


# --- what the reference says ---


def _expected(case: Case) -> Case:
    """The case with the reference's expectation; its own, if it has one of a fixture, must be the same."""
    if case.joined not in FORMATS:
        raise PromotionError(f"{case.joined} is no format")
    expect = expectation(case)
    contradiction = _contradiction(case)
    if contradiction:
        raise PromotionError(f"the reference disagrees with itself: {contradiction}")
    if case.expect != expect:
        outcome = answer(case).outcome
        verdict = judge(case, outcome, hello=OURSELVES, twin=None)
        if not verdict.passing and verdict.name != "blocked":
            raise PromotionError(f"the reference disagrees with the token's expectation: {verdict.text}")
    return evolve(case, expect=expect)


def _contradiction(case: Case) -> str:
    """Where the reference reads its own writing otherwise; empty where it does not."""
    if not isinstance(case.input, Data):
        return ""
    row = FORMATS[case.joined]
    options = case.held_to
    traced = formats.layout(row, case.input.data, options)
    try:
        plain = formats.decode(row, case.input.data, options)
    except Rejected as rejected:
        same = traced.rejected is not None and (traced.rejected.cls, traced.rejected.at) == (
            rejected.cls,
            rejected.at,
        )
        return "" if same else "with a trace it does not refuse alike"
    if traced.decoded != plain:
        return "with a trace it reads another value"
    return ""


def confirm(case: Case) -> None:
    """Ask the reference in fresh processes; raises `PromotionError` if one does not answer as told."""
    golden = evolve(case, twin=None, family=None, parent=None, source=Source("hand"))  # judged by class too
    for number in range(1, CONFIRMATIONS + 1):
        with Engine("reference") as engine:
            ran = next(engine.run([golden]))
        verdict = judge(ran.case, ran.outcome, hello=OURSELVES)
        if not verdict.passing:
            raise PromotionError(
                f"fresh process {number} of {CONFIRMATIONS} does not confirm: {verdict.label}"
            )


# --- name and twin ---


def _bytes(case: Case) -> bytes:
    match case.input:
        case Data(data):
            return data
        case Chunks(chunks):
            return b"".join(chunks)
        case Value(value):
            return json.dumps(value, sort_keys=True).encode()


def _named(case: Case, name: str, why: str) -> Case:
    topic, _, last = name.rpartition("/")
    seal = hashlib.sha256(_bytes(case)).hexdigest()[:8]
    last = last or f"{_subject(case)}-{seal}"
    origin = case.source.document or case.id
    return evolve(
        case,
        id=f"{case.format}/{case.revision}/{topic or TOPIC}/{last}",
        title=case.title or f"{_subject(case).replace('-', ' ')}, {len(_bytes(case))} bytes",
        why=why or case.why or "A codec was seen to answer these bytes otherwise than the format has it.",
        source=Source("fuzz", f"promoted from {origin}, sha256 {seal}"),
        aliases=(),
        parent=None,
        family=None,
        twin=None,
        rules=(),
    )


def _subject(case: Case) -> str:
    """Class and field of a refusal, or what else is known, as part of an id."""
    if not isinstance(case.expect, Reject):
        return "accepted" if case.op == "decode" else case.op
    outcome = answer(case).outcome
    field = re.sub(r"\[\d+\]", "", getattr(outcome, "path", "")).rpartition(".")[2]
    return re.sub(r"[^a-z0-9]+", "-", f"{case.expect.cls} {field}".lower()).strip("-")


def _twin(case: Case, suite: Suite) -> tuple[Case | None, str | None]:
    """The accepted neighbour of a refused case: its bytes repaired if that is enough, else the nearest."""
    if not isinstance(case.expect, Reject):
        return None, None
    if isinstance(case.input, Data):
        row = FORMATS[case.joined]
        data = repair(row, case.input.data)
        twin = evolve(case, id=f"{case.id}-twin", input=Data(data), title=f"{case.title}, repaired")
        twin = evolve(twin, expect=expectation(twin))
        if isinstance(twin.expect, Accept):
            known = [one for one in suite.cases if _stands_for(one, twin)]
            return (None, known[0].id) if known else (twin, twin.id)
    pool = [
        one
        for one in suite.cases
        if isinstance(one.expect, Accept) and one.op == case.op and one.profile == case.profile
    ]
    near = nearest(_bytes(case), case.joined, None, pool)
    if near is None:
        raise PromotionError("no accepted case of this format is known that could be its twin")
    return None, near.id


def _stands_for(one: Case, twin: Case) -> bool:
    return one.input == twin.input and one.joined == twin.joined and isinstance(one.expect, Accept)


# --- files ---


def _written(rows: list[Case], rules: tuple[Rule, ...], to: Path) -> tuple[Path, ...]:
    """Write everything that lint has seen in a copy; a kill in between leaves each file old or new."""
    with TemporaryDirectory(prefix="wireproof-") as room:
        copy = Path(room) / to.name
        _copied(to, copy)
        changed = _changed(rows, rules, copy)
        for path, data in changed.items():
            replace_bytes(copy / path, data, durable=False)
        if problems := _problems(rows, to, copy):
            raise PromotionError(f"lint refuses it: {problems[0]}")
    _put({to / path: data for path, data in changed.items()})
    return tuple(to / path for path in changed)


def _copied(source: Path, copy: Path) -> None:
    """Copy the files of a folder of fixtures."""
    for path in (*found_in(source), *source.glob(FROZEN)):
        target = copy / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def _changed(rows: list[Case], rules: tuple[Rule, ...], root: Path) -> dict[Path, bytes]:
    """The files with the new cases, relative to `root`; what a case names stands before the case."""
    first = rows[0]
    changed: dict[Path, bytes] = {}
    if rules:
        path = Path(first.format, "rules.toml")
        old = (root / path).read_bytes() if (root / path).exists() else b""
        changed[path] = old + "".join(map(rule_text, rules)).encode()
    path = Path(first.format, first.revision, f"{first.topic}.json")
    known = read(root / path) if (root / path).exists() else []
    page = page_of(first.format, first.revision, [*known, *rows])
    changed |= {path.parent / name: data for name, data in page.files.items()}
    changed[path] = page.text.encode()
    return changed


def _put(changed: dict[Path, bytes]) -> None:
    """Replace the files; if that is broken off, put back those that were replaced."""
    before: dict[Path, bytes | None] = {}
    try:
        for path, data in changed.items():
            before[path] = path.read_bytes() if path.exists() else None
            replace_bytes(path, data)
    except BaseException:
        for path, old in before.items():
            path.unlink(missing_ok=True) if old is None else replace_bytes(path, old)
        raise


def _problems(rows: list[Case], to: Path, copy: Path) -> list[Problem]:
    """What the linter reports of the new cases and their rules, in the copy of the fixtures `to`."""
    suite = load(own=copy) if to.resolve() == folder().resolve() else load((copy,))
    names = {case.id for case in rows} | {rule for case in rows for rule in case.rules}
    found = [one for one in lint(suite) if one.where in names or one.where.startswith(str(copy))]
    return [evolve(one, where=one.where.replace(str(copy), str(to), 1)) for one in found]

"""A finding written down as a fixture: twin, provenance and rule proposed, held to `lint` before it stays.

Design, section 3, the table of the fixture file. Nothing is written that the reference does not answer
alike three times in fresh processes, or of which it contradicts itself.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from wireproof import formats
from wireproof.cases.case import Accept, Case, Chunks, Data, Reject, Source, Value
from wireproof.cases.fixtures import Suite, folder, load, read
from wireproof.cases.lint import lint
from wireproof.cases.mutate import repair
from wireproof.cases.nearest import nearest
from wireproof.cases.needs import needs_of
from wireproof.cases.page import page_of
from wireproof.cases.problem import Problem
from wireproof.cases.rules import Rule
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
    """Write everything and lint it; put all back as it was if anything is wrong."""
    before: dict[Path, bytes | None] = {}
    try:
        for case in rows:
            _add(case, to, before)
        _add_rules(rules, rows[0], to, before)
        problems = _problems(rows, to)
    except Exception:
        _restored(before)
        raise
    if problems:
        _restored(before)
        raise PromotionError(f"lint refuses it: {problems[0]}")
    return tuple(before)


def _put(path: Path, data: bytes, before: dict[Path, bytes | None]) -> None:
    before.setdefault(path, path.read_bytes() if path.exists() else None)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _restored(before: dict[Path, bytes | None]) -> None:
    for path, data in before.items():
        if data is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(data)


def _add(case: Case, to: Path, before: dict[Path, bytes | None]) -> None:
    path = to / case.format / case.revision / f"{case.topic}.json"
    known = read(path) if path.exists() else []
    page = page_of(case.format, case.revision, [*known, case])
    for name, data in page.files.items():
        _put(path.parent / name, data, before)
    _put(path, page.text.encode(), before)


def _add_rules(rules: tuple[Rule, ...], case: Case, to: Path, before: dict[Path, bytes | None]) -> None:
    if not rules:
        return
    path = to / case.format / "rules.toml"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    _put(path, (text + "".join(map(rule_text, rules))).encode(), before)


def _problems(rows: list[Case], to: Path) -> list[Problem]:
    """What the linter says of the new cases and their rules."""
    suite = load(() if to.resolve() == folder().resolve() else (to,))
    names = {case.id for case in rows} | {rule for case in rows for rule in case.rules}
    return [one for one in lint(suite) if one.where in names or one.where.startswith(str(to))]

"""Every place says the same of a run: exit code, terminal, JUnit, Markdown, annotations, page and badge."""

import datetime as dt
import html as web
import io
import json
import re
from typing import Final
from xml.etree import ElementTree as ET

from attrs import evolve, field, frozen
from each import each
from rich.console import Console
from small_runs import FAIL, PASS, RUN, SKIP, event

from wireproof.cases.fixtures import Suite
from wireproof.pytest_run import PytestRun
from wireproof.report.html import html
from wireproof.report.junit import annotations, badge, junit, markdown
from wireproof.report.terminal import RunView, print_answer, print_run
from wireproof.run.baselines.baseline import NO_BASELINE, AppliedBaseline, applied_baseline
from wireproof.run.baselines.known_failures import Baseline
from wireproof.run.conclusion import conclusion_sentence, exit_code
from wireproof.run.events import CaseEvent, EventStream, Requirements, Run, footer_of
from wireproof.run.exit_codes import Exit

HEAD: Final = 'suite = "0.1.0"\ncases = "ab12"\nowner = "me"\nreason = "known"\n'
FIRST: Final = "0" * 32 + " must " + "0" * 16 + " added=0.1.0"
FROZEN: Final = {
    "toy.frame/v1/sum/new": FIRST.replace("0.1.0", "0.2.0"),
    "toy.frame/v1/sum/level": f"{FIRST} level=0.2.0",
    "toy.frame/v1/sum/expectation": f"{FIRST} expectation=0.2.0",
    "toy.frame/v1/sum/same": FIRST,
}
SUITE: Final = Suite(cases=(), rules={}, files={}, hash="", frozen=FROZEN, sources={})
UPGRADED: Final = evolve(RUN, suite="0.2.0")
LENIENT: Final = event(3, "kind/open", "lenient", level="should", rules=("toy.open",))
SET: Final = Requirements("2026.12:toy", "Toy reader")


def entry(name: str, kind: str, cls: str = "", more: str = "", expires: str = "2999-01-01") -> str:
    return (
        f'[[known-failure]]\nid = "toy.frame/v1/{name}"\nkind = "{kind}"\nclass = "{cls}"\n'
        f"expires = {expires}\n{more}"
    )


KNOWN: Final = entry("sum/wrong", "fail:wrong-accept", "crc-mismatch")
FIXED: Final = evolve(FAIL, verdict="pass", kind="exact", cls="", path="", at=None, want="", got="")
PAST: Final = KNOWN.replace("2999", "2020")
FLAKY: Final = KNOWN + "flaky = true\n"


@frozen
class Situation:
    """A run, the tables of its baseline (None without one), the exit code, and what every place says."""

    code: Exit
    cases: tuple[CaseEvent, ...]
    known: str | None = None
    run: Run = field(default=RUN)
    says: str = ""
    ended: bool = True
    lacks: tuple[str, ...] = ()

    @property
    def stream(self) -> EventStream:
        complete = not self.lacks and not any(one.verdict == "not-run" for one in self.cases)
        footer = footer_of(self.cases, complete=complete) if self.ended else None
        return EventStream(evolve(self.run, started="2026-11-28T09:00:00Z"), self.cases, footer, self.lacks)

    @property
    def applied(self) -> AppliedBaseline:
        if self.known is None:
            return NO_BASELINE
        return applied_baseline(self.stream, Baseline.of(HEAD + self.known, "known.toml"), SUITE)


def failure(name: str, **more: object) -> CaseEvent:
    return evolve(FAIL, seq=9, id=f"toy.frame/v1/{name}", **more)


OK, FAILS, USAGE, BASELINE, ADAPTER = Exit.CONFORMS, Exit.FAILS, Exit.USAGE, Exit.BASELINE, Exit.ADAPTER
BLOCKED: Final = event(4, "sum/after", "blocked", "toy.frame/v1/sum/wrong", twin="toy.frame/v1/sum/wrong")
SPENT: Final = event(5, "sum/late", "not-run", "spent", text="the adapter died too often")
LEFT: Final = event(5, "sum/late", "not-run", "interrupted", text="interrupted")
DERIVED: Final = failure("sum/wrong~flip:3")
DRAWN: Final = failure("property/decode~1:2")

SITUATIONS: Final = {
    "all pass": Situation(OK, (PASS,), says="conforms"),
    "a failure": Situation(FAILS, (PASS, FAIL), says="fails 1 of 2"),
    "a failure of no entry": Situation(FAILS, (PASS, FAIL), entry("x/y", "crash"), says="fails 1 of 2"),
    "a known failure": Situation(OK, (PASS, FAIL), KNOWN, says="but for 1 known failure"),
    "a known failure in another way": Situation(
        BASELINE, (PASS, evolve(FAIL, kind="wrong-class")), KNOWN, says="1 known failure fails in another way"
    ),
    "a stale entry": Situation(BASELINE, (PASS, FIXED), KNOWN, says="1 entry of the baseline out of date"),
    "a stale entry and a failure": Situation(FAILS, (FIXED, failure("sum/same")), KNOWN, says="fails 1 of 2"),
    "an entry whose case was not asked": Situation(OK, (PASS,), KNOWN, says="conforms"),
    "an expired entry": Situation(FAILS, (PASS, FAIL), PAST, says="fails 1 of 2"),
    "a flaky case fails": Situation(OK, (PASS, FAIL), FLAKY, says="but for 1 known failure"),
    "a flaky case passes": Situation(OK, (PASS, FIXED), FLAKY, says="conforms"),
    "a crash": Situation(FAILS, (PASS, event(1, "sum/wrong", "crash")), says="fails 1 of 2"),
    "a known crash that is a timeout": Situation(
        OK, (PASS, event(1, "sum/wrong", "timeout")), entry("sum/wrong", "crash"), says="1 known failure"
    ),
    "an error of the adapter": Situation(
        ADAPTER, (PASS, event(1, "sum/wrong", "adapter-error")), says="broke its contract in 1 case"
    ),
    "an error of the adapter in a known case": Situation(
        ADAPTER, (PASS, event(1, "sum/wrong", "adapter-error")), KNOWN, says="broke its contract in 1 case"
    ),
    "a fault of the suite": Situation(
        Exit.SUITE, (PASS, event(1, "sum/wrong", "suite-bug")), says="contradicts itself in 1 case"
    ),
    "left out, as it died too often": Situation(FAILS, (PASS, SPENT), says="1 case was not run"),
    "left out for another reason": Situation(ADAPTER, (PASS, LEFT), says="1 case was not run"),
    "nothing judged": Situation(USAGE, (SKIP,), says="no case was judged"),
    "no case": Situation(USAGE, (), says="no case was judged"),
    "broken off": Situation(ADAPTER, (PASS,), ended=False, says="incomplete"),
    "a shard is missing": Situation(ADAPTER, (PASS,), lacks=("shard 2/2 is missing",), says="shard 2/2"),
    "below the level": Situation(OK, (PASS, LENIENT), says="conforms"),
    "at the level should": Situation(FAILS, (PASS, LENIENT), run=evolve(RUN, level="should"), says="fails 1"),
    "a known failure of security": Situation(
        OK, (PASS, evolve(FAIL, flags=("security",))), KNOWN, says="1 known failure"
    ),
    "blocked by a known failure": Situation(FAILS, (PASS, FAIL, BLOCKED), KNOWN, says="fails 1 of 3"),
    "a set of requirements": Situation(
        FAILS, (PASS, FAIL), KNOWN, evolve(RUN, requirements=SET), "does not meet Toy reader"
    ),
    "large cases left out": Situation(
        OK, (PASS,), run=evolve(RUN, left_out={"toy.frame/v1/large": "must"}), says="1 large case left out"
    ),
    "a new case": Situation(FAILS, (PASS, failure("sum/new")), "", UPGRADED, "1 in new cases"),
    "another level": Situation(FAILS, (PASS, failure("sum/level")), "", UPGRADED, "1 in cases whose level"),
    "another expectation": Situation(
        FAILS, (PASS, failure("sum/expectation")), "", UPGRADED, "1 in cases whose expectation changed"
    ),
    "the codec, after an upgrade": Situation(
        FAILS, (PASS, failure("sum/same")), "", UPGRADED, "1 of the codec (baseline of 0.1.0, cases of 0.2"
    ),
    "other cases of the same release": Situation(
        FAILS, (PASS, failure("sum/same")), "", evolve(RUN, fixtures="cd"), "though both are of 0.1.0"
    ),
    "its base passes now": Situation(FAILS, (FIXED, DERIVED), KNOWN, says="1 in cases that are judged only"),
    "a known example": Situation(
        OK, (PASS, DRAWN), entry("property/decode~*", "fail:wrong-accept", "crc-mismatch"), says="1 known"
    ),
}  # fmt: skip


@each("name", SITUATIONS)
def test_every_place_agrees_with_the_exit_code(name: str) -> None:
    wanted = SITUATIONS[name]
    stream, applied = wanted.stream, wanted.applied
    code, red = exit_code(stream, applied), wanted.code is not Exit.CONFORMS
    assert code is wanted.code

    sentence = conclusion_sentence(stream, applied)
    good = sentence.startswith(("conforms", "meets"))
    assert good == (code in (Exit.CONFORMS, Exit.BASELINE) and "another way" not in sentence)

    console = Console(file=io.StringIO(), width=500)
    print_answer(stream, console, (), {}, (), applied)
    print_run(stream, console, RunView(applied=applied))
    terminal = console.file.getvalue()  # type: ignore[attr-defined]
    page = markdown([stream], [applied])
    for text in (
        terminal,
        web.unescape(re.sub(r"\\(.)", r"\1", page)),
        web.unescape(html([stream], baselines=[applied])),
    ):
        assert sentence in text
        assert wanted.says in text

    root = ET.fromstring(junit([stream], [applied]))
    assert bool([*root.iter("failure"), *root.iter("error")]) is red
    assert sum(
        int(suite.get(name, 0)) for suite in root.iter("testsuite") for name in ("failures", "errors")
    ) == len([*root.iter("failure"), *root.iter("error")])
    assert any(line.startswith("::error") for line in annotations(stream, applied)) is red
    colours = {Exit.CONFORMS: "brightgreen", Exit.FAILS: "red", Exit.BASELINE: "orange"}
    colour = colours.get(code, "lightgrey") if stream.complete else "lightgrey"
    assert json.loads(badge(stream, applied))["color"] == colour


def test_the_day_of_the_run_decides_which_entries_have_expired() -> None:
    wanted = SITUATIONS["an expired entry"]
    on_time = evolve(wanted, known=KNOWN.replace("2999-01-01", "2026-11-28"))
    late = evolve(wanted, known=KNOWN.replace("2999-01-01", "2026-11-27"))
    assert exit_code(on_time.stream, on_time.applied) is Exit.CONFORMS
    assert exit_code(late.stream, late.applied) is Exit.FAILS
    assert dt.date(2026, 11, 27) == late.applied.expired[0].expires


NOT_IN_PYTEST: Final = {
    "nothing judged": "its items are skipped, and the session fails",
    "no case": "pytest collects no item and ends with its own code",
    "broken off": "a run of pytest is never read from a file",
    "a shard is missing": "pytest has no shards",
    "a set of requirements": "pytest judges no named set",
}


@each("name", [name for name in SITUATIONS if name not in NOT_IN_PYTEST])
def test_an_item_of_pytest_fails_where_the_exit_code_is_not_0(name: str) -> None:
    wanted = SITUATIONS[name]
    known = Baseline.of(HEAD + wanted.known, "known.toml") if wanted.known is not None else Baseline(())
    names = {event.id.partition("~")[0] for event in wanted.cases if not event.is_property}
    run = PytestRun(
        "py:some:thing",
        SUITE,
        (),
        None,
        (),
        families=True,
        level=wanted.run.level,
        expected=known,
        chosen=names,
    )
    run.__dict__["head"] = wanted.stream.run
    for one in names:
        run.judged[one] = tuple(event for event in wanted.cases if event.id.partition("~")[0] == one)
    failures = [run.failure(one) for one in sorted(names)]
    assert any(failures) is (wanted.code is not Exit.CONFORMS)
    says = wanted.says.partition(" (")[0]
    if says.startswith("1 in") or says.endswith("of the codec"):
        assert any("  origin  " in text for text in failures)

"""The page of results: who meets which requirement set, by version, and what is wrong."""

import os
import re
from html import escape
from pathlib import Path

import pytest
from attrs import evolve
from chromium import Chromium
from goldens import load
from machine import needs
from small_runs import RUN, stream

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.steps import is_refused
from wireproof.report.html import template_file
from wireproof.report.level_results import (
    Level,
    implementations,
    levels_of,
    results_of,
    results_page,
    sections,
)
from wireproof.runner.events import EventStream, case_event, joined
from wireproof.runner.verdicts import Verdict

PASS = Verdict("pass", "canonical")
WRONG = Verdict("fail", "wrong-value", want="accept", got="<script>")
CRASH = Verdict("crash", text="exit code -11")
SKIP = Verdict("unsupported", text="claims no codec:zstd")


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load()


@pytest.fixture(scope="module")
def level(suite: Suite) -> Level:
    return next(one for one in levels_of(suite) if one.column == "consumer 1")


def must(level: Level, *, refused: bool) -> Case:
    cases = (case for case in level.required.cases if case.level == "must")
    return next(case for case in cases if is_refused(case) == refused and "security" not in case.flags)


def run_of(
    level: Level, name: str, version: str, verdicts: dict[str, Verdict] | None = None, **more: str
) -> EventStream:
    """A run over the cases of a set: all pass but those of `verdicts`."""
    known = verdicts or {}
    events = [case_event(n, case, known.get(case.id, PASS)) for n, case in enumerate(level.required.cases)]
    return stream(*events, run=evolve(RUN, **{"adapter": name, "spec": name, "version": version, **more}))


@pytest.mark.parametrize(
    ("verdict", "refused", "state", "concerns"),
    [
        (PASS, False, "met", {}),
        (SKIP, False, "open", {}),
        (WRONG, False, "fails", {"valid": 1}),
        (WRONG, True, "damaged", {"damaged": 1}),
        (CRASH, True, "fails", {"runaway": 1}),
        (Verdict("lenient"), True, "met", {}),
    ],
)
def test_the_state_of_a_set_is_that_of_its_must_cases(
    level: Level, verdict: Verdict, refused: bool, state: str, concerns: dict[str, int]
) -> None:
    run = run_of(level, "some", "1.0", {must(level, refused=refused).id: verdict})
    (one,) = implementations([level], [run])
    result = one.newest.levels[level.required.id]
    assert (result.state, dict(result.concerns)) == (state, concerns)


def test_a_run_of_few_cases_says_nothing_about_a_set_unless_one_is_wrong(level: Level) -> None:
    whole = run_of(level, "some", "1.0")
    few = evolve(whole, cases=whole.cases[:20])
    (one,) = implementations([level], [few])
    assert one.newest.levels[level.required.id].state == "unknown"
    assert not list(sections([level], [one]))


def test_a_set_is_judged_by_what_it_has_beside_the_sets_that_it_includes(suite: Suite) -> None:
    """Who reads Heka but never looks at a signature is no verifier, whatever it passes as a reader."""
    levels = {one.column: one for one in levels_of(suite)}
    reader, verifier = levels["reader"], levels["verifier"]
    for wrong in ({}, {must(reader, refused=True).id: WRONG}):
        (one,) = implementations([reader, verifier], [run_of(reader, "some", "1", wrong)])
        assert one.newest.levels[reader.required.id].state == ("damaged" if wrong else "met")
        assert one.newest.levels[verifier.required.id].state == "unknown"


def test_versions_are_in_order_and_the_last_run_of_each_counts(level: Level) -> None:
    case = must(level, refused=False)
    runs = [
        run_of(level, "some", "1.10", started="2026-01-03"),
        run_of(level, "some", "1.9", {case.id: WRONG}, started="2026-01-02"),
        run_of(level, "some", "1.10", {case.id: WRONG}, started="2026-01-01"),
    ]
    (one,) = implementations([level], runs)
    assert [version.version for version in one.versions] == ["1.9", "1.10"]
    assert not one.newest.wrong
    assert [event.id for event in one.versions[0].wrong] == [case.id]


def test_a_table_begins_with_the_best_and_names_who_can_be_chosen(level: Level) -> None:
    valid, damaged = must(level, refused=False).id, must(level, refused=True).id
    runs = [
        run_of(level, "bad", "1", {valid: WRONG}),
        run_of(level, "mild", "1", {damaged: WRONG}),
        run_of(level, "best", "1"),
    ]
    (section,) = sections([level], implementations([level], runs))
    assert [row.name for row in section.rows] == ["best", "mild", "bad"]
    (choice,) = section.choices
    assert (choice.nothing_wrong, choice.valid_right, choice.wrong) == (("best",), ("mild",), (("bad", 1),))


def test_of_those_that_are_wrong_the_box_names_the_least_wrong_first(level: Level) -> None:
    two = [case.id for case in level.required.cases if case.level == "must" and not is_refused(case)][:2]
    runs = [
        run_of(level, "a-two", "1", dict.fromkeys(two, WRONG)),
        run_of(level, "b-one", "1", {two[0]: WRONG}),
    ]
    (section,) = sections([level], implementations([level], runs))
    assert section.choices[0].wrong == (("b-one", 1), ("a-two", 2))


def test_whole_clients_and_codecs_are_two_tables_and_who_only_reads_is_not_worse_for_it(suite: Suite) -> None:
    levels = {one.column: one for one in levels_of(suite)}
    consumer, producer = levels["consumer 1"], levels["producer 1"]
    both = run_of(consumer, "kafka-python", "1", {must(consumer, refused=False).id: WRONG})
    both = evolve(both, cases=(*both.cases, *run_of(producer, "kafka-python", "1").cases))
    runs = [both, run_of(consumer, "kio", "1"), run_of(consumer, "aiokafka-client", "1")]
    found = list(sections([consumer, producer], implementations([consumer, producer], runs)))
    assert [(one.title, one.uses, [row.name for row in one.rows]) for one in found] == [
        ("Kafka clients", ("consumer",), ["aiokafka-client"]),
        ("Kafka codecs", ("consumer", "producer"), ["kio", "kafka-python"]),
    ]
    assert [row.language for one in found for row in one.rows] == ["Python"] * 3


def test_releases_of_a_client_that_does_not_tell_its_version_are_those_that_were_asked_for(
    level: Level,
) -> None:
    runs = [
        run_of(level, "aiokafka-client", "unknown", spec=f"aiokafka-client@{version}")
        for version in ("0.9.0", "0.14.0")
    ]
    (one,) = implementations([level], runs)
    assert [version.version for version in one.versions] == ["0.9.0", "0.14.0"]


def test_two_adapters_that_give_one_name_are_two_implementations(level: Level) -> None:
    runs = [run_of(level, "mine", "1", {}) for _ in range(2)]
    runs = [evolve(one, run=evolve(one.run, spec=f"exec:./{n}")) for n, one in enumerate(runs)]
    assert [one.name for one in implementations([level], runs)] == ["mine (exec:./0)", "mine (exec:./1)"]


def test_shards_of_one_run_are_one_column_and_a_shard_that_comes_again_is_the_next_run(level: Level) -> None:
    whole = run_of(level, "some", "1")
    halves = [
        evolve(whole, run=evolve(whole.run, shard=f"{k}/2"), cases=whole.cases[k - 1 :: 2], footer=None)
        for k in (1, 2)
    ]
    assert [len(one.cases) for one in joined([*halves, *halves])] == [len(whole.cases)] * 2


@pytest.fixture(scope="module")
def page_of_four_runs(suite: Suite, level: Level) -> str:
    """The page of three implementations, one of them in two versions."""
    case = must(level, refused=False)
    runs = [
        run_of(level, "some<thing", "1", {case.id: WRONG}),
        run_of(level, "other", "2"),
        run_of(level, "kio", "1.9", {case.id: WRONG}),
        run_of(level, "kio", "1.10"),
    ]
    return results_page(results_of(suite, runs))


def test_the_page_names_who_can_be_chosen_and_the_worst_finding_and_escapes_names(
    suite: Suite, level: Level, page_of_four_runs: str
) -> None:
    (box, *_) = re.findall(r'<div class="card">.*?</div>', page_of_four_runs, re.DOTALL)
    assert f"<h3>{level.use_text}</h3>" in box
    assert re.search(r"nothing wrong</span><b>kio, other</b>", box)
    assert "some&lt;thing (1)" in box
    rows = re.findall(r'<th scope="row">(.*?) <small', page_of_four_runs)
    assert rows == ["kio", "other", "some&lt;thing"]
    rule = suite.rules[must(level, refused=False).rules[0]]
    assert f'<span class="bad">gets valid data wrong</span>: {escape(rule.text)}' in page_of_four_runs
    assert page_of_four_runs.count('<span class="chip fails">✗ 1 wrong</span>') == 1
    assert '<td data-use="versions"><div>2</div></td>' in page_of_four_runs
    assert "<thing" not in page_of_four_runs


def test_who_is_judged_by_no_set_stands_apart(suite: Suite, level: Level) -> None:
    whole = run_of(level, "some", "1.0")
    page = results_page(results_of(suite, [evolve(whole, cases=whole.cases[:20])]))
    assert "Judged, but not by a requirement set" in page
    judged = sum(event.level == "must" for event in whole.cases[:20])
    assert f'<span class="chip met">{judged} of {judged}</span>' in page


# --- colours ---


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.2."""
    digits = colour * 2 if len(colour) == 3 else colour
    parts = [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("text", "ground"),
    [
        *(
            (text, ground)
            for text in ("ink", "dim", "good", "bad", "open", "mild")
            for ground in ("paper", "soft")
        ),
        *((text, f"{text}-soft") for text in ("good", "bad", "mild")),
    ],
)
def test_text_has_the_contrast_that_everybody_can_read(scheme: int, text: str, ground: str) -> None:
    """At least 4.5, which WCAG 2.2 asks for text of any size (AA)."""
    style = template_file("results.css")
    block = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[scheme]
    colours = dict(re.findall(r"--([\w-]+): #([0-9a-f]+)", block))
    one, other = sorted((luminance(colours[text]), luminance(colours[ground])))
    assert (other + 0.05) / (one + 0.05) >= 4.5


@pytest.mark.browser
@needs("chromium")
def test_the_page_works_from_a_file_on_a_phone_and_in_the_dark(
    suite: Suite, level: Level, tmp_path: Path
) -> None:
    """`PAGE_PICTURES=DIR` keeps what it looks like."""
    case = must(level, refused=False)
    runs = [run_of(level, f"codec-{n}", "1", {case.id: WRONG} if n % 2 else {}) for n in range(8)]
    page = tmp_path / "results.html"
    page.write_text(results_page(results_of(suite, runs)), encoding="utf-8")
    with Chromium(tmp_path) as browser:
        for name, width, dark in (("wide", 1400, False), ("dark", 1400, True), ("phone", 390, False)):
            browser.look(width, 900, dark=dark)
            browser.open(page, "document.readyState === 'complete'")
            assert browser.run("document.documentElement.scrollWidth") <= width
            assert browser.run("getComputedStyle(document.body).fontSize") == "15px"
            if folder := os.environ.get("PAGE_PICTURES"):
                browser.picture(Path(folder) / f"results-{name}.png")
        cells = "[...document.querySelectorAll('table.results *')]"
        cut = f"{cells}.some((one) => one.getBoundingClientRect().right > innerWidth)"
        assert not browser.run(cut), "on a phone a row is a list, and nothing is cut"
        browser.run("document.querySelector('input').focus()")
        browser.write("codec-3")
        shown = "[...document.querySelectorAll('tbody tr')].filter((row) => !row.hidden).length"
        assert browser.run(shown) == 1

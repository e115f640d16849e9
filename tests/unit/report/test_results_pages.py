"""The pages of results: who meets which requirement set, by version, what is wrong, and the search."""

import json
import os
import re
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
from wireproof.report.docs_site import Site, case_page, pages
from wireproof.report.implementation_answers import votes
from wireproof.report.level_results import Level, implementations, levels_of, sections
from wireproof.report.results_pages import implementation_page, results_of, trend_of
from wireproof.runner.event_files import EventStream, joined
from wireproof.runner.events import case_event
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
    return stream(*events, run=evolve(RUN, adapter=name, spec=name, version=version, **more))


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
    assert one.turns[case.id].fixed_in == "1.10"
    assert len(trend_of(one).dots) == 2


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
    assert (choice.nothing_wrong, choice.valid_right) == (("best",), ("mild",))


def test_shards_of_one_run_are_one_column_and_a_shard_that_comes_again_is_the_next_run(level: Level) -> None:
    whole = run_of(level, "some", "1")
    halves = [
        evolve(whole, run=evolve(whole.run, shard=f"{k}/2"), cases=whole.cases[k - 1 :: 2], footer=None)
        for k in (1, 2)
    ]
    assert [len(one.cases) for one in joined([*halves, *halves])] == [len(whole.cases)] * 2


def test_the_pages_lead_from_the_table_to_the_bytes_and_text_of_a_codec_is_escaped(
    suite: Suite, level: Level
) -> None:
    case = must(level, refused=False)
    runs = [run_of(level, "some/thing", "1", {case.id: WRONG}), run_of(level, "other", "2")]
    kept = evolve(suite, cases=(case,))
    site = dict(pages(Site(kept, votes(runs), {}, results_of(suite, runs))))
    assert f'href="{implementation_page("some/thing")}"' in site["results.html"]
    page = site[implementation_page("some/thing")]
    assert f'href="../{case_page(case.id)}"' in page
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert f"wireproof replay {case.id} some/thing" in page


def test_the_search_finds_implementations_rules_and_cases(suite: Suite, level: Level) -> None:
    case = must(level, refused=False)
    runs = [run_of(level, "some", "1")]
    site = dict(pages(Site(evolve(suite, cases=(case,)), votes(runs), {}, results_of(suite, runs))))
    index = site["search-index.js"]
    rows = json.loads(index.removeprefix("const ROWS = ").removesuffix(";\n"))
    assert ["implementation", "some", "1", implementation_page("some")] in rows
    assert {kind for kind, *_ in rows} >= {"rule", "case", "document", "format", "known bug"}
    assert not [page for *_, page in rows if re.sub("#.*", "", page) not in site]
    assert "<" not in index


@pytest.mark.browser
@needs("chromium")
def test_the_site_works_from_a_folder_on_a_phone_and_in_the_dark(
    suite: Suite, level: Level, tmp_path: Path
) -> None:
    """`PAGE_PICTURES=DIR` keeps what it looks like."""
    case = must(level, refused=False)
    runs = [
        run_of(level, "some", "1", {case.id: WRONG}),
        run_of(level, "some", "2"),
        run_of(level, "other", "2"),
    ]
    site = Site(evolve(suite, cases=(case,)), votes(runs), {}, results_of(suite, runs))
    for name, text in pages(site):
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    ready = "document.readyState === 'complete'"
    with Chromium(tmp_path) as browser:
        for name, width, dark in (("wide", 1400, False), ("dark", 1400, True), ("phone", 390, False)):
            browser.look(width, 900, dark=dark)
            for page in ("results.html", implementation_page("some"), "search.html"):
                browser.open(tmp_path / "site" / page, ready)
                assert browser.run("document.documentElement.scrollWidth") <= width
                assert browser.run("getComputedStyle(document.body).fontSize") == "15px"
                if folder := os.environ.get("PAGE_PICTURES"):
                    browser.picture(Path(folder) / f"{Path(page).stem}-{name}.png")
        browser.run("document.getElementById('words').focus()")
        browser.write(case.id)
        links = "[...document.querySelectorAll('#found a')].map((one) => one.getAttribute('href')).join()"
        assert browser.run(links) == case_page(case.id)

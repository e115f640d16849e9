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
from wireproof.cases.sources import cited
from wireproof.cases.steps import is_refused
from wireproof.report.docs_site import Site, case_page, pages
from wireproof.report.implementation_answers import votes
from wireproof.report.level_results import Level, implementations, levels_of, sections
from wireproof.report.results_pages import ANSWERS, implementation_page, results_of, trend_of
from wireproof.runner.event_files import EventStream, joined
from wireproof.runner.events import case_event
from wireproof.runner.verdicts import TABLE, Verdict

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


def test_every_verdict_that_is_a_finding_has_words() -> None:
    found = {
        f"{row.name}:{kind}" if kind else row.name
        for row in TABLE
        if row.gate in ("level", "runaway") and row.name != "blocked"
        for kind in row.kinds or ("",)
    }
    assert found == ANSWERS.keys()


@pytest.fixture(scope="module")
def pages_of_four_runs(suite: Suite, level: Level) -> dict[str, str]:
    """The site of three implementations, one of them in two versions, with one case."""
    case = must(level, refused=False)
    runs = [
        run_of(level, "some/thing", "1", {case.id: WRONG}),
        run_of(level, "other", "2"),
        run_of(level, "kio", "1.9", {case.id: WRONG}),
        run_of(level, "kio", "1.10"),
    ]
    results = results_of(suite, runs)
    return dict(pages(Site(evolve(suite, cases=(case,)), votes(results.newest), {}, results)))


def test_the_pages_lead_from_the_table_to_bytes_and_source_and_text_of_a_codec_is_escaped(
    suite: Suite, level: Level, pages_of_four_runs: dict[str, str]
) -> None:
    case = must(level, refused=False)
    assert f'href="{implementation_page("some/thing")}"' in pages_of_four_runs["results.html"]
    page = pages_of_four_runs[implementation_page("some/thing")]
    assert f'href="../{case_page(case.id)}"' in page
    (place, *_) = cited(suite.rules[case.rules[0]].cites, suite.sources)
    assert f'href="{place.url}"' in page
    assert ">wrong value<" in page
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert f"wireproof replay {case.id} some/thing" in page


def test_every_version_is_listed_and_a_case_shows_the_answers_of_the_newest(
    level: Level, pages_of_four_runs: dict[str, str]
) -> None:
    rows = re.findall(r'<th scope="row">(.*?)</th>', pages_of_four_runs["versions.html"])
    assert rows == ["1.10", "1.9", "2", "1"]
    shown = pages_of_four_runs[case_page(must(level, refused=False).id)]
    assert "kio 1.10" in shown
    assert "kio 1.9" not in shown


def test_the_search_finds_implementations_rules_and_cases(pages_of_four_runs: dict[str, str]) -> None:
    index = pages_of_four_runs["search-index.js"]
    rows = json.loads(index.removeprefix("const ROWS = ").removesuffix(";\n"))
    assert ["implementation", "other", "2", implementation_page("other")] in rows
    assert {kind for kind, *_ in rows} >= {"rule", "case", "document", "format", "known bug"}
    assert not [page for *_, page in rows if re.sub("#.*", "", page) not in pages_of_four_runs]
    assert "<" not in index


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
        *((text, f"{text}-soft") for text in ("good", "bad", "open", "mild")),
        ("ink", "mark"),
    ],
)
def test_text_has_the_contrast_that_everybody_can_read(
    suite: Suite, scheme: int, text: str, ground: str
) -> None:
    """At least 4.5, which WCAG 2.2 asks for text of any size (AA)."""
    style = next(page for name, page in pages(Site(evolve(suite, cases=()), {}, {})) if name == "style.css")
    block = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[scheme]
    colours = dict(re.findall(r"--([\w-]+): #([0-9a-f]+)", block))
    one, other = sorted((luminance(colours[text]), luminance(colours[ground])))
    assert (other + 0.05) / (one + 0.05) >= 4.5


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
    looked_at = (
        "index.html",
        "results.html",
        "versions.html",
        implementation_page("some"),
        case_page(case.id),
    )
    ready = "document.readyState === 'complete'"
    with Chromium(tmp_path) as browser:
        for name, width, dark in (("wide", 1400, False), ("dark", 1400, True), ("phone", 390, False)):
            browser.look(width, 900, dark=dark)
            for page in (*looked_at, "rules.html", "history.html", "search.html"):
                browser.open(tmp_path / "site" / page, ready)
                assert browser.run("document.documentElement.scrollWidth") <= width
                assert browser.run("getComputedStyle(document.body).fontSize") == "15px"
                if folder := os.environ.get("PAGE_PICTURES"):
                    browser.picture(Path(folder) / f"{Path(page).stem}-{name}.png")
        browser.run("document.getElementById('words').focus()")
        browser.write(case.id)
        links = "[...document.querySelectorAll('#found a')].map((one) => one.getAttribute('href')).join()"
        assert browser.run(links) == case_page(case.id)
        browser.look(390, 844)
        browser.open(tmp_path / "site" / "results.html", ready)
        cells = "[...document.querySelectorAll('table.results *')]"
        cut = f"{cells}.some((one) => one.getBoundingClientRect().right > innerWidth)"
        assert not browser.run(cut), "on a phone a row is a list, and nothing is cut"
        form = "(({action, method, q}) => [action, method, q.type])(document.querySelector('header form'))"
        search = (tmp_path / "site" / "search.html").as_uri()
        assert browser.run(form) == [search, "get", "search"]
        browser.ask("Page.navigate", url=f"{search}?q={case.id}")
        browser.wait(ready)
        assert browser.run(links) == case_page(case.id), "the field of every page leads to the search"

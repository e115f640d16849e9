"""What the page shows above its matrix, and what `diff` says of several versions."""

import datetime as dt
import re
from itertools import product
from pathlib import Path

import pytest
from attrs import evolve
from baselines import written
from command_line import Command
from each import each
from page_contents import data, shown
from small_runs import FAIL, PASS, RUN, SKIP, event, stored, stream

from wireproof.report.diff import histories
from wireproof.report.html import html, template_file
from wireproof.report.matrix import Column, Page, matrix
from wireproof.report.overview import Tally, findings, standing, tallies, tally, topic_grids, version_lines
from wireproof.report.uses import implementations
from wireproof.run.baselines.baseline import AppliedBaseline, apply
from wireproof.run.baselines.known_failures import parse_baseline
from wireproof.run.events import CaseEvent, EventStream

CRASH = event(7, "sum/crash", "crash", title="A crash", flags=("security",))
SOFT = event(8, "sum/soft", "fail", "wrong-accept", level="should")
OTHER = evolve(RUN, adapter="other", spec="other", version="2")


def baseline(run: EventStream, *events: CaseEvent) -> AppliedBaseline:
    """The baseline that expects these failures, applied to the run."""
    text = written(stream(*events), "me", "known", dt.date(2999, 1, 1))
    return apply(run, parse_baseline(text), dt.date(2026, 1, 1))


@each(
    "one, expected",
    [
        (PASS, "right"),
        (event(0, "a/b", "lenient"), "right"),
        (FAIL, "wrong"),
        (CRASH, "wrong"),
        (SOFT, "below"),
        (SKIP, "open"),
        (event(0, "a/b", "blocked", "toy.frame/v1/basic/good"), "open"),
        (event(0, "a/b", "adapter-error"), "open"),
    ],
)
def test_an_answer_counts_as_what_it_says_of_the_codec(one: CaseEvent, expected: str) -> None:
    assert standing(one, RUN) == expected


def test_a_tally_counts_known_failures_among_the_wrong_ones() -> None:
    found = tally([PASS, FAIL, CRASH, SOFT, SKIP], RUN, known={CRASH.id, SOFT.id, PASS.id})
    assert found == Tally(right=1, wrong=2, below=1, open=1, known=1)
    assert found.judged == 4


def test_a_heat_map_has_the_worst_topic_first_and_names_the_others() -> None:
    runs = [
        stream(PASS, FAIL, CRASH, SOFT, SKIP),
        stream(PASS, evolve(FAIL, verdict="pass", kind="canonical"), run=OTHER),
    ]
    columns = [Column(run.run, {}) for run in runs]
    more = evolve(FAIL, id="toy.frame/v1/more/one", seq=20)
    runs[1] = evolve(runs[1], cases=(*runs[1].cases, more))
    found = tallies(matrix(runs), columns)
    assert found["toy.frame/v1/sum"] == [Tally(wrong=2, below=1), Tally(right=1)]
    (grid,) = topic_grids(found, [column.name for column in columns])
    assert (grid.title, grid.heads) == ("toy.frame/v1", ["some 1.2", "other 2"])
    assert [(name, [cell.text for cell in cells]) for name, _, cells in grid.rows] == [
        ("sum", ["2", "✓"]),
        ("more", ["·", "1"]),
    ]
    assert grid.filters == ["toy.frame/v1/sum", "toy.frame/v1/more"]
    assert (grid.quiet, grid.untouched) == (["basic"], ["codec"])
    assert grid.rows[0][2][0].title == "2 of 3 wrong, 1 below the level of the run"
    assert grid.rows[0][2][0].style == "h5"


def test_a_finding_of_several_implementations_is_one_and_has_the_numbers_of_the_terminal() -> None:
    runs = [stream(PASS, FAIL, CRASH), stream(PASS, FAIL, run=OTHER)]
    first, second = findings(runs, ["some 1.2", "other 2"])
    assert (first.event, first.word) == (CRASH, "crashes"), "the most severe first"
    assert (second.event, second.word) == (FAIL, "wrong accept")
    assert [(place.name, place.numbers, place.count) for place in second.places] == [
        ("some 1.2", (2,), 1),
        ("other 2", (3,), 1),
    ]


def test_known_findings_come_last_without_a_number_however_severe_they_are() -> None:
    one, two = findings([stream(PASS, FAIL, CRASH)], ["some 1.2"], [{CRASH.id}])
    assert (one.event, one.known, one.places[0].numbers) == (FAIL, False, (1,))
    assert (two.event, two.known, two.places[0].numbers) == (CRASH, True, ())


def test_a_finding_counts_its_cases_by_their_weight() -> None:
    (one,) = findings(
        [stream(FAIL, evolve(FAIL, id=f"{FAIL.id}~flip:1", seq=5))], ["x"], weight=lambda e: e.seq
    )
    assert one.places[0].count == FAIL.seq + 5


def test_the_page_marks_known_failures_and_still_calls_them_failures() -> None:
    run = stream(PASS, FAIL, CRASH)
    page = html([run], Page("A run"), [baseline(run, CRASH)])
    answers = data(page)["answers"]
    known = {row["label"]: row["known"] for row in answers}
    assert known == {"pass:canonical": False, "fail:wrong-accept": False, "crash": True}
    assert "2 wrong of 3 judged, 1 of them known" in re.sub(r"\s+", " ", shown(page))
    assert '<li class="known">' in page
    fresh = html([run], Page("A run"))
    assert '<li class="known">' not in fresh


def test_a_new_failure_is_above_a_known_one_in_the_matrix() -> None:
    topics = matrix([stream(PASS, FAIL, CRASH)], [{CRASH.id}])
    (rows,) = (topic.rows for topic in topics if topic.name == "toy.frame/v1/sum")
    assert [(row.ids, row.known) for row in rows] == [((FAIL.id,), False), ((CRASH.id,), True)]


def test_a_family_with_a_new_failure_is_shown_by_it() -> None:
    known = evolve(CRASH, id=f"{FAIL.id}~flip:1")
    new = evolve(FAIL, id=f"{FAIL.id}~flip:2")
    (row,) = matrix([stream(known, new)], [{known.id}])[-1].rows
    assert (row.cells[0].event, row.cells[0].count, row.cells[0].known) == (new, 2, False)


def test_the_versions_of_an_implementation_are_a_line() -> None:
    runs = [
        stream(PASS, FAIL, CRASH, run=evolve(RUN, version="1.9")),
        stream(PASS, FAIL, run=evolve(RUN, version="1.10")),
        stream(PASS, run=OTHER),
    ]
    (line,) = version_lines(implementations([], runs), {})
    assert (line.name, line.versions, line.valid, line.damaged) == ("some", ["1.9", "1.10"], [2, 1], [0, 0])
    assert line.points(line.valid) == [(0.0, 0.0), (100.0, 20.0)]
    assert "<polyline" in html(runs)
    assert "<polyline" not in html(runs[1:])


def test_a_run_that_no_use_judges_has_a_bar() -> None:
    page = html([stream(PASS, FAIL, SKIP)])
    assert "Right and wrong answers" in page
    assert "1 wrong of 2 judged, 1 not judged" in re.sub(r"\s+", " ", shown(page))
    assert "Which implementation is safe" not in page


# --- colours ---


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.2."""
    digits = colour * 2 if len(colour) == 3 else colour
    parts = [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def colours(scheme: int) -> dict[str, str]:
    block = re.findall(r":root \{(.*?)\}", template_file("page.css"), re.DOTALL)[scheme]
    return dict(re.findall(r"--([\w-]+): #([0-9a-f]+)", block))


GROUNDS = [
    *product(("ink", "dim", "good", "bad", "open", "mild"), ("paper", "soft")),
    *((text, f"{text}-soft") for text in ("good", "bad", "mild")),
]
"""Colours of text, each with those that it stands on."""


@each("scheme, pair", product((0, 1), GROUNDS))
def test_text_has_the_contrast_that_everybody_can_read(scheme: int, pair: tuple[str, str]) -> None:
    """At least 4.5, which WCAG 2.2 asks for text of any size (AA)."""
    text, ground = (colours(scheme)[name] for name in pair)
    assert contrast(text, ground) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_a_number_can_be_read_on_every_shade_of_a_heat_map(scheme: int) -> None:
    found = colours(scheme)
    shades = [int(part) / 100 for part in re.findall(r"--part: (\d+)%", template_file("page.css"))]
    assert len(shades) == 5
    for shade in shades:
        mixed = (
            round(shade * int(found["bar-bad"][n : n + 2], 16) + (1 - shade) * int(paper[n : n + 2], 16))
            for paper in [found["paper"] * (6 // len(found["paper"]))]
            for n in (0, 2, 4)
        )
        assert contrast(found["ink"], "".join(f"{part:02x}" for part in mixed)) >= 4.5


# --- `diff` of several versions ---


MENDED = evolve(FAIL, verdict="pass", kind="canonical", cls="")


def run_of(version: str, *cases: CaseEvent, adapter: str = "some", started: str = "") -> EventStream:
    return stream(*cases, run=evolve(RUN, adapter=adapter, version=version, started=started))


def test_versions_go_by_their_numbers_and_a_candidate_before_its_release() -> None:
    names = ("3.0.12", "3.0.2", "2.10", "3.0.2rc1", "2.9.1")
    (one,) = histories([run_of(name, PASS) for name in names])
    assert one.versions == ("2.9.1", "2.10", "3.0.2rc1", "3.0.2", "3.0.12")


def test_the_first_version_that_fails_is_named_with_the_last_that_passed() -> None:
    (one,) = histories([run_of("3", FAIL), run_of("1", MENDED), run_of("2", FAIL), run_of("4", MENDED)])
    assert list(map(str, one.turns)) == [f"{FAIL.id}: fail:wrong-accept since 2, passed in 1, fixed in 4"]
    assert one.passed == {"1": (1, 1), "2": (0, 1), "3": (0, 1), "4": (1, 1)}


def test_a_case_that_breaks_twice_is_reported_twice_and_a_skipped_one_changes_nothing() -> None:
    skipped = evolve(SKIP, id=FAIL.id)
    runs = [run_of("1", FAIL), run_of("2", skipped), run_of("3", MENDED), run_of("4", FAIL)]
    (one,) = histories(runs)
    assert [(turn.first, turn.passed, turn.fixed_in) for turn in one.turns] == [
        ("1", "", "3"),
        ("4", "3", ""),
    ]
    assert one.passed["2"] == (0, 0)


def test_codecs_of_one_template_have_one_name_and_are_told_apart_by_their_command() -> None:
    mine = [
        evolve(one, run=evolve(one.run, spec=f"exec:{n}"))
        for n, one in enumerate([run_of("1", FAIL), run_of("1", MENDED)])
    ]
    assert [one.adapter for one in histories(mine)] == ["some (exec:0)", "some (exec:1)"]


def test_the_shards_of_a_version_are_one_run(wireproof: Command, tmp_path: Path) -> None:
    shards = [stream(case, run=evolve(RUN, shard=f"{n}/2")) for n, case in enumerate((PASS, FAIL), 1)]
    path = stored(tmp_path / "shards.jsonl", *shards, run_of("1.1", PASS))
    assert "some 1.2: 1 of 2 pass" in wireproof("diff", path).out


def test_each_implementation_has_a_history_of_its_own(wireproof: Command, tmp_path: Path) -> None:
    family = evolve(FAIL, id=f"{FAIL.id}~flip:1")
    runs = [run_of("1", MENDED), run_of("2", FAIL, family), run_of("1", PASS, adapter="other")]
    for number, one in enumerate(runs):
        stored(tmp_path / f"{number}.jsonl", one)
    done = wireproof("diff", *sorted(tmp_path.glob("*.jsonl")), code=1)
    assert done.out.splitlines() == [
        "other 1: 1 of 1 pass",
        "some 1: 1 of 1 pass",
        "some 2: 0 of 2 pass",
        f"some: {FAIL.id}: fail:wrong-accept since 2, passed in 1",
        "some: and 1 of damaged families",
    ]
    alone = wireproof("diff", tmp_path / "1.jsonl")
    assert (alone.code, "nothing to compare" in alone.one_line()) == (2, True)

"""The table of rules × implementations: `check` and `report` write it by `--by-rule`."""

import os
import re
from pathlib import Path

import pytest
from attrs import evolve
from chromium import Chromium
from command_line import Command
from machine import needs
from small_runs import RUN, event, stream

from wireproof.cases.fixtures import Suite
from wireproof.cases.rules import Rule
from wireproof.cases.sources import SourceDocument
from wireproof.report.rule_page import rule_html, rule_markdown
from wireproof.report.rule_table import RuleTable, behaviour_of, changed_fields, rule_table
from wireproof.runner.event_files import EventStream, EventWriter
from wireproof.runner.events import CaseEvent

HOSTILE = "<script>alert(1)</script>|`[x](y)\x1b[31m"
SUM = Rule("toy.sum", "refusing", "The sum | is right.", "toy.md", "§2.10", cites=("toy:sum", "other"))
SIZE = Rule("toy.size", "value", "The size <counts> the body.", "toy.md", "§2.9")
SOURCES = {
    "toy": SourceDocument("Toy 1.0", "text", "https://toy.example/", {"sum": "#sum"}),
    "other": SourceDocument("The toys of others", "text", "https://other.example/"),
}
SUITE = Suite((), {SUM.id: SUM, SIZE.id: SIZE}, {}, "ab12", sources=SOURCES)
REFUSED = event(0, "sum/wrong", "pass", "canonical", cls="crc-mismatch", detail="BAD_SUM", rules=("toy.sum",))
LENIENT = evolve(REFUSED, verdict="lenient", kind="", level="should", detail="")
ACCEPTED = event(1, "sum/good", "pass", "canonical", rules=("toy.sum", "toy.size"))


def of(name: str, *cases: CaseEvent) -> EventStream:
    return stream(*cases, run=evolve(RUN, adapter=name, spec=f"py:{name}:{name}"))


def cells(table: RuleTable, rule: str) -> list[list[str]]:
    (row,) = (row for row in table.rows if row.rule.id == rule)
    return [[f"{one.mark} {one.count} {one.text}" for one in cell] for cell in row.cells]


def test_a_row_is_a_rule_and_a_cell_is_what_an_implementation_does() -> None:
    table = rule_table([of("strict", REFUSED, ACCEPTED), of("loose", LENIENT)], SUITE)
    assert table.columns == ("strict 1.2", "loose 1.2")
    assert cells(table, "toy.sum") == [
        ["✓ 1 refuses: BAD_SUM", "✓ 1 accepts"],
        ["△ 1 accepts what should be refused"],
    ]
    assert cells(table, "toy.size") == [["✓ 1 accepts"], []]
    assert [row.rule.id for row in table.rows] == ["toy.size", "toy.sum"], "§2.9 is before §2.10"
    assert [row.quiet for row in table.rows] == [True, False]
    assert [row.levels for row in table.rows] == [("must",), ("must", "should")]


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        (evolve(REFUSED, detail=""), "refuses: crc-mismatch"),
        (evolve(REFUSED, verdict="undocumented"), "refuses, with an undocumented error: BAD_SUM"),
        (evolve(REFUSED, verdict="fail", kind="wrong-reason"), "refuses, for another reason: BAD_SUM"),
        (evolve(REFUSED, verdict="fail", kind="wrong-reject"), "refuses what must be accepted: BAD_SUM"),
        (evolve(REFUSED, verdict="fail", kind="wrong-accept", detail=""), "accepts what must be refused"),
        (evolve(REFUSED, verdict="info", kind="toy-open"), "refuses: BAD_SUM: toy-open"),
        (event(0, "a", "info", "toy-open"), "accepts: toy-open"),
        (event(0, "a", "blocked", "toy/twin", detail="BAD"), "refuses, as it refuses the accepted twin: BAD"),
        (event(0, "a", "fail", "over-read"), "over read"),
        (event(0, "a", "timeout"), "no answer in time"),
        (event(0, "a", "unsupported"), "not claimed"),
    ],
)
def test_a_behaviour_is_described_in_words_that_many_cases_share(seen: CaseEvent, text: str) -> None:
    assert behaviour_of(seen) == text
    assert changed_fields(seen) == ()


def test_fields_that_differ_in_the_same_cases_are_one_line_and_the_worst_is_first() -> None:
    wrong = evolve(ACCEPTED, verdict="fail", kind="wrong-value", path="body[0]", fields=("body[]", "size"))
    others = (evolve(wrong, id="b"), evolve(wrong, id="c", fields=("body[]", "size", "sum")), ACCEPTED)
    table = rule_table([of("one", wrong, *others)], SUITE)
    assert cells(table, "toy.size") == [
        ["✗ 3 another value of body[], size", "✗ 1 another value of sum", "✓ 1 accepts"]
    ]
    derived = evolve(wrong, fields=(), path="records[3].key")
    assert changed_fields(derived) == ("records[].key",)
    assert changed_fields(evolve(derived, path="")) == ("the result",)


def test_two_runs_of_one_name_are_told_apart_by_their_address() -> None:
    runs = [evolve(of("same", ACCEPTED), run=evolve(RUN, spec=spec)) for spec in ("host:1", "host:2")]
    assert rule_table(runs, SUITE).columns == ("some 1.2 (host:1)", "some 1.2 (host:2)")


def test_a_behaviour_names_how_to_replay_its_first_cases_and_counts_the_others() -> None:
    many = [evolve(LENIENT, id=f"toy.frame/v1/sum/{number}") for number in range(7)]
    ((cell,),) = ([row.cells[0] for row in rule_table([of("loose", *many)], SUITE).rows],)
    assert cell[0].replays[0] == "wireproof replay toy.frame/v1/sum/0 py:loose:loose"
    assert (cell[0].count, len(cell[0].replays), cell[0].more) == (7, 5, 2)


def test_a_rule_that_the_fixtures_do_not_have_is_shown_by_its_id() -> None:
    table = rule_table([of("one", evolve(ACCEPTED, rules=("gone",)))], SUITE)
    assert "gone" in rule_html(table, "t", "a")
    assert "`gone`" in rule_markdown(table, "t", "a")


def test_markdown_has_a_line_for_each_rule_with_its_sources() -> None:
    table = rule_table([of("strict", REFUSED), of("loose", LENIENT)], SUITE)
    (line,) = (line for line in rule_markdown(table, "title", "about").splitlines() if "toy.sum" in line)
    assert line == (
        "| The sum \\| is right. §2.10 `toy.sum` | must, should | ✓ 1 refuses: BAD\\_SUM "
        "| △ 1 accepts what should be refused "
        "| [Toy 1.0](<https://toy.example/#sum>), [2](<https://other.example/>) |"
    )


def test_texts_of_an_adapter_are_only_shown() -> None:
    seen = evolve(REFUSED, detail=HOSTILE, rules=("toy.sum", HOSTILE))
    table = rule_table([of(HOSTILE, seen)], SUITE)
    page, text = rule_html(table, HOSTILE, HOSTILE), rule_markdown(table, HOSTILE, HOSTILE)
    assert "\x1b" not in page + text
    assert "<script" not in page
    assert re.search(r"(?<!\\)<script", re.sub("`[^`]*`", "", text)) is None, "escaped, or in code"
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 5 for line in text.splitlines() if "BAD" in line)


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    file = tmp_path / "run.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for name in ("strict", "loose"):
            writer = EventWriter(out, evolve(RUN, adapter=name))
            writer.case(REFUSED if name == "strict" else LENIENT)
            writer.footer()
    return file


def test_report_writes_the_table_in_the_form_of_each_file_name_and_prints_it(
    run_file: Path, wireproof: Command
) -> None:
    page, text = run_file.with_suffix(".html"), run_file.with_suffix(".md")
    options = ("--quiet", "--by-rule", str(page), "--by-rule", str(text), "--by-rule", "-")
    done = wireproof("report", run_file, *options)
    assert done.code == 0, done.out
    assert "<table>" in page.read_text(encoding="utf-8")
    assert "refuses: BAD\\_SUM" in text.read_text(encoding="utf-8")
    assert text.read_text(encoding="utf-8") in done.out


def test_a_file_name_of_another_form_is_refused_before_anything_runs(
    run_file: Path, wireproof: Command
) -> None:
    done = wireproof("report", run_file, "--by-rule", "table.csv")
    assert done.code == 2
    assert "table.csv must end with .html or .md, or be -" in done.err


@pytest.mark.browser
@needs("chromium")
def test_a_phone_stacks_the_columns_and_one_box_hides_the_rules_that_nobody_breaks(tmp_path: Path) -> None:
    """`PAGE_PICTURES=DIR` keeps what it looks like."""
    runs = [of("strict", REFUSED, ACCEPTED), of("loose", LENIENT, evolve(ACCEPTED, rules=("toy.size",)))]
    file = tmp_path / "rules.html"
    file.write_text(rule_html(rule_table(runs, SUITE), "Two", "about"), encoding="utf-8")
    seen = "[...document.querySelectorAll('tbody th[scope=row]')].filter((one) => one.offsetHeight).length"
    names = "[...document.querySelectorAll('.who')].filter((one) => one.offsetHeight).length"
    with Chromium(tmp_path) as browser:
        for name, width, dark in (("wide", 1500, False), ("dark", 1500, True), ("phone", 390, False)):
            browser.look(width, 900, dark=dark)
            browser.open(file, "document.readyState === 'complete'")
            assert browser.run("document.documentElement.scrollWidth") <= width
            assert browser.run(names) == (4 if name == "phone" else 0), "each cell names its column"
            assert browser.run(seen) == 2
            browser.run("document.getElementById('loud').click()")
            assert browser.run(seen) == 1
            if folder := os.environ.get("PAGE_PICTURES"):
                browser.picture(Path(folder) / f"rules-{name}.png")

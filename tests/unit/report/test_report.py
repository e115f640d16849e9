"""The views of a run: architecture.md#events."""

import datetime as dt
import io
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

from attrs import evolve
from baselines import written
from each import each
from page_contents import data, rows, shown
from rich.console import Console
from small_runs import FAIL, PASS, RUN, SKIP, event, stream
from toy_format import (
    BAD_CASE,
    GOOD_CASE,
    toy,  # noqa: F401 - pytest finds the fixture here
)

from wireproof import formats
from wireproof.cases.case import Case
from wireproof.cases.rules import Rule
from wireproof.inspect.field_listing import field_lines
from wireproof.inspect.hexdump import excerpt_of
from wireproof.report.diff import diff
from wireproof.report.failure_groups import LINES, failure_groups_of, failure_lines, heading
from wireproof.report.html import Page, html
from wireproof.report.junit import annotations, badge, junit, markdown
from wireproof.report.matrix import matrix
from wireproof.report.terminal import RunView, print_answer, print_run, total_failure
from wireproof.run.baselines.baseline import AppliedBaseline, apply
from wireproof.run.baselines.known_failures import parse_baseline
from wireproof.run.events import CaseEvent, EventStream

CASES = {GOOD_CASE.id: GOOD_CASE, BAD_CASE.id: BAD_CASE}
HOSTILE = "<b>&\"'\x00\x1b[31m\ud800\ufffe]]>--><script>alert(1)</script>[red]`|"
NASTY = evolve(
    FAIL, id="toy.frame/v1/sum/nasty", title=HOSTILE, want=HOSTILE, got=HOSTILE, text=HOSTILE, cls="x"
)


def lookup(one: CaseEvent) -> Case | None:
    return CASES.get(one.id)


def twins(one: CaseEvent) -> Case | None:
    return CASES.get(one.twin)


def printed(run: EventStream, view: RunView | None = None) -> str:
    console = Console(file=io.StringIO(), width=200, color_system=None)
    print_run(run, console, view)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def many(count: int, *, first: int = 10, **fields: object) -> list[CaseEvent]:
    return [evolve(FAIL, id=f"{FAIL.id}~flip:{n}", seq=first + n, **fields) for n in range(count)]


# --- groups ---


def test_failures_with_one_signature_are_one_group_shown_by_its_golden_case() -> None:
    (group,) = failure_groups_of(stream(PASS, *many(37), FAIL))
    assert (group.first, len(group.others)) == (FAIL, 37)


@each("fields, cause", [
    ({}, "wrong-accept crc-mismatch"),
    ({"kind": "wrong-value", "cls": "", "path": "records[3].key"}, "wrong-value records[].key"),
    ({"kind": "wrong-reject", "cls": "other", "path": ""}, "wrong-reject"),
    ({"kind": "wrong-value", "cls": "", "path": "unreadable", "got": 'unreadable = "crc-mismatch at 17: 1"',
      "fields": ("unreadable", "batches.length")}, "wrong-value unreadable: crc-mismatch"),
    ({"kind": "wrong-value", "broken": "kafka.append.crc"}, "kafka.append.crc"),
])  # fmt: skip
def test_the_heading_of_a_failure_is_its_cause(fields: dict[str, object], cause: str) -> None:
    assert heading(evolve(FAIL, **fields)) == f"FAIL  {FAIL.id}  {cause}  must reader"  # type: ignore[arg-type]


def test_a_total_failure_names_the_rule_that_most_answers_break() -> None:
    broken = evolve(
        FAIL, kind="wrong-value", broken="kafka.append.crc", got="crc-mismatch at 17", text="breaks it"
    )
    paragraph = total_failure(stream(*(evolve(broken, id=f"{FAIL.id}~flip:{n}", seq=n) for n in range(6))))
    assert paragraph == "None of 6 cases passes; 6 break kafka.append.crc. The first one: crc-mismatch at 17."


def test_security_failures_come_first_and_a_baseline_does_not_hide_them() -> None:
    alarm = evolve(FAIL, id="toy.frame/v1/sum/alarm", seq=5, cls="auth-failed", flags=("security",))
    run = stream(PASS, FAIL, alarm)
    assert [group.first.id for group in failure_groups_of(run)] == [alarm.id, FAIL.id]
    assert printed(run).index("alarm") < printed(run).index(FAIL.id)
    known_failures = parse_baseline(written(stream(alarm), "me", "known", dt.date(2999, 1, 1)))
    owed = printed(run, RunView(applied=apply(run, known_failures, dt.date(2026, 1, 1))))
    assert f"security, in the baseline: {alarm.id}" in owed
    assert f"wireproof replay {alarm.id}" in owed
    first = matrix([run])[0]
    assert (first.name, [row.ids for row in first.rows]) == ("security", [(alarm.id,)])
    assert matrix([stream(PASS, FAIL)])[0].name != "security"


def test_valid_data_that_is_read_otherwise_comes_before_damaged_data_that_is_accepted() -> None:
    lost = evolve(FAIL, id="toy.frame/v1/sum/lost", seq=99, kind="wrong-value", cls="", path="key")
    kinds = failure_groups_of(stream(PASS, FAIL, *many(8), lost))
    assert [(kind.first.id, len(kind.others)) for kind in kinds] == [(lost.id, 0), (FAIL.id, 8)]


def test_a_block_is_counted_at_its_root() -> None:
    root = event(0, "basic/good", "fail", "wrong-reject", cls="other")
    blocked = [event(n, f"sum/{n}", "blocked", root.id) for n in range(1, 4)]
    (group,) = failure_groups_of(stream(root, *blocked))
    assert (group.first, group.blocks) == (root, 3)
    out = io.StringIO()
    print_answer(stream(root, *blocked), Console(file=out, width=200), [group], {(RUN.spec, group.kind): 1})
    assert "fails 4 of 4 judged cases" in out.getvalue()
    assert "1 kind of failure in 1 case, which block 3 refusals:" in out.getvalue()


def test_what_the_baseline_expects_and_what_gates_nothing_is_no_finding() -> None:
    soft = evolve(FAIL, level="may")
    assert failure_groups_of(stream(PASS, SKIP, soft)) == ()
    assert failure_groups_of(stream(FAIL), {FAIL.id: "expected"}) == ()
    assert len(failure_groups_of(stream(FAIL), {FAIL.id: "changed"})) == 1


# --- bytes and fields ---


def test_an_excerpt_marks_the_field_and_names_the_byte_of_the_twin() -> None:
    found = excerpt_of(BAD_CASE, 4, "sum", GOOD_CASE)
    assert found.bytes == "0000  02 01 61 6b│cd│"
    assert found.caret == " " * found.bytes.index("cd") + "^^ sum; the accepted twin has cc"


@each("at", [None, 99, "junk", "7>3", -1])
def test_an_excerpt_of_no_place_is_none(at: int | str | None) -> None:
    assert excerpt_of(BAD_CASE, at, "nothing") is None


def test_a_field_tree_has_offsets_and_marks_the_place() -> None:
    layout = formats.decode_with_trace(formats.FORMATS["toy.frame/v1"], bytes.fromhex("0201616bcc"))
    rows = [(line.at, line.size, line.name, line.marked) for line in field_lines(layout, 3)]
    assert rows == [
        ("0", 1, "size", False),
        ("1", 1, "kind", False),
        ("2", 2, "body", True),
        ("4", 1, "sum", False),
    ]
    assert [line.cover for line in field_lines(layout)][-1] == "crc32 of 2..3"


# --- terminal ---


def test_a_failure_is_whole_in_twelve_lines() -> None:
    (group,) = failure_groups_of(stream(evolve(FAIL, text="something"), *many(12)))
    rows = failure_lines(group, RUN, lookup, twins)
    assert len(rows) <= LINES
    assert rows[0].startswith("FAIL  toy.frame/v1/sum/wrong")
    text = "\n".join(rows)
    parts = ("The sum is wrong by one", "toy.sum", "refuse crc-mismatch at 4", "accept, 5 bytes", "│cd│")
    more = ("twin has cc", "12 more like it", "wireproof replay toy.frame/v1/sum/wrong py:some:thing")
    for part in (*parts, *more):
        assert part in text
    (at,) = (number for number, row in enumerate(rows) if "│cd│" in row)
    assert rows[at + 1].index("^^") == rows[at].index("cd")


def test_the_terminal_sends_no_control_signs_and_reads_no_markup() -> None:
    text = printed(stream(PASS, NASTY))
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", text)
    assert "[red]" in text
    assert "\\x1b[31m" in text


def test_a_run_in_which_everything_fails_is_one_paragraph_and_one_finding() -> None:
    run = stream(
        *many(20, kind="wrong-reject", cls="other"), *[event(n, f"a/b{n}", "crash") for n in range(3)]
    )
    assert "None of 23 cases passes; 20 end as fail:wrong-reject" in total_failure(run)
    assert printed(run).count("\n  replay") == 1
    assert total_failure(stream(PASS, *many(20))) == ""
    opened = [event(n, f"open/{n}", "info", "some") for n in range(90, 97)]
    assert "20 end as" in total_failure(stream(*opened, *many(20)))
    assert total_failure(stream(*opened)) == ""


# --- JUnit ---


def test_junit_is_read_back_by_a_strict_parser_whatever_the_texts_hold() -> None:
    root = ET.fromstring(junit([stream(PASS, FAIL, SKIP, NASTY, event(7, "x/y", "crash", text="signal 11"))]))
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert {name: [child.tag for child in case] for name, case in cases.items()} == {
        PASS.id: [],
        FAIL.id: ["failure"],
        SKIP.id: ["skipped"],
        NASTY.id: ["failure"],
        "toy.frame/v1/x/y": ["error"],
    }
    body = cases[NASTY.id][0].text or ""
    assert "<b>&\"'\\x00\\x1b[31m\\xd800\\xfffe]]>--><script>" in body
    assert (cases[NASTY.id][0].get("message") or "").startswith("<b>&\"'\\x00")


def test_junit_has_one_case_for_all_derived_cases_of_a_family() -> None:
    flips = [
        evolve(FAIL if n % 3 else PASS, id=f"{PASS.id}~flip:{n}", seq=n, ns=1_000_000) for n in range(2, 9)
    ]
    cuts = [evolve(PASS, id=f"{PASS.id}~cut:{n}", seq=n) for n in range(9, 12)]
    known = AppliedBaseline({one.id: "expected" for one in flips})
    for applied, tags in ((AppliedBaseline({}), ["failure"]), (known, ["skipped"])):
        root = ET.fromstring(junit([stream(PASS, *flips, *cuts)], [applied]))
        cases = {case.get("name"): case for case in root.iter("testcase")}
        assert list(cases) == [PASS.id, f"{PASS.id}~flip", f"{PASS.id}~cut"]
        flip = cases[f"{PASS.id}~flip"]
        assert ([child.tag for child in flip], flip.get("time")) == (tags, "0.007000")
        assert [child.tag for child in cases[f"{PASS.id}~cut"]] == []
        assert root.find(".//testsuite").get("tests") == "3"
    assert "; and 4 more" in junit([stream(PASS, *flips)]).decode()


# --- Markdown ---


def test_markdown_fits_a_comment_whatever_the_run() -> None:
    runs = [
        stream(
            PASS, *many(5), *[event(n, f"t/c{n}", "fail", "wrong-value", path=f"p{n}") for n in range(300)]
        )
    ] * 3
    text = markdown(runs)
    assert len(text.splitlines()) <= 60
    assert "more findings" in text


def test_markdown_shows_texts_and_not_markup() -> None:
    text = markdown([stream(PASS, NASTY)])
    assert not re.search(r"(?<!\\)<(b|script)>", text)
    rows = [row for row in text.splitlines() if row.startswith("| `")]
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [7]


# --- HTML ---


class Parsed(HTMLParser):
    """Collects tags, and refuses tags that do not close in order."""

    VOID = frozenset({"meta", "input", "br", "link"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(text: str) -> Parsed:
    page = Parsed()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def test_html_is_well_formed_and_holds_bytes_fields_rule_twin_and_replay_line() -> None:
    rule = Rule("toy.sum", "refusing", "The last byte is the sum of the body.", "toy", "1")
    page = html([stream(PASS, FAIL, SKIP)], Page("A run", lookup, CASES, {rule.id: rule}))
    parsed(page)
    parts = ("A run", "02 01 61 6b cd", "02 01 61 6b cc", "refused", rule.text, "toy 1")
    for part in (*parts, "wireproof replay toy.frame/v1/sum/wrong", "toy.sum"):
        assert part in shown(page), part
    assert rows(page) == [
        ([PASS.id], ["pass:canonical"]), ([SKIP.id], ["unsupported"]), ([FAIL.id], ["fail:wrong-accept"])
    ]  # fmt: skip


def test_html_marks_the_byte_and_the_line_that_a_verdict_is_about() -> None:
    tree = data(html([stream(PASS, FAIL)], Page("A run", lookup, CASES)))
    (wrong,) = (row for row in tree["answers"] if row["label"] == "fail:wrong-accept")
    case = tree["cases"][FAIL.id]
    assert (wrong["start"], wrong["end"]) == (4, 5)
    assert case["tree"][wrong["line"]][3] == "sum"
    assert case["twin"] == GOOD_CASE.id in tree["cases"]


def test_html_takes_nothing_from_the_network_and_runs_no_text() -> None:
    text = html([stream(PASS, NASTY)], Page(HOSTILE, lookup))
    page = parsed(text)
    assert [tag for tag, _ in page.seen].count("script") == 2, "the data and what draws it"
    assert not [attrs for _, attrs in page.seen if "src" in attrs or "onload" in attrs]
    assert all(attrs["href"].startswith("#") for _, attrs in page.seen if "href" in attrs)
    assert "http://" not in text
    assert "https://" not in text
    assert "<script>alert" not in text
    assert "innerHTML" not in text
    text.encode("utf-8")


def test_html_folds_rows_with_the_same_results() -> None:
    cases = [event(n, f"same/c{n}", "pass", "canonical") for n in range(2000)]
    other = [
        evolve(one, verdict="fail", kind="wrong-value") if n == 7 else one for n, one in enumerate(cases)
    ]
    (topic,) = matrix([stream(*cases), stream(*other)])
    assert [len(row.ids) for row in topic.rows] == [1, 1999], "what is wrong comes first"
    text = html([stream(*cases), stream(*other)])
    assert len(text) < 200_000
    assert [len(ids) for ids, _ in rows(text)] == [1, 1999]


def test_html_replays_a_derived_case_by_its_id_and_any_other_by_its_token() -> None:
    derived = evolve(FAIL, id=f"{BAD_CASE.id}~flip:3", token="wp1:long")
    strange = evolve(FAIL, id="else/v1/x/y~flip:3", token="wp1:other")
    answers = data(html([stream(derived, strange)], Page("A run", lookup, CASES)))["answers"]
    assert [one["replay"] for one in answers] == [
        "wireproof replay wp1:other py:some:thing",
        "wireproof replay 'toy.frame/v1/sum/wrong~flip:3' py:some:thing",
    ]


# --- badge and annotations ---


def test_a_badge_counts_what_was_judged_and_says_what_was_not_claimed() -> None:
    seen = stream(PASS, SKIP)
    assert json.loads(badge(seen))["message"] == "1 of 1, 1 unsupported"
    assert json.loads(badge(stream(PASS)))["message"] == "1 of 1"
    assert json.loads(badge(stream(PASS, FAIL, SKIP)))["color"] == "red"
    assert json.loads(badge(stream(PASS, complete=False)))["message"] == "incomplete"
    assert json.loads(badge(stream(SKIP)))["message"].startswith("unsupported")


def test_annotations_are_one_line_each_and_end_nothing_early() -> None:
    nasty = evolve(FAIL, want="a\n::error::b", got="50%", text="x", kind="wrong-accept")
    (line,) = annotations(stream(nasty))
    title = "toy.frame/v1/sum/wrong%3A fail%3Awrong-accept"
    facts = "must, reader%0Awant a%0A\\x3a:error::b%0Agot 50%25%0A"
    assert line.startswith(f"::error title={title}::{facts}")
    assert "\n" not in line


def test_annotations_that_would_be_dropped_are_counted() -> None:
    lines = annotations(
        stream(*[event(n, f"t/{n}", "fail", "wrong-value", path=f"p{chr(97 + n)}") for n in range(14)])
    )
    assert len(lines) == 10
    assert lines[-1].endswith("5 more findings")


# --- diff ---


def test_a_diff_lists_fixed_broken_changed_added_and_removed_cases() -> None:
    old = stream(PASS, FAIL, SKIP, event(4, "gone/x"), event(5, "stays/x", "fail", "wrong-value", path="a"))
    new = stream(
        evolve(PASS, verdict="crash", kind=""),
        evolve(FAIL, verdict="pass", kind="canonical"),
        SKIP,
        event(5, "stays/x", "fail", "wrong-value", path="b"),
        event(6, "new/x"),
    )
    found = diff(old, new)
    parts = {
        name: [change.id for change in getattr(found, name)]
        for name in ("fixed", "broken", "changed", "added", "removed")
    }
    assert parts == {
        "fixed": [FAIL.id],
        "broken": [PASS.id],
        "changed": ["toy.frame/v1/stays/x"],
        "added": ["toy.frame/v1/new/x"],
        "removed": ["toy.frame/v1/gone/x"],
    }
    assert found.lines()[0] == "broken   toy.frame/v1/basic/good: pass:canonical → crash"


# --- faults below the level ---

LENIENT = event(3, "sum/lenient", "lenient", level="should", rules=("toy.sum",))
LATE = event(4, "sum/late", "fail", "wrong-value", level="should", rules=("toy.sum",), broken="toy.late")
BROKEN = event(
    5, "sum/broken", "fail", "wrong-value", rules=("toy.sum",), broken="toy.strong", got="the sum is wrong"
)
BELOW = "below the level: 2 of toy.sum"


def test_each_rule_with_faults_below_the_level_has_a_line_at_the_end() -> None:
    run = stream(PASS, SKIP, LENIENT, evolve(LENIENT, seq=6, id="toy.frame/v1/sum/again"), LATE)
    lines = printed(run).splitlines()
    assert [line for line in lines if line.startswith("below")] == [BELOW, "below the level: 1 of toy.late"]
    assert f"- {BELOW}" in markdown([run]).splitlines()
    assert f"some: {BELOW}" in html([run])
    (found,) = ET.fromstring(junit([run])).iterfind(".//testsuite[@tests='3']/properties/property")
    assert (found.get("name"), found.get("value")) == ("below the level", "2 of toy.sum, 1 of toy.late")


def test_many_rules_are_counted_in_the_last_line() -> None:
    faults = [
        event(number, f"sum/n{number}", "lenient", level="should", rules=(f"toy.r{number:02}",))
        for number in range(15)
    ]
    lines = [line for line in printed(stream(PASS, *faults)).splitlines() if line.startswith("below")]
    assert (len(lines), lines[-1]) == (13, "below the level: 3 of 3 further rules")


def test_a_broken_rule_is_named_in_place_of_the_kind_and_of_the_rules_of_the_case() -> None:
    lines = printed(stream(PASS, BROKEN)).splitlines()
    assert any("FAIL  toy.frame/v1/sum/broken  toy.strong  must reader" in line for line in lines)
    assert "  rule    toy.strong" in lines
    assert "rules: toy.strong" in junit([stream(BROKEN)]).decode()

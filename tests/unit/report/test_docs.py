"""The pages of `docs`: each rule and case has one, links lead somewhere, votes and kills are those given."""

import re
import sys
from pathlib import Path

import pytest
from attrs import evolve
from command_line import Command
from goldens import load
from small_runs import RUN, stream

from tests.mutants.kill_table import Cell, Row, Table, write
from wireproof import formats
from wireproof.cases.case import Either, Reject
from wireproof.cases.fixtures import Suite
from wireproof.cases.history import counts
from wireproof.cases.id_patterns import select
from wireproof.cases.lint_sentences import coverages, unnamed_rules
from wireproof.install_hint import install_command
from wireproof.report.ambiguities import open_cases, remark_choices
from wireproof.report.docs_site import Site, case_page, pages, rule_page
from wireproof.report.field_coverage import failing, field_coverage_of
from wireproof.report.implementation_answers import adapters_by_choice, votes
from wireproof.report.kills import read_kills
from wireproof.report.known_bugs import by_project, short_link
from wireproof.report.rule_coverage import rule_coverages
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent, case_event
from wireproof.runner.verdicts import Verdict
from wireproof.wire.remark_classes import REMARK_CLASSES

CRC = "kafka.batch/v2/crc/ieee"
GOOD = "kafka.batch/v2/batch/two-records"
KILLS = Table(rows={"mutant:crc-skip": Row("kafka", {"golden": Cell("", 1, CRC, "fail", 1, (CRC,))})})


@pytest.fixture(scope="module")
def suite() -> Suite:
    """The rules all, of the cases a few of each sort."""
    whole = load()
    some = select(whole, ["kafka.batch/v2/crc/*", "kafka.batch/v2/fields/*", GOOD, "iggy.reply/0.11/**",
                          "heka.message/0.10/encode/*"])  # fmt: skip
    names = {case.id for case in some} | {case.twin for case in some if case.twin}
    return evolve(whole, cases=tuple(case for case in whole.cases if case.id in names))


def run_of(suite: Suite, name: str, **verdicts: Verdict) -> EventStream:
    """A run in which every case passes but those that are named."""
    events = [
        case_event(n, case, verdicts.get(case.id, Verdict("pass", "canonical")))
        for n, case in enumerate(suite.cases)
    ]
    return stream(*events, run=evolve(RUN, adapter=name))


@pytest.fixture(scope="module")
def site(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    bad = {CRC: Verdict("fail", "wrong-accept", got="accept <b>")}
    runs = [run_of(suite, "good"), run_of(suite, "bad", **bad)]
    folder = tmp_path_factory.mktemp("kill")
    write(KILLS, folder)
    return dict(pages(Site(suite, votes(runs), read_kills(folder))))


def test_each_rule_and_each_case_has_a_page_and_every_link_leads_to_one(
    suite: Suite, site: dict[str, str]
) -> None:
    for name in suite.rules:
        assert rule_page(name) in site
    for case in suite.cases:
        assert case_page(case.id) in site
    for path, text in site.items():
        for target in re.findall(r'href="(?![a-z]+:)([^"#]+)"', text):
            parts = [*path.split("/")[:-1], *target.split("/")]
            while ".." in parts:
                at = parts.index("..")
                del parts[at - 1 : at + 1]
            assert "/".join(parts) in site, (path, target)


def test_a_rule_without_its_cases_says_why_on_its_page() -> None:
    whole = load()
    bare = [one for one in rule_coverages(whole, {}, {}) if one.lacking]
    assert bare, "there are such rules, each with its exclusion"
    made = dict(pages(Site(evolve(whole, cases=()), {}, {})))
    for one in bare:
        assert len(one.rule.exclusion) > 20, one.rule.id
        assert "<dt>exclusion</dt>" in made[rule_page(one.rule.id)]


def test_the_page_of_a_rule_names_the_mutants_it_kills_and_who_fails_it(site: dict[str, str]) -> None:
    text = site[rule_page("kafka.v2.crc")]
    assert "<code>mutant:crc-skip</code>" in text
    assert re.search(r"bad 1\.2 \(1 of \d+\)", text)
    assert re.search(
        r'<dt>basis</dt><dd>text</dd>\s*<dt>source</dt><dd><a href="https://kafka\.apache\.org/', text
    )
    assert "good" not in text
    (row,) = re.findall(r'<tr id="kafka\.v2\.crc">.*?</tr>', site["rules.html"], re.DOTALL)
    assert "<summary>1</summary><code>crc-skip</code>" in row
    assert re.search(r"<td[^>]*>bad 1\.2</td>", row)


def test_a_page_leads_from_each_sentence_of_the_documents_to_rules_and_cases(
    suite: Suite, site: dict[str, str]
) -> None:
    text = site["traceability.html"]
    for row in coverages(suite):
        assert f'<tr id="{row.sentence.id}">' in text
    (line,) = re.findall(r'<tr id="kdoc-16">.*?</tr>', text, re.DOTALL)
    assert "https://kafka.apache.org/44/implementation/message-format/#record-batch" in line
    assert "The checksum is CRC-32C." in line
    assert 'href="rule/kafka.v2.crc.polynomial.html"' in line
    assert f'href="case/{CRC}.html"' in line
    assert "No case can test it: This is about the transport" in text
    assert 'href="../traceability.html#kdoc-16"' in site[rule_page("kafka.v2.crc.polynomial")]
    assert 'href="traceability.html"' in site["index.html"]
    assert f"that no sentence names: {len(unnamed_rules(suite))}" in text


def test_the_page_of_a_case_marks_the_byte_and_shows_the_votes(site: dict[str, str]) -> None:
    text = site[case_page(CRC)]
    assert re.findall(r"<mark>(\w\w)</mark>", text) == ["86", "c4", "3e", "43"]
    assert re.search(r"<mark>\s+17\s+4\s+crc ", text)
    assert "accept &lt;b&gt;" in text
    assert "fe 03 3b cd" in text, "the bytes of the twin"
    assert f"case/{CRC}.html" in site["rule/kafka.v2.crc.html"]


def test_the_map_of_a_format_counts_values_edges_and_damage_of_each_field() -> None:
    suite = load()
    fields = {
        one.path: one
        for one in field_coverage_of(case for case in suite.cases if case.format_id == "kafka.batch/v2")
    }
    assert fields["crc"].types == {"uint32"}
    assert CRC in fields["crc"].damaged
    assert "kafka.batch/v2/crc/zero" in fields["crc"].edges
    assert GOOD not in fields["crc"].edges
    assert fields["magic"].values == {"2"}
    assert "kafka.batch/v2/fields/base-offset-negative" in fields["baseOffset"].remarked
    assert fields["records[].headers[].key"].valid > 5


def test_the_register_has_every_remark_class_and_every_either_with_its_votes(
    suite: Suite, site: dict[str, str]
) -> None:
    found = list(open_cases(suite, {}))
    assert [one.case.id for one in found] == [
        case.id for case in suite.cases if isinstance(case.expect, Either)
    ]
    assert len(found) >= 4
    rows = {one.name: one for one in remark_choices(suite, votes([run_of(suite, "good")]))}
    assert list(rows) == list(formats.remark_classes())
    (case, *_) = rows["offset-negative"].cases
    refuses = run_of(suite, "strict", **{case.id: Verdict("info", "offset-negative", "bad-offset")})
    rows = {one.name: one for one in remark_choices(suite, votes([run_of(suite, "good"), refuses]))}
    assert rows["offset-negative"].votes["refused, bad-offset"] == {"strict 1.2": 1}
    assert rows["offset-negative"].votes["as the reference"]["good 1.2"] >= 1
    for name in REMARK_CLASSES:
        assert f'id="{name}"' in site["decisions.html"]
    for one in found:
        assert f'id="{one.case.id}"' in site["decisions.html"]


def test_the_page_of_known_bugs_shows_the_recall_and_for_each_bug_its_reports_and_cases() -> None:
    whole = load()
    page = dict(pages(Site(evolve(whole, cases=(whole.by_id["kafka.batch/v2/encode/headers"],)), {}, {})))
    text = page["history.html"]
    found = counts(whole.history)
    assert f"Golden cases catch {found.codec_golden} of {found.codec} such bugs" in text
    for bug in whole.history:
        assert f'<tr id="{bug.id}">' in text
        assert all(f'href="{link}"' in text for link in bug.links)
    (row,) = re.findall(r'<tr id="sarama-996">.*?</tr>', text, re.DOTALL)
    assert ">IBM/sarama#996</a>" in row
    assert '<a href="case/kafka.batch/v2/encode/headers.html">' in row
    (row,) = re.findall(r'<tr id="librdkafka-482">.*?</tr>', text, re.DOTALL)
    assert "confluentinc/librdkafka#482" in row
    assert "no golden case" in row
    assert "out of scope: a broker converts" in text


def test_bugs_are_by_project_in_the_order_of_the_file() -> None:
    projects = list(by_project(load().history))
    assert [one.name for one in projects][:3] == ["Kafka", "librdkafka", "Sarama"]
    assert sum(one.counts.bugs for one in projects) == len(load().history)
    assert short_link("https://issues.apache.org/jira/browse/KAFKA-3160") == "KAFKA-3160"


def test_a_field_names_the_codecs_that_fail_it_also_in_wrapped_cases(suite: Suite) -> None:
    bad = {
        CRC: Verdict("fail", "wrong-accept", path="batches[0].crc"),
        GOOD: Verdict("fail", "wrong-value", path="magic"),
    }
    found = votes([run_of(suite, "good"), run_of(suite, "bad", **bad)])
    assert failing(suite.cases, found) == {"magic": ["bad 1.2"], "crc": ["bad 1.2"]}


def test_votes_are_by_choice_and_who_was_not_asked_has_none() -> None:
    base = CaseEvent(0, "a/b/c/d", "a", "b", "decode", "must", "pass", "canonical")
    other = evolve(base, verdict="info", kind="open", cls="")
    skipped = evolve(base, verdict="unsupported", kind="")
    runs = [
        stream(one, run=evolve(RUN, adapter=name))
        for name, one in (("x", base), ("y", other), ("z", skipped), ("w", base))
    ]
    assert adapters_by_choice(votes(runs)["a/b/c/d"]) == {
        "as the reference": ["x 1.2", "w 1.2"],
        "otherwise, open": ["y 1.2"],
    }


def test_docs_writes_the_pages_and_points_at_the_byte_of_a_refusal(
    wireproof: Command, suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wireproof.cli.options.load", lambda _: suite)
    out = tmp_path / "site"
    done = wireproof("docs", "--out", out, "--kill", tmp_path)
    assert done.code == 0, done.err
    files = [path for path in out.rglob("*") if path.is_file()]
    assert f"{len(files)} files" in done.out
    assert len(files) > len(suite.cases) + len(suite.rules)
    assert "no kill table was given" in (out / case_page(CRC)).read_text()
    refused = [one for one in suite.cases if isinstance(one.expect, Reject) and one.op == "decode"]
    marked = [one.id for one in refused if "<mark>" in (out / case_page(one.id)).read_text()]
    assert marked == [one.id for one in refused]
    assert len(marked) >= 5


def test_without_the_markdown_library_there_is_one_line(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "wireproof.report.docs_site", raising=False)
    monkeypatch.delitem(sys.modules, "wireproof.report.documents", raising=False)
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    done = wireproof("docs", "--out", tmp_path / "site")
    assert done.code != 0
    assert install_command("report") in done.one_line()

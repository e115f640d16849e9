"""`history NAME@FROM..TO`: releases are judged one after another; small runs replace the builds here."""

import json
from pathlib import Path

import pytest
from attrs import evolve
from command_line import Command
from small_runs import FAIL, PASS, RUN, stream

from wireproof.adapters.errors import AdapterStartError
from wireproof.cli import history_range
from wireproof.cli.check_worker import CheckOptions
from wireproof.cli.history_range import ReleaseRange, parse_range
from wireproof.runner.event_files import EventStream, EventWriter
from wireproof.runner.events import CaseEvent

MENDED = evolve(FAIL, verdict="pass", kind="canonical", cls="")
ALWAYS = evolve(FAIL, id="toy.frame/v1/sum/always")
KNOWN = ("1.9.0", "1.40.0", "1.40.1", "1.41.0", "1.42.0", "2.0.0")
CASES: dict[str, tuple[CaseEvent, ...]] = {
    "1.40.0": (MENDED, ALWAYS),
    "1.40.1": (FAIL, ALWAYS),
    "1.42.0": (MENDED, ALWAYS),
    "2.0.0": (MENDED, ALWAYS),
}


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace the registry and the builds; return the specs that are judged."""
    specs: list[str] = []

    def judge(spec: str, _: object) -> tuple[EventStream, Path]:
        specs.append(spec)
        version = spec.partition("@")[2].partition(":")[0]
        if version not in CASES:
            raise AdapterStartError(
                f"{spec}: the driver cannot be built with lib {version}: peer.go:1:2: no x"
            )
        run = stream(*CASES[version], run=evolve(RUN, adapter="sarama", version=version))
        file = tmp_path / f"{version}.jsonl"
        with file.open("w", encoding="utf-8") as out:
            writer = EventWriter(out, run.run)
            for case in run.cases:
                writer.case(case)
            writer.footer()
        return run, file

    monkeypatch.setattr(history_range, "releases", lambda _: KNOWN)
    monkeypatch.setattr(history_range, "_judged", judge)
    return specs


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("sarama@1.40.0..", ("1.40.0", "1.40.1", "1.41.0", "1.42.0", "2.0.0")),
        ("sarama@1.40.1..1.41.0", ("1.40.1", "1.41.0")),
        ("sarama@..1.40", ("1.9.0", "1.40.0", "1.40.1")),
        ("sarama@..", KNOWN),
        ("sarama@1.40.1..1", ("1.40.1", "1.41.0", "1.42.0")),
    ],
)
def test_a_range_has_both_ends_and_an_end_may_be_the_beginning_of_a_version(
    text: str, known: tuple[str, ...]
) -> None:
    wanted = parse_range(text)
    assert wanted is not None
    assert tuple(version for version in KNOWN if version in wanted) == known


@pytest.mark.parametrize("text", ["run.jsonl", "../run", "sarama@1.0", "a/b@1..2", "exec:x@1..2"])
def test_other_arguments_are_no_ranges(text: str) -> None:
    assert parse_range(text) is None
    assert parse_range("sarama@1..2") == ReleaseRange("sarama", "1", "2")


def test_the_first_release_that_fails_and_that_fixes_a_case_are_named(
    wireproof: Command, judged: list[str]
) -> None:
    done = wireproof("history", "sarama@1.40.0..")
    assert done.code == 0
    assert judged == [f"sarama@{version}" for version in KNOWN[1:]]
    assert done.out.splitlines() == [
        "sarama 1.40.0: 1 of 2 pass",
        "sarama 1.40.1: 0 of 2 pass",
        "sarama 1.41.0: not judged: the driver cannot be built with lib 1.41.0: peer.go:1:2: no x",
        "sarama 1.42.0: 1 of 2 pass",
        "sarama 2.0.0: 1 of 2 pass",
        f"sarama: {FAIL.id}: fail:wrong-accept since 1.40.1, passed in 1.40.0, fixed in 1.42.0",
        "sarama: and 1 that no release passes: --all",
    ]
    everything = wireproof("history", "sarama@1.40.0..", "--all").out.splitlines()
    assert f"sarama: {ALWAYS.id}: fail:wrong-accept from 1.40.0 on" in everything


def test_the_options_of_a_client_program_follow_the_range(wireproof: Command, judged: list[str]) -> None:
    found = parse_range("kafkajs-client@1.11..1.12.0:side=consume,serve=pieces")
    assert found == ReleaseRange("kafkajs-client", "1.11", "1.12.0", "side=consume,serve=pieces")
    done = wireproof("history", "sarama-client@1.40.0..1.40.1:side=consume")
    assert judged == [f"sarama-client@{version}:side=consume" for version in ("1.40.0", "1.40.1")]
    assert done.out.startswith("sarama-client:side=consume 1.40.0: 1 of 2 pass\n")


def test_the_last_releases_of_a_range_can_be_chosen(wireproof: Command, judged: list[str]) -> None:
    assert wireproof("history", "sarama@..", "--last", "2").code == 0
    assert judged == ["sarama@1.42.0", "sarama@2.0.0"]


def test_json_has_every_release_and_every_verdict(wireproof: Command, judged: list[str]) -> None:
    (found,) = json.loads(wireproof("history", "sarama@1.40.1..1.42.0", "--format", "json").out)
    assert len(judged) == 3
    assert found["releases"] == [
        {"version": "1.40.1", "passed": 0, "judged": 2},
        {"version": "1.41.0", "reason": "the driver cannot be built with lib 1.41.0: peer.go:1:2: no x"},
        {"version": "1.42.0", "passed": 1, "judged": 2},
    ]
    (turn,) = [row for row in found["failures"] if row["id"] == FAIL.id]
    assert turn.pop("verdicts") == {"1.40.1": "fail:wrong-accept", "1.42.0": "pass:canonical"}
    assert turn == {
        "id": FAIL.id,
        "verdict": "fail:wrong-accept",
        "first": "1.40.1",
        "passed": "",
        "fixed": "1.42.0",
    }


@pytest.mark.usefixtures("judged")
def test_the_runs_of_a_range_are_stored_and_can_be_read_again(wireproof: Command, tmp_path: Path) -> None:
    out = tmp_path / "all.jsonl"
    wireproof("history", "sarama@1.40.0..1.40.1", "--out", out)
    again = wireproof("history", out)
    assert "sarama 1.40.1: 0 of 2 pass" in again.out.splitlines()
    assert f"sarama: {FAIL.id}: fail:wrong-accept since 1.40.1, passed in 1.40.0" in again.out.splitlines()


@pytest.mark.usefixtures("judged")
def test_the_page_has_a_row_for_each_case_and_the_reason_of_a_release_that_was_not_judged(
    wireproof: Command, tmp_path: Path
) -> None:
    page = tmp_path / "history.html"
    wireproof("history", "sarama@1.40.0..", "--html", page)
    text = page.read_text(encoding="utf-8")
    assert f'<span class="id">{FAIL.id.replace("/", "/<wbr>")}</span>' in text, "an id breaks behind a slash"
    assert "since 1.40.1, passed in 1.40.0, fixed in 1.42.0" in text
    assert "not judged: the driver cannot be built with lib 1.41.0: peer.go:1:2: no x" in text
    assert text.index("fixed: 1") < text.index("in every release that was judged: 1")
    assert '<td class="bad" title="1.40.1: fail:wrong-accept">✗</td>' in text
    assert '<td class="dim" title="1.41.0: not judged">–</td>' in text


def test_a_case_that_two_runs_of_one_release_judge_differently_is_flaky_and_was_not_fixed(
    wireproof: Command, judged: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    case = "kafka.batch/v2/batch/two-records"
    failing, passing = evolve(FAIL, id=case), evolve(MENDED, id=case)
    judge = history_range._judged

    def changing(spec: str, asked: CheckOptions) -> tuple[EventStream, Path]:
        run, file = judge(spec, asked)
        once = asked.seed == 0 and spec.endswith("1.40.1")
        return evolve(run, cases=(failing if once else passing,)), file

    monkeypatch.setattr(history_range, "_judged", changing)
    done = wireproof("history", "sarama@1.40.0..1.40.1", "--run", case, "--html", tmp_path / "page.html")
    assert judged == ["sarama@1.40.0", "sarama@1.40.1"] * 2
    both = "fail:wrong-accept, then pass:canonical"
    assert done.out.splitlines()[2:] == [
        f"sarama: {case}: flaky, two runs of one release differ: 1.40.1: {both}"
    ]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "flaky: two runs of one release differ: 1" in page
    assert f'<td class="mild" title="1.40.1: {both}">≠</td>' in page
    assert "fixed" not in page


def test_an_interrupt_shows_the_releases_so_far(
    wireproof: Command, judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = history_range._judged

    def interrupted(spec: str, asked: object) -> tuple[EventStream, Path]:
        if spec.endswith("1.41.0"):
            raise KeyboardInterrupt
        return judge(spec, asked)  # type: ignore[arg-type] - as above

    monkeypatch.setattr(history_range, "_judged", interrupted)
    done = wireproof("history", "sarama@1.40.0..")
    assert done.code == 130
    assert judged == ["sarama@1.40.0", "sarama@1.40.1"]
    assert "sarama 1.40.1: 0 of 2 pass" in done.out.splitlines()
    assert "interrupted after these releases" in done.err


@pytest.mark.usefixtures("judged")
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["sarama@3.0.."], "no release is in this range; near ones: 1.42.0, 2.0.0"),
        (["reference@1.."], "reference: it names no library"),
        (["no-such-file"], "no such file, and no range such as"),
    ],
)
def test_a_range_without_releases_is_one_line(wireproof: Command, arguments: list[str], text: str) -> None:
    done = wireproof("history", *arguments)
    assert done.code != 0
    assert text in done.err


def test_runs_and_ranges_are_not_mixed(wireproof: Command, tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    with file.open("w", encoding="utf-8") as out:
        EventWriter(out, RUN).footer()
    done = wireproof("history", "sarama@1..", file)
    assert done.code == 2
    assert "either runs or ranges" in done.err


def test_a_complete_run_is_kept_and_a_broken_one_is_not(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    with file.open("w", encoding="utf-8") as out:
        writer = EventWriter(out, RUN)
        writer.case(PASS)
    assert history_range._kept(file) is None
    with file.open("w", encoding="utf-8") as out:
        writer = EventWriter(out, RUN)
        writer.case(PASS)
        writer.footer()
    kept = history_range._kept(file)
    assert kept is not None
    assert [case.id for case in kept.cases] == [PASS.id]
    assert history_range._kept(tmp_path / "none") is None

"""Witnesses are recorded once for each library, and none of them is the code of the package."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from each import each

pytest.importorskip("lz4")
from tests.authoring import record_witnesses
from tests.authoring.shared_code import SHARED_CODE, without_shared_code
from tests.authoring.witness_run import SERVERS, Agreement, agrees, departs, refusal
from wireproof.adapters import peers
from wireproof.cases.case import Accept, Case, Data, Either, Expect, Op, Reject
from wireproof.cases.fixture_writer import page_text, sorted_page_text
from wireproof.runner.events import CaseEvent
from wireproof.runner.verdicts import VerdictName

REFUSED = Reject("truncated")


def names(*given: str, revision: str = "v2") -> list[str]:
    return [row["name"] for row in without_shared_code([{"name": name} for name in given], revision)]


def test_peers_that_share_code_are_one_witness() -> None:
    assert names("aiokafka-pure", "sarama", "aiokafka") == ["aiokafka", "sarama"]
    assert names("aiokafka-pure") == ["aiokafka-pure"]


def test_the_crate_of_the_revision_is_preferred() -> None:
    given = ("iggy-rust-0.10", "iggy-rust-0.8", "apache-iggy-0.8", "iggy-java")
    assert names(*given, revision="0.8") == ["iggy-rust-0.8", "iggy-java"]
    assert names(*given, revision="0.11") == ["iggy-rust-0.10", "iggy-java"]


def test_each_group_names_peers_and_no_peer_twice() -> None:
    listed = [name for group in SHARED_CODE for name in group]
    assert len(listed) == len(set(listed))
    assert set(listed) <= {*peers.files(), *(name for names in SERVERS.values() for name in names)}


@each("spec", ["reference", "columnar", "py:wireproof.adapters.reference:Reference", "exec:x"])
def test_an_adapter_that_may_be_the_package_itself_is_refused(spec: str) -> None:
    assert refusal(spec).startswith(f"{spec}: is no witness")


@pytest.mark.parametrize("spec", ["frames", "kio", "heka-go"])
def test_a_peer_is_not_refused(spec: str) -> None:
    assert not refusal(spec)


@each(
    "op, verdict, expected",
    [
        ("decode", "pass", True),
        ("decode", "pass-unclassified", True),
        ("decode", "info", False),
        ("encode", "info", True),
        ("encode", "fail", False),
        ("encode", "unsupported", False),
        ("decode", "lenient", False),
    ],
)
def test_a_verdict_is_an_agreement_if_it_says_that_the_case_was_done(
    op: Op, verdict: VerdictName, expected: bool
) -> None:
    case = Case("kafka.batch/v2/x/a", "kafka.batch", "v2", Data(b""), Accept(), op=op)
    event = CaseEvent(0, case.id, case.format, case.revision, op, "must", verdict)
    assert agrees(event, case) is expected


def test_a_reader_agrees_with_a_case_of_several_answers_by_one_of_them() -> None:
    case = Case("kafka.batch/v2/x/a", "kafka.batch", "v2", Data(b""), Either(()))
    events = [
        CaseEvent(0, case.id, case.format, case.revision, "decode", "must", verdict)
        for verdict in ("info", "fail")
    ]
    assert [agrees(event, case) for event in events] == [True, False]


@each(
    "expect, verdict, expected",
    [
        (Accept(), "fail", True),
        (Accept(), "crash", True),
        (Accept(), "info", True),
        (Accept(), "pass", False),
        (Accept(), "unsupported", False),
        (Accept(), "not-run", False),
        (REFUSED, "lenient", True),
        (REFUSED, "undocumented", False),
        (REFUSED, "blocked", False),
        (Either(()), "info", False),
    ],
)
def test_a_library_departs_by_another_answer_and_not_by_none(
    expect: Expect, verdict: VerdictName, *, expected: bool
) -> None:
    case = Case("kafka.batch/v2/x/a", "kafka.batch", "v2", Data(b""), expect)
    event = CaseEvent(0, case.id, case.format, case.revision, "decode", "must", verdict)
    assert departs(event, case) is expected


def test_a_client_counts_with_the_codec_of_its_library() -> None:
    clients = {name for name, path in peers.files().items() if peers.read(path).client}
    groups = [group for group in SHARED_CODE if clients & set(group)]
    assert clients == {name for group in groups for name in group} & clients
    assert not clients & {group[0] for group in groups}


def test_answers_are_a_line_for_each_case_and_keep_those_who_did_not_run(tmp_path: Path) -> None:
    path = tmp_path / "answers.toml"
    cases = [Case(f"kafka.batch/v2/x/{name}", "kafka.batch", "v2", Data(b""), Accept()) for name in "ab"]
    ids = [case.id for case in cases]
    found = [Agreement("sarama", "1", (ids[0],), (ids[1],)), Agreement("kio", "1", (ids[0],))]
    record_witnesses.record_answers(path, cases, ids, found)
    record_witnesses.record_answers(path, cases, ids[:1], [Agreement("kio", "2", (), (ids[0], ids[1]))])
    assert (
        path.read_text(encoding="utf-8").partition("[versions]\n")[2]
        == """\
"kio" = "2"
"sarama" = "1"

["kafka.batch/v2/x"]
"a" = { agree = ["sarama"], otherwise = ["kio"] }
"b" = { otherwise = ["sarama"] }
"""
    )


def test_libraries_that_share_code_have_one_answer(tmp_path: Path) -> None:
    path = tmp_path / "answers.toml"
    case = Case("kafka.batch/v2/x/a", "kafka.batch", "v2", Data(b""), Accept())
    found = [Agreement("aiokafka", "1", (case.id,)), Agreement("aiokafka-pure", "1", (), (case.id,))]
    record_witnesses.record_answers(path, [case], [case.id], found)
    assert '"a" = { agree = ["aiokafka"] }' in path.read_text(encoding="utf-8")


def test_those_who_ran_are_replaced_and_the_others_stay() -> None:
    old = [{"name": name, "version": "1"} for name in ("kio", "sarama", "iggy")]
    case: dict[str, Any] = {"id": "kafka.batch/v2/x/y", "source": {"origin": "hand", "witnesses": old}}
    record_witnesses.add(case, [Agreement("kio", "2", (case["id"],)), Agreement("sarama", "2", ())])
    assert case["source"]["witnesses"] == [{"name": "iggy", "version": "1"}, {"name": "kio", "version": "2"}]


def test_a_case_that_nobody_agrees_with_loses_the_key() -> None:
    case: dict[str, Any] = {"id": "a/b/c/d", "source": {"witnesses": [{"name": "kio", "version": "1"}]}}
    record_witnesses.add(case, [Agreement("kio", "2", ())])
    assert case["source"] == {}


def test_a_peer_that_fails_is_one_line_and_the_others_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(command: Sequence[str], **_: Any) -> subprocess.CompletedProcess[str]:
        if "kio" in command:
            raise subprocess.CalledProcessError(1, command, stderr="Traceback\nno such library\n")
        return subprocess.CompletedProcess(
            command, 0, '[{"name": "sarama", "version": "1", "ids": ["a"]}]', ""
        )

    monkeypatch.setattr(subprocess, "run", start)
    found = list(record_witnesses.gathered(["kio", "sarama"], []))
    assert [one.name for one in found] == ["sarama"]
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("kio: failed after ")
    assert first.endswith("s: no such library")
    assert second.startswith("sarama: sarama 1 agrees with 1 cases, ")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Return a fixture file of two cases in canonical form."""
    rows = [{"id": f"kafka.batch/v2/x/{name}", "op": "decode", "source": {"origin": "hand"}} for name in "ab"]
    path = tmp_path / "x.json"
    path.write_text(page_text({"schema": 1, "cases": rows}), encoding="utf-8")
    return path


def witnesses_in(path: Path) -> dict[str, list[str]]:
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return {case["id"][-1]: [one["name"] for one in case["source"].get("witnesses", [])] for case in cases}


def test_a_run_that_is_stopped_keeps_what_was_found_before(page: Path) -> None:
    def answers() -> Iterator[Agreement]:
        yield Agreement("kio", "1", ("kafka.batch/v2/x/a",))
        raise KeyboardInterrupt

    asked = {"kafka.batch/v2/x/a", "kafka.batch/v2/x/b"}
    with pytest.raises(KeyboardInterrupt):
        record_witnesses.record_each([page], asked, answers())
    assert witnesses_in(page) == {"a": ["kio"], "b": []}


def test_a_later_peer_does_not_lose_the_earlier_ones(page: Path) -> None:
    found = [Agreement(name, "1", ("kafka.batch/v2/x/a",)) for name in ("sarama", "kio")]
    asked = {"kafka.batch/v2/x/a"}
    record_witnesses.record_each([page], asked, iter(found))
    assert witnesses_in(page) == {"a": ["kio", "sarama"], "b": []}


def test_a_peer_that_disagrees_now_does_not_hide_one_of_its_group(page: Path) -> None:
    name, asked = "kafka.batch/v2/x/a", {"kafka.batch/v2/x/a"}
    record_witnesses.record_each([page], asked, iter([Agreement("aiokafka", "1", (name,))]))
    found = [Agreement("aiokafka-pure", "2", (name,)), Agreement("aiokafka", "2", ())]
    record_witnesses.record_each([page], asked, iter(found))
    assert witnesses_in(page)["a"] == ["aiokafka-pure"]


def test_files_are_written_in_canonical_form(page: Path) -> None:
    asked = {"kafka.batch/v2/x/b"}
    record_witnesses.record_each([page], asked, iter([Agreement("kio", "1", tuple(asked))]))
    text = page.read_text(encoding="utf-8")
    assert witnesses_in(page)["b"] == ["kio"]
    assert sorted_page_text(text) == text


def test_each_peer_gets_the_cases_that_were_missing_at_the_start() -> None:
    assert record_witnesses.case_options({"b", "a"}) == ["--run", "a", "--run", "b"]


def test_the_command_refuses_the_reference_and_starts_nothing() -> None:
    command = [sys.executable, "-m", "tests.authoring.record_witnesses", "reference"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "reference: is no witness" in done.stderr

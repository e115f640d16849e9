"""Campaigns: what a codec gets wrong is found, survived, counted, and not lost."""

import importlib.util
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import Command
from folders import SUPPORT
from goldens import load
from machine import needs

from tests.mutants.kill import killed_by_fuzz
from tests.mutants.registry import spec_of
from wireproof.cases.token import from_token
from wireproof.formats import FORMATS
from wireproof.fuzz import worker as worker_process
from wireproof.fuzz.campaign import Campaign, minimising, run_campaign
from wireproof.fuzz.corpus import add_input, minimise, write_seeds
from wireproof.fuzz.findings import Finding, read_findings
from wireproof.fuzz.work import Work
from wireproof.install_hint import install_command

MUTANT = spec_of("mutant:crc-skip")

SECONDS = 12.0


def fuzzed(adapter: str, root: Path, seconds: float = SECONDS, **more: object) -> list[Finding]:
    work = Work(adapter, root, ("iggy.identifier/0.0.30",), minutes=seconds / 60, **more)  # type: ignore[arg-type]
    done = subprocess.run(
        [sys.executable, "-m", worker_process.__name__, work.json()], env=environment(), check=False
    )
    assert done.returncode == 0
    return read_findings(work.findings_folder)


def environment() -> dict[str, str]:
    here = os.pathsep.join((str(SUPPORT), os.environ["PYTHONPATH"]))
    return {**os.environ, "PYTHONPATH": here}


def totals(root: Path) -> dict[str, int]:
    """Return the sums over all turns, of each of which the last line counts."""
    lines = map(json.loads, (root / "stats.jsonl").read_text().splitlines())
    turns = {line["turn"]: line for line in lines}.values()
    return {name: sum(turn[name] for turn in turns) for name in ("executions", "deaths", "corpus")}


@pytest.mark.campaigns
@pytest.mark.parametrize(("codec", "kind"), [
    ("Segfault", "crash"), ("Loop", "timeout"), ("SwallowingLoop", "timeout"), ("Memory", "resource:memory"),
])  # fmt: skip
def test_what_ends_or_blocks_a_process_is_survived_and_named(tmp_path: Path, codec: str, kind: str) -> None:
    found = fuzzed(f"py:crashing_codecs:{codec}", tmp_path)
    assert [one.signature.kind for one in found] == [kind]
    assert b"\x2a" in (tmp_path / f"findings/py-crashing-codecs-{codec}/{found[0].name}.bin").read_bytes()
    assert from_token(found[0].token).format_id == "iggy.identifier/0.0.30"
    assert totals(tmp_path)["executions"] > 100


@pytest.mark.campaigns
def test_a_segfault_costs_a_fork_and_is_met_again_and_again(tmp_path: Path) -> None:
    found = fuzzed("py:crashing_codecs:Segfault", tmp_path)
    assert found[0].count > 1
    assert totals(tmp_path)["deaths"] >= found[0].count
    assert "SIGSEGV" in found[0].text


@pytest.mark.campaigns
def test_a_codec_that_waits_without_working_is_ended_by_the_clock_on_the_wall(tmp_path: Path) -> None:
    found = fuzzed("py:crashing_codecs:Sleep", tmp_path, 10.0, hang_seconds=1.5)
    assert [one.signature.kind for one in found] == ["timeout"]


@pytest.mark.campaigns
def test_a_loop_in_c_is_ended_by_the_processor_time_that_it_spends(tmp_path: Path) -> None:
    found = fuzzed("py:crashing_codecs:LoopInC", tmp_path, 30.0, hang_seconds=600.0)
    assert [one.signature.kind for one in found] == ["timeout"]
    assert totals(tmp_path)["corpus"] > 0


@pytest.mark.campaigns
def test_an_input_that_ends_processes_is_dropped_from_seeds_and_corpus(tmp_path: Path) -> None:
    folder = tmp_path / "corpus/py-crashing-codecs-Segfault/iggy.identifier-0.0.30"
    folder.mkdir(parents=True)
    guilty = add_input(folder, b"\x01\x04\x2a\x00\x00\x00")
    found = fuzzed("py:crashing_codecs:Segfault", tmp_path)
    assert found
    assert not guilty.exists()
    assert totals(tmp_path)["corpus"] > 0


@pytest.mark.campaigns
def test_a_run_that_is_killed_loses_nothing_and_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "findings" / "py-crashing-codecs-Segfault"
    text = Work("py:crashing_codecs:Segfault", tmp_path, ("iggy.identifier/0.0.30",), minutes=1.0).json()
    process = subprocess.Popen(
        [sys.executable, "-m", worker_process.__name__, text], env=environment(), start_new_session=True
    )
    until = time.monotonic() + 45
    while not (list(folder.glob("*.json")) and list((tmp_path / "corpus").rglob("*"))):
        assert time.monotonic() < until
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = read_findings(folder)
    kept = {path.name for path in (tmp_path / "corpus").rglob("*") if path.is_file()}
    after = fuzzed("py:crashing_codecs:Segfault", tmp_path)
    assert [one.name for one in after] == [one.name for one in before]
    assert after[0].count > before[0].count >= 1
    assert after[0].first == before[0].first
    assert after[0].size <= before[0].size
    assert kept <= {path.name for path in (tmp_path / "corpus").rglob("*") if path.is_file()}


@pytest.mark.campaigns
def test_no_fuzzing_process_outlives_its_worker(tmp_path: Path) -> None:
    text = Work("reference", tmp_path, ("iggy.identifier/0.0.30",), minutes=1.0).json()
    process = subprocess.Popen([sys.executable, "-m", worker_process.__name__, text])
    until = time.monotonic() + 45
    while not list((tmp_path / "corpus").rglob("*/*/*")):
        assert time.monotonic() < until
        time.sleep(0.05)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert children
    process.kill()
    process.wait()
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < until
        time.sleep(0.05)


PLANTED = [
    "mutant:crc-skip",  # this one has no marker, because it is found in seconds
    pytest.param("mutant:iggy-bool-normalised", marks=pytest.mark.campaigns),
    pytest.param("mutant:heka-hmac-skip", marks=pytest.mark.campaigns),
]


@pytest.mark.parametrize("name", PLANTED)
@needs("[fuzz]")
def test_a_planted_fault_is_found_from_the_least_encoding_on(name: str) -> None:
    killed = killed_by_fuzz(name, 60.0)
    assert from_token(killed.by)
    assert killed.label.startswith("fail:")


@pytest.mark.campaigns
def test_a_codec_in_a_process_of_its_own_is_guided_by_the_reference_s_coverage(tmp_path: Path) -> None:
    served = shlex.quote(spec_of("mutant:iggy-identifier-unchecked"))
    adapter = f"exec:{sys.executable} -m wireproof serve {served}"
    campaign = Campaign(
        adapter, tmp_path, formats=("iggy.identifier/0.0.30",), minutes=0.2, minimal_seeds=True
    )
    ended = run_campaign(campaign)
    assert not ended.worker_errors
    assert {one.signature.kind for one in ended.findings if one.gates_at("must")} == {"fail:wrong-accept"}


@pytest.mark.campaigns
def test_two_workers_share_a_corpus(tmp_path: Path) -> None:
    campaign = Campaign("reference", tmp_path, formats=("iggy.headers/0.0.30",), minutes=0.4, workers=2)
    ended = run_campaign(campaign)
    assert not [one for one in ended.findings if one.gates_at("must")]
    workers = {json.loads(line)["worker"] for line in (tmp_path / "stats.jsonl").read_text().splitlines()}
    assert workers == {"w0", "w1"}
    assert len(list((tmp_path / "corpus/reference/iggy.headers-0.0.30").iterdir())) > 5


@pytest.mark.campaigns
def test_a_corpus_is_made_fewer_by_libfuzzer_and_keeps_its_features(tmp_path: Path) -> None:
    row = FORMATS["iggy.identifier/0.0.30"]
    corpus = write_seeds(tmp_path / "corpus", row, load().cases)
    for number in range(100):
        add_input(corpus, b"\x01\x04" + number.to_bytes(4, "little"))
    done = minimise(corpus, *minimising(Work("reference", tmp_path), row.format_id))
    assert done.kept
    assert 0 < done.inputs[1] < done.inputs[0] / 4
    assert done.features[1] >= done.features[0] > 50
    assert len(list(corpus.iterdir())) == done.inputs[1]


@pytest.mark.campaigns
def test_the_verb_ends_with_a_line_for_each_finding(wireproof: Command, tmp_path: Path) -> None:
    done = wireproof("fuzz", MUTANT, "--format", "kafka.batch/v2", "--minutes", "0.2", "--dir", str(tmp_path))
    assert done.code == 1
    assert "fail:wrong-accept · crc-mismatch" in done.out
    for line in (
        "  rule    kafka.v2.crc (likely) ",  # and the input that was made smaller, if it was
        "  source  Apache Kafka documentation 4.4, Message Format: https://",
        "  want    refuse crc-mismatch",
        "  bytes   0010  02│",
        "                   ^^ crc",
    ):
        assert f"\n{line}" in done.out
    token = next(line for line in done.out.splitlines() if "wireproof replay" in line).split("'")[1]
    again = wireproof("replay", token, MUTANT)
    assert again.code == 1
    assert wireproof("replay", token, "reference").code == 0


@pytest.mark.parametrize(("arguments", "said"), [
    (("nobody",), "unknown adapter nobody"), (("reference", "--format", "kafka.bach"), "no format is called"),
    (("protobuf-upb", "--format", "kafka.log"), "protobuf-upb claims none of kafka.log/mixed"),
])  # fmt: skip
@needs("[fuzz]")
def test_a_wrong_word_is_one_line(
    wireproof: Command, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = wireproof("fuzz", *arguments, "--dir", str(tmp_path))
    assert done.code in (2, 4)
    assert done.err.startswith(f"wireproof: {said}")
    assert len(done.err.splitlines()) == 1


def test_without_atheris_one_line_names_the_extra(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "atheris" else find(name))
    done = wireproof("fuzz", "reference", "--dir", str(tmp_path))
    assert (done.code, done.err.count("\n")) == (4, 1)
    assert install_command("fuzz") in done.err


@pytest.mark.campaigns
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_prints_what_was_found_and_how_to_go_on(tmp_path: Path) -> None:
    words = ["fuzz", MUTANT, "--format", "kafka.batch/v2", "--minutes", "5", "--dir", "kept here"]
    with subprocess.Popen(
        [sys.executable, "-m", "wireproof", *words], cwd=tmp_path, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        first = running.stdout.readline()
        workers = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert re.match(r"found after \d+ s: crc-skip · kafka.batch/v2 ·", first)
    assert running.returncode == 130
    assert "wireproof replay 'kept here#" in out
    assert re.fullmatch(
        rf"interrupted after \d+ s; to go on from there: wireproof {re.escape(shlex.join(words))}\n", err
    )
    assert workers
    assert not any(Path(f"/proc/{one}").exists() for one in workers)

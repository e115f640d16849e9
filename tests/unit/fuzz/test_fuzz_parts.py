"""The parts of a campaign that need no fuzzing process: shared input, counts, findings, corpus, targets."""

import errno
import hashlib
import io
import json
import os
import signal
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from math import inf
from multiprocessing import get_context
from pathlib import Path
from random import Random

import pytest
from attrs import evolve
from goldens import load
from rich.console import Console

from wireproof.adapters.contract import Request
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.python_object import Caller
from wireproof.cases.case import Reject
from wireproof.cases.outcome import Exhausted, Refused
from wireproof.cases.reference_answers import reference_answer
from wireproof.cases.token import from_token
from wireproof.cli.fuzz import CampaignDisplay
from wireproof.derive.examples import Examples, option_variants, with_expectation
from wireproof.derive.mutate import dictionary, mutate, seed
from wireproof.derive.mutate.dictionary import dictionary_text
from wireproof.derive.mutate.encodings import sample
from wireproof.formats import FORMATS
from wireproof.fuzz import campaign as campaigns
from wireproof.fuzz import worker as workers
from wireproof.fuzz.campaign import Campaign, CampaignProgress, run_campaign
from wireproof.fuzz.corpus import (
    MINIMISE_FROM,
    Minimised,
    add_input,
    minimise,
    recover,
    write_seeds,
)
from wireproof.fuzz.findings import (
    COUNTER,
    MAX_COUNTERS,
    FindingCounts,
    FindingError,
    Findings,
    finding_name,
    read_findings,
    total_counts,
    update_counts,
)
from wireproof.fuzz.process import CpuTimer, InProcessExecutor, InputState, SharedInput
from wireproof.fuzz.work import StatsReader, Turn, Work
from wireproof.fuzz.worker import TARGET_ERROR, Session
from wireproof.judge.judge import judge
from wireproof.judge.signature import Signature
from wireproof.judge.verdicts import Verdict
from wireproof.wire.checksums import xxh3_64
from wireproof.wire.options import Options

ROW = FORMATS["iggy.identifier/0.0.30"]
SIGNATURE = Signature("x", ROW.format_id, "decode", "fail:wrong-accept", "bad-length", "length")
VERDICT = Verdict("fail", "wrong-accept", "bad-length", "length")


def case_of(data: bytes):  # noqa: ANN201 - a case
    return Examples(ROW, (), ("decode",)).decode_case(data)


def test_the_input_of_a_process_that_died_survives_it(tmp_path: Path) -> None:
    shared = SharedInput(tmp_path / "input", 64)
    child = os.fork()
    if not child:
        shared.begin_input(b"before")
        shared.begin_input(b"guilty")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    state = shared.state()
    assert (state.data, state.executions) == (b"guilty", 2)


def test_between_two_inputs_there_is_no_input_and_a_longer_one_is_cut(
    tmp_path: Path,
) -> None:
    shared = SharedInput(tmp_path / "input", 4)
    shared.begin_input(b"123456")
    assert shared.state().data == b"1234"
    shared.end_input()
    assert shared.state().data is None
    shared.begin_input(b"")
    assert shared.state().data == b""


def test_a_reader_never_sees_a_header_half_written(tmp_path: Path) -> None:
    shared = SharedInput(tmp_path / "input", 64)
    shared.begin_input(b"x")
    child = os.fork()
    if not child:
        while True:  # until it is killed
            shared.begin_input(b"x")
            shared.end_input()
    while shared.state().executions < 100:
        pass
    looks = [shared.state().seconds for _ in range(50_000)]
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert max(looks) < 60


def test_counts_outlive_kill_9_and_add_up_over_workers(tmp_path: Path) -> None:
    for worker in ("w0", "w1"):
        child = os.fork()
        if not child:
            counts = FindingCounts(tmp_path / f"{worker}.tally")
            for _ in range(3):
                counts.add("00112233445566aa")
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
    again = FindingCounts(tmp_path / "w0.tally")
    again.add("00112233445566aa")
    assert total_counts(tmp_path) == {"00112233445566aa": 7}


def test_the_smallest_input_of_a_signature_is_kept_and_the_first_time_stays(tmp_path: Path) -> None:
    findings = Findings(tmp_path, "w0")
    findings.add(SIGNATURE, VERDICT, case_of(b"\x01\x05abcd"), b"\x01\x05abcd", version="1")
    first = read_findings(tmp_path)[0]
    findings.add(SIGNATURE, VERDICT, case_of(b"\x01\x02a"), b"\x01\x02a", version="1")
    findings.add(SIGNATURE, VERDICT, case_of(b"\x01\x05abcde"), b"\x01\x05abcde", version="1")
    found = read_findings(tmp_path)
    assert [(one.size, one.count, one.first) for one in found] == [(3, 3, first.first)]
    assert (tmp_path / f"{found[0].name}.bin").read_bytes() == b"\x01\x02a"
    assert from_token(found[0].token).input == case_of(b"\x01\x02a").input
    assert found[0].sha256 == hashlib.sha256(b"\x01\x02a").hexdigest()


def test_a_lenient_answer_counts_from_the_level_should_on(tmp_path: Path) -> None:
    lenient = evolve(SIGNATURE, kind="lenient")
    for level, counted in (("may", 0), ("should", 1)):
        case = evolve(case_of(b"\x01"), level=level)
        for hold in ("must", "should"):
            folder = tmp_path / level / hold
            Findings(folder, "w0").add(lenient, VERDICT, case, b"\x01")
            (found,) = read_findings(folder)
            assert (found.level, found.gates_at("must")) == (level, False)
            assert found.is_open_at(hold) == bool(counted and hold == "should")


def test_two_workers_keep_the_smaller_of_what_both_found(tmp_path: Path) -> None:
    one, two = Findings(tmp_path, "w0"), Findings(tmp_path, "w1")
    two.add(SIGNATURE, VERDICT, case_of(b"\x01"), b"\x01", version="1")
    one.add(SIGNATURE, VERDICT, case_of(b"\x01\x05ab"), b"\x01\x05ab", version="1")
    assert [(found.size, found.count) for found in read_findings(tmp_path)] == [(1, 2)]


def test_a_token_over_two_kib_is_a_file_beside_its_finding(tmp_path: Path) -> None:
    data = os.urandom(4000)
    findings = Findings(tmp_path, "w0")
    findings.add(SIGNATURE, VERDICT, case_of(data), data)
    token = read_findings(tmp_path)[0].token
    assert token.startswith("@")
    assert from_token(f"@{tmp_path / token[1:]}").input == case_of(data).input


def test_settled_findings_bear_their_counts(tmp_path: Path) -> None:
    findings = Findings(tmp_path, "w0")
    findings.add(SIGNATURE, VERDICT, case_of(b"\x01"), b"\x01")
    update_counts(tmp_path)
    assert json.loads((tmp_path / f"{finding_name(SIGNATURE)}.json").read_text())["count"] == 1


def test_a_damaged_finding_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "00aa.json").write_text("{")
    with pytest.raises(
        FindingError, match=r"00aa\.json is not a finding of this version: .*move the file away"
    ):
        read_findings(tmp_path)


def test_the_name_of_an_input_s_case_is_a_function_of_its_bytes() -> None:
    variants = option_variants(FORMATS["heka.stream/0.10"], load())
    builder = Examples(FORMATS["heka.stream/0.10"], variants, ("decode", "scan"))
    assert len({repr((variant.profile, variant.options)) for variant in variants}) == len(variants) > 1
    for number in range(64):
        data = bytes([0x1E, 2, 8, number])
        one, two = builder.decode_case(data), builder.decode_case(data)
        assert (one, builder.follow_ups(one)) == (two, builder.follow_ups(two))


class Greedy:
    """Allocates 64 MiB for any input."""

    name, version = "greedy", "1"

    def decode(self, request: Request) -> Refused:
        block = bytearray(64 << 20)
        block[::4096] = b"\1" * len(range(0, len(block), 4096))
        del request
        return Refused("other", 0)


def test_a_codec_that_takes_eight_times_what_it_may_unpack_goes_over_its_memory() -> None:
    """In a new process: one that was forked would use memory again that another test gave back."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        pool.submit(_takes_eight_times).result()


def _takes_eight_times() -> None:
    timer = CpuTimer(5.0)
    timer.start()
    executor = InProcessExecutor(Caller(Greedy()), timer)
    small = evolve(case_of(b"\x01"), options=Options(max_output=4 << 20))
    (_, _, case, outcome), *_ = executor.run([small], b"")
    timer.stop()
    assert outcome == Exhausted("memory", "over 32 MiB")
    assert case.limits.rss_mb == 32
    ((_, _, again, same),) = executor.run([evolve(small, options=Options())], b"")
    assert same == Refused("other", 0)
    assert again.limits.rss_mb is None


def test_what_nobody_may_write_is_asked_to_be_written() -> None:
    row = FORMATS["iggy.headers/0.0.30"]
    builder = Examples(row, (), ("decode", "encode"))
    rng = Random(1)
    decodes = [builder.decode_case(mutate(row, sample(row), rng, 200)) for _ in range(600)]
    cases = [case for decode in decodes for case in builder.follow_ups(decode)]
    refusals = [case for case in cases if isinstance(case.expect, Reject)]
    assert {one.op for one in refusals} == {"encode"}
    assert {one.expect.cls for one in refusals if isinstance(one.expect, Reject)} == {"invalid-value"}


def test_what_is_encoded_has_the_computed_fields_of_the_bytes_that_are_written() -> None:
    """Headers in another order than the encoder's have another checksum, which is as correct."""
    row = FORMATS["iggy.log/0.8"]
    one, two = b"\1\0\0\0b\1\1\0\0\0x", b"\1\0\0\0a\1\1\0\0\0y"  # the encoder sorts by key
    rest = bytes(16) + b"\0" * 24 + len(one + two).to_bytes(4, "little") + b"\1\0\0\0" + b"p" + one + two
    data = xxh3_64(rest).to_bytes(8, "little") + rest
    builder = Examples(row, (), ("decode", "encode"))
    decode = with_expectation(builder.decode_case(data))
    (encode,) = (case for case in builder.all_follow_ups(decode) if case.op == "encode")
    assert judge(encode, reference_answer(encode).outcome).name == "pass"


def launcher(folder: Path, features: dict[int, int], *, keep: int) -> Path:
    """A false target: a merge keeps `keep` inputs; features go by the number of inputs."""
    path = folder / "target"
    path.write_text(
        f"#!{sys.executable}\n"
        "import pathlib, shutil, sys\n"
        "flag, *folders = sys.argv[1:]\n"
        "folders = [pathlib.Path(one) for one in folders]\n"
        "if 'merge' in flag:\n"
        f"    [shutil.copy(one, folders[0]) for one in sorted(folders[1].iterdir())[:{keep}]]\n"
        "else:\n"
        f"    count = {features}[len(list(folders[0].iterdir()))]\n"
        "    sys.stderr.write(f'#9 INITED cov: 1 ft: {count} corp: 1/1b\\n')\n"
    )
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(("features", "keep", "kept"), [
    ({4: 90, 2: 90}, 2, True), ({4: 90, 2: 89}, 2, False), ({4: 90, 0: 90}, 0, False),
    ({4: 0, 2: 90}, 2, False), ({4: 90}, 4, False),
], ids=["as-many", "one-less", "nothing-kept", "unknown", "no-fewer"])  # fmt: skip
def test_a_corpus_is_replaced_only_if_its_features_are_shown_to_be_kept(
    tmp_path: Path, features: dict[int, int], keep: int, kept: bool
) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number in range(4):
        (corpus / str(number)).write_bytes(bytes([number]))
    done = minimise(corpus, [str(launcher(tmp_path, features, keep=keep))], os.environ)
    assert done.kept is kept
    assert len(list(corpus.iterdir())) == (keep if kept else 4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus", "target"]


def test_a_corpus_whose_replacement_was_cut_off_comes_back(tmp_path: Path) -> None:
    old = tmp_path / ".corpus.old"
    old.mkdir()
    (old / "a").write_bytes(b"a")
    recover(tmp_path / "corpus")
    assert (tmp_path / "corpus" / "a").read_bytes() == b"a"


def test_seeds_are_the_bytes_of_the_fixtures_and_the_least_encoding(tmp_path: Path) -> None:
    suite = load()
    folder = write_seeds(tmp_path / "seeds", ROW, suite.cases)
    seen = {path.read_bytes() for path in folder.iterdir()}
    assert seed(ROW) in seen
    assert bytes.fromhex("010401000000") in seen
    bare = write_seeds(tmp_path / "bare", ROW, ())
    assert [path.read_bytes() for path in bare.iterdir()] == [seed(ROW)]


def test_a_dictionary_is_in_libfuzzer_s_own_form() -> None:
    lines = dictionary_text(dictionary(ROW)).splitlines()
    assert all(line.startswith('"\\x') and line.endswith('"') for line in lines)


def test_statistics_are_added_up_turn_by_turn_and_a_torn_line_is_left_out(tmp_path: Path) -> None:
    line = dict.fromkeys(("coverage", "features", "corpus", "deaths", "resident"), 1)
    line |= {"worker": "w0", "adapter": "x"}
    rows = [(0, 10.0, 100, "a/1"), (0, 20.0, 200, "a/1"), (1, 10.0, 50, "a/1"), (2, 10.0, 7, "b/1")]
    text = "".join(
        json.dumps(line | {"turn": n, "seconds": s, "executions": e, "format_id": j}) + "\n"
        for n, s, e, j in rows
    )
    work = Work("x", tmp_path)
    reader = StatsReader(work)
    work.stats.write_text(text + '{"worker"')
    told = [(one.format_id, one.executions, one.seconds) for one in reader.formats()]
    assert told == [("a/1", 250, 30.0), ("b/1", 7, 10.0)]
    assert StatsReader(work).formats() == [], "these are of an earlier run"
    more = {"turn": 2, "seconds": 12.0, "executions": 9, "format_id": "b/1"}
    work.stats.write_text(text + json.dumps(line | more) + "\n")
    assert [(one.format_id, one.executions) for one in reader.formats()] == [("a/1", 250), ("b/1", 9)]


def test_the_last_turn_ends_with_the_campaign_however_long_the_worker_took_to_start() -> None:
    work = Work("x", "root", ("a/1", "b/1"), minutes=1.0, until=140.0)
    plain = [Turn("a/1", 105.0, guided=False), Turn("b/1", 110.0, guided=False)]
    assert list(work.turns(100.0)) == [*plain, Turn("a/1", 125.0), Turn("b/1", 140.0)]
    left = [turn.until for turn in work.turns(139.0)]
    assert left == [139.625, 140.25, 142.125, 144.0], "five seconds are left"
    assert [turn.until for turn in evolve(work, minutes=1 / 30).turns(139.0)][-1] == 141.0
    longer = list(evolve(work, minutes=10.0, until=1000.0).turns(100.0))
    assert ([turn.guided for turn in longer], longer[-1].until) == ([False] * 2 + [True] * 4, 700.0)


def test_a_quarter_of_the_executions_is_not_guided() -> None:
    work = Work("x", "root", ("a/1",), minutes=inf, runs=10)
    assert [(turn.runs, turn.guided) for turn in work.turns(0.0)] == [(2, False), (8, True)]
    assert [(turn.runs, turn.guided) for turn in evolve(work, runs=3).turns(0.0)] == [(3, True)]
    assert [turn.guided for turn in evolve(work, minutes=0.0).turns(0.0)] == [False], "nothing new is made"


def test_a_worker_gets_its_work_as_json(tmp_path: Path) -> None:
    campaign = Campaign("x", tmp_path, workers=2, runs=5, seed=3, level="should")
    one, two = campaign.works(("a/1", "b/1"), float("inf"))
    assert (one.formats, two.formats, two.seed) == (("a/1", "b/1"), ("b/1", "a/1"), 100_003)
    assert (one.runs, one.worker, two.worker) == (3, "w0", "w1")
    assert Work.of_json(two.json()) == two


@pytest.mark.parametrize(("minutes", "limits"), [(1.0, []), (10.0, [150.0])])
def test_a_large_corpus_becomes_smaller_before_the_fuzzing_and_only_in_a_part_of_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, minutes: float, limits: list[float]
) -> None:
    campaign = Campaign("reference", tmp_path, formats=(ROW.format_id,), minutes=minutes)
    corpus = campaign.corpus(ROW.format_id)
    corpus.mkdir(parents=True)
    for number in range(MINIMISE_FROM):
        add_input(corpus, number.to_bytes(2, "big"))
    steps: list[float | str] = []

    def minimised(_: Path, __: object, ___: object, seconds: float) -> Minimised:
        steps.append(round(seconds))
        return Minimised((1, 1), (1, 1), kept=False)

    monkeypatch.setattr(campaigns, "minimise", minimised)
    monkeypatch.setattr(campaigns, "_run_workers", lambda *_: (steps.append("fuzzing") or [], False))
    run_campaign(campaign)
    assert steps == [*limits, "fuzzing"]


def test_findings_are_told_though_the_adapter_starts_no_more_to_shrink_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = Campaign("kafka-python", tmp_path, formats=("kafka.batch/v2",), minutes=0.1)

    def found(*_: object) -> tuple[list[str], bool]:
        Findings(campaign.findings_folder, "w0").add(SIGNATURE, VERDICT, case_of(b"\x01"), b"\x01")
        return [], False

    def gone(*_: object) -> None:
        raise AdapterStartError("gone")

    monkeypatch.setattr(campaigns, "_run_workers", found)
    monkeypatch.setattr(campaigns, "shrink_findings", gone)
    ended = run_campaign(campaign)
    assert [one.signature for one in ended.findings] == [SIGNATURE]
    assert ended.worker_errors == ["the new findings are as they were found: gone"]


def campaign_of(root: Path) -> Campaign:
    return Campaign("x", root, formats=(ROW.format_id,))


def stats_line(root: Path, **more: object) -> None:
    line = {"worker": "w0", "turn": 0, "adapter": "x", "format_id": ROW.format_id, "seconds": 10.0}
    with (root / "stats.jsonl").open("a") as file:
        file.write(json.dumps(line | more) + "\n")


def test_a_running_campaign_shows_executions_edges_failures_by_kind_and_the_newest(tmp_path: Path) -> None:
    findings = Findings(campaign_of(tmp_path).findings_folder, "w0")
    findings.add(SIGNATURE, VERDICT, case_of(b"\x01"), b"\x01")
    progress = CampaignProgress(campaign_of(tmp_path))
    assert (progress.poll(), progress.format_id) == ([], "")
    stats_line(tmp_path, executions=1234, coverage=321)
    new = [evolve(SIGNATURE, path="other"), evolve(SIGNATURE, kind="crash"), evolve(SIGNATURE, kind="info:x")]
    for one in new:
        findings.add(one, VERDICT, case_of(b"\x01"), b"\x01")
    assert {one.signature for one in progress.poll()} == set(new[:2]), "the known one is of an earlier run"
    assert progress.poll() == []
    assert (progress.executions, progress.rate, progress.edges) == (1234, 123.4, 321)
    assert (progress.kinds, progress.permitted) == ({"fail:wrong-accept": 1, "crash": 1}, 1)
    assert progress.newest is not None


def test_a_pipe_gets_each_failure_at_once_and_the_numbers_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.StringIO()
    display = CampaignDisplay(campaign_of(tmp_path), Console(file=out, width=60))
    clock = time.monotonic()
    monkeypatch.setattr("wireproof.cli.fuzz.time.monotonic", lambda: clock)
    findings = Findings(campaign_of(tmp_path).findings_folder, "w0")
    findings.add(SIGNATURE, VERDICT, case_of(b"\x01"), b"\x01")
    stats_line(tmp_path, executions=1234, coverage=321)
    clock += 2
    display.update()
    assert out.getvalue() == f"found after 2 s: {SIGNATURE}\n"
    display.update()
    clock += 40
    display.update()
    (line,) = out.getvalue().splitlines()[1:]
    assert line.startswith(
        f"after 42 s: 1,234 executions (123/s), 321 edges of {ROW.format_id}, new failures: 1"
    )
    assert line.endswith("failures: 1 (1 wrong-accept), permitted differences: 0")


# --- a full disk ---


class FullDisk:
    """A temporary file of a disk that takes nothing more."""

    def __init__(self, *_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_worker_names_a_full_disk_as_the_reason_of_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workers, "Worker", FullDisk)
    assert workers.main(Work("reference", tmp_path, ("iggy.identifier/0.0.30",)).json()) == 4
    assert capsys.readouterr().err == "[Errno 28] No space left on device\n"


def test_a_worker_that_could_not_write_the_reason_was_ended_by_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Work("reference", tmp_path)
    work.folder.mkdir(parents=True)
    (work.folder / campaigns.ERRORS).touch()
    assert campaigns.error_lines(work, 1) == ["w0 ended with exit code 1"]
    monkeypatch.setattr(tempfile, "TemporaryFile", FullDisk)
    assert campaigns.error_lines(work, 1) == [f"{tmp_path}: [Errno 28] No space left on device"]
    assert campaigns.error_lines(work, 0) == []


def test_a_process_that_a_full_disk_ended_is_no_bug_of_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session.__new__(Session)
    session.work, session.log = Work("reference", tmp_path), tmp_path / "log"
    with pytest.raises(AdapterStartError, match="a bug of wireproof"):
        session._reproduce(TARGET_ERROR, InputState(1, 0.0, b""))
    monkeypatch.setattr(tempfile, "TemporaryFile", FullDisk)
    with pytest.raises(OSError, match="No space left"):
        session._reproduce(TARGET_ERROR, InputState(1, 0.0, b""))


def test_the_file_of_the_counts_has_all_its_blocks_before_it_counts(tmp_path: Path) -> None:
    FindingCounts(tmp_path / "w0.tally").close()
    assert (tmp_path / "w0.tally").stat().st_blocks * 512 >= COUNTER.size * MAX_COUNTERS

"""A verb that is killed while it writes: no earlier data is lost, and the next run continues."""

import signal
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from attrs import evolve
from baselines import written
from kill_inside_call import every_kill, killed_at
from small_runs import FAIL, PASS, RUN, stored, stream

from wireproof import __version__
from wireproof.cases.case import Case, Data, Reject
from wireproof.cli import main
from wireproof.fuzz.findings import Findings, finding_name, read_findings
from wireproof.judge.signature import Signature
from wireproof.judge.verdicts import Verdict
from wireproof.run.baselines.known_failures import Baseline

ID = "kafka.batch/v2/crc/zero"


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@every_kill
@pytest.mark.parametrize("at", ["os.fsync", "os.replace"])
def test_a_baseline_is_the_old_one_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str, kill: signal.Signals
) -> None:
    known_failures, run = tmp_path / "known.toml", tmp_path / "run.jsonl"
    stored(run, stream(evolve(PASS, id=ID), run=evolve(RUN, suite=__version__)))
    known_failures.write_text(written(stream(evolve(FAIL, id=ID)), "somebody", "why", date(2099, 1, 1), ""))
    before = _files(tmp_path)
    monkeypatch.setattr(sys, "argv", ["wireproof", "baseline", "fix", str(known_failures), str(run)])
    killed_at(at, kill, main)
    left = _files(tmp_path)
    assert {name: left[name] for name in before} == before
    assert kill.name == "SIGKILL" or left == before
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert _files(tmp_path).keys() == before.keys()
    assert Baseline.read(known_failures).entries == ()


SIGNATURE = Signature("codec", "iggy.identifier/0.0.30", "decode", "fail:wrong-accept", "bad-kind", "kind")


def _found(folder: Path, size: int) -> Callable[[], None]:
    data = bytes(size)
    case = Case("iggy.identifier/0.0.30/fuzz/x", "iggy.identifier", "0.0.30", Data(data), Reject("bad-kind"))
    verdict = Verdict("fail", "wrong-accept", "bad-kind", "kind")

    def add() -> None:
        findings = Findings(folder, "w0")
        findings.add(SIGNATURE, verdict, evolve(case, title=f"{size} bytes"), data)
        findings.close()

    return add


@every_kill
@pytest.mark.parametrize("file", [0, 1], ids=["its bytes", "its JSON"])
def test_a_finding_is_the_old_one_or_the_new_one(tmp_path: Path, kill: signal.Signals, file: int) -> None:
    _found(tmp_path, 9)()
    killed_at("os.replace", kill, _found(tmp_path, 5), skip=file)
    (found,) = read_findings(tmp_path)
    assert (found.size, found.count) == (9, 2)
    _found(tmp_path, 4)()
    (found,) = read_findings(tmp_path)
    assert (found.size, found.count) == (4, 3)
    name = finding_name(SIGNATURE)
    assert set(_files(tmp_path)) == {"lock", "w0.tally", f"{name}.bin", f"{name}.json"}

"""Commands that end early: killed, without a reader, with an output that lacks characters."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from uuid import uuid4

import pytest
from attrs import evolve
from baselines import written
from command_line import Command
from kill_inside_call import every_kill, killed_at
from rich.console import Console
from scripted_runs import CASES, PROGRAM, marked_processes
from small_runs import FAIL, PASS, RUN, stored, stream

from tests.mutants.registry import spec_of
from wireproof import __version__
from wireproof.cases.case import Case, Data, Reject
from wireproof.cli import main
from wireproof.cli.common.last_run import last_run
from wireproof.cli.common.standard_output import guarded_output
from wireproof.fuzz.findings import Findings, finding_name, read_findings
from wireproof.judge.signature import Signature
from wireproof.judge.verdicts import Verdict
from wireproof.run.baselines.known_failures import Baseline

MUTANT = spec_of("mutant:iggy-identifier-unchecked")

CRC_SKIP = spec_of("mutant:crc-skip")


ONLY = ("--run", "iggy.identifier/0.0.30/**", "--no-families", "--in-process")


@contextmanager
def gone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Standard output is a pipe whose reader has gone away."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as out:
        monkeypatch.setattr(sys, "stdout", out)
        yield


@pytest.mark.usefixtures("fixtures_read_once")
@pytest.mark.parametrize(
    "words",
    [
        ("cases",),  # click prints, more than a buffer
        ("--version",),  # click prints less than one
        ("show", "iggy.identifier/0.0.30/identifier/string-empty"),
        ("check", "reference", *ONLY),  # rich
        ("check", MUTANT, *ONLY),
    ],
    ids=lambda words: words[0],
)
def test_a_reader_that_goes_away_is_no_verdict(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    err = io.StringIO()
    monkeypatch.setattr(sys, "stderr", err)
    with gone(monkeypatch):
        assert _ended(monkeypatch, *words) == 141
    assert err.getvalue() == ""


@pytest.mark.usefixtures("fixtures_read_once")
@pytest.mark.parametrize("columns", ["0", "1", "-5"])
def test_a_run_is_printed_on_a_terminal_that_says_it_has_no_width(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert _ended(monkeypatch, "check", MUTANT, *ONLY) == 1
    assert "exit code 1" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("own_memory")
def test_what_was_judged_before_the_reader_went_away_is_the_last_run(monkeypatch: pytest.MonkeyPatch) -> None:
    with gone(monkeypatch):
        assert _ended(monkeypatch, "check", MUTANT, *ONLY) == 141
    stored = last_run()
    assert [finding.spec for finding in stored.findings] == [MUTANT]
    assert any('"fail"' in line for line in Path(stored.file).read_text("utf-8").splitlines())


@pytest.mark.usefixtures("fixtures_read_once")
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_stream_that_the_caller_has_closed_is_empty_and_swallows_what_is_written(number: int) -> None:
    words = f"{sys.executable} -m wireproof explain - iggy.identifier {number}>&-"
    done = subprocess.run(["sh", "-c", words], input=b"", capture_output=True, check=False)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_an_error_that_prints_nothing_there_keeps_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    with gone(monkeypatch):
        assert _ended(monkeypatch, "check", "reference", "--run", "none-such") == 2


@pytest.mark.usefixtures("fixtures_read_once")
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize(
    "words",
    [
        ("check", "--help"), ("show", "né\ud800"), ("check", MUTANT, *ONLY), ("explain", "000102"),
        ("adapters",), ("show", "kafka.batch/v2/crc/bit-flip-in-value"), ("show",),
    ],
    ids=["help", "an error", "a matrix", "explain", "adapters", "a case", "formats"],
)  # fmt: skip
def test_output_in_any_encoding_changes_no_exit_code(
    encoding: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, err = io.BytesIO(), io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(err, encoding=encoding))
    code = {"né\ud800": 2, MUTANT: 1, "000102": 2}.get(words[-1] if words[0] != "check" else words[1], 0)
    assert _ended(monkeypatch, *words) == code
    assert out.getvalue().decode(encoding).isascii() or encoding != "ascii"
    assert b"Traceback" not in err.getvalue()
    assert b"bug of the suite" not in err.getvalue()
    assert out.getvalue() or err.getvalue()


@pytest.mark.usefixtures("fixtures_read_once")
def test_a_sign_of_rich_that_the_encoding_has_not_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(data, encoding="ascii"))
    with guarded_output():
        Console().print("né…", soft_wrap=True)
    assert data.getvalue() == rb"n\xe9\u2026" + b"\n"


SLOW_VERBS = [("lint",), ("export", "--out", "OUT")]


@pytest.mark.usefixtures("fixtures_read_once")
@pytest.mark.parametrize("words", [pytest.param(words, marks=pytest.mark.sweeps) for words in SLOW_VERBS] + [
    ("check", MUTANT, *ONLY, "--out", "OUT"),
], ids=lambda words: words[0])  # fmt: skip
def test_a_process_in_the_locale_c_ends_as_in_any_other(words: tuple[str, ...], tmp_path: Path) -> None:
    words = tuple(str(tmp_path / "out") if word == "OUT" else word for word in words)
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment.pop("PYTHONIOENCODING", None)
    done = subprocess.run(
        [sys.executable, "-m", "wireproof", *words], capture_output=True, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == (1 if words[0] == "check" else 0), done.stderr
    assert b"Traceback" not in done.stderr
    assert done.stdout.isascii()


@pytest.mark.usefixtures("fixtures_read_once")
def test_marks_point_to_their_bytes_in_ascii_too(monkeypatch: pytest.MonkeyPatch) -> None:
    wide, narrow = (
        _printed(monkeypatch, encoding, "replay", "kafka.batch/v2/crc/bit-flip-in-value", CRC_SKIP)
        for encoding in ("utf-8", "ascii")
    )
    columns = [text.splitlines()[_marked(text)].index("^^ crc") for text in (wide, narrow)]
    bytes_above = [text.splitlines()[_marked(text) - 1] for text in (wide, narrow)]
    assert columns[0] == columns[1]
    assert bytes_above[0].replace("│", "|")[: columns[0] + 2] == bytes_above[1][: columns[0] + 2]


def _marked(text: str) -> int:
    return next(number for number, line in enumerate(text.splitlines()) if "^^ crc" in line)


def _printed(monkeypatch: pytest.MonkeyPatch, encoding: str, *words: str) -> str:
    out = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding))
        assert _ended(patch, *words) == 1
        return out.getvalue().decode(encoding)


def _ended(monkeypatch: pytest.MonkeyPatch, *words: str) -> object:
    monkeypatch.setattr(sys, "argv", ["wireproof", *words])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code


@pytest.mark.usefixtures("fixtures_read_once")
@pytest.mark.parametrize("words", [("adapters",), ("show", "kafka.batch"), ("cases", "kafka.batch/v2/crc/*")])
def test_a_terminal_of_60_columns_without_colour_shows_plain_lines(words: tuple[str, ...]) -> None:
    outer, inner = os.openpty()  # type: ignore[attr-defined, unused-ignore] - not on Windows
    env = os.environ | {"COLUMNS": "60", "NO_COLOR": "1", "TERM": "xterm", "LC_ALL": "C"}
    env.pop("PYTHONIOENCODING", None)
    with subprocess.Popen([sys.executable, "-m", "wireproof", *words], stdout=inner, env=env) as process:
        os.close(inner)
        text = b""
        with suppress(OSError):  # Linux ends a terminal with an error
            while block := os.read(outer, 65536):
                text += block
    os.close(outer)
    assert process.returncode == 0
    assert b"\x1b" not in text
    lines = text.decode().splitlines()
    assert lines
    about = [line for line in lines if line.startswith("    ")]
    assert max(map(len, lines if words[0] == "show" else about), default=0) <= 60
    if words[0] == "adapters":
        assert "aiokafka-pure  ready" in text.decode()
        assert len(about) > 20


# --- signals ---


SECONDS = 120.0
"""For anything to happen: no measure, but the end of the wait for what never comes."""

KILLED = getattr(signal, "SIGKILL", signal.SIGTERM)  # these tests run on Linux, and are imported everywhere
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, KILLED: -KILLED}


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def killed(number: int, folder: Path, *words: str, processes: int) -> tuple[int, str, list[int]]:
    """End `check` by a signal once it has so many processes; its exit code, its stderr and who is left."""
    mark = uuid4().hex
    environment = os.environ | {"WIREPROOF_TEST_MARK": mark}
    command = [
        sys.executable,
        "-m",
        "wireproof",
        "--timeout-scale",
        "30",
        "check",
        *words,
        "--out",
        "run.jsonl",
    ]
    command += [word for one in CASES for word in ("--run", one)]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as runner:
        until(lambda: len(marked_processes(mark)) >= processes)
        runner.send_signal(number)
        code = runner.wait(SECONDS)
        err = runner.stderr.read()
    until(lambda: not marked_processes(mark))
    return code, err, marked_processes(mark)


def scripted(fault: str) -> str:
    return f"jsonl:{sys.executable} -S -E {PROGRAM} {fault}"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has a supervisor")
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", CODES)
def test_a_run_in_the_midst_of_a_hang_keeps_its_verdicts_and_leaves_nobody(
    number: int, tmp_path: Path, wireproof: Command
) -> None:
    """The processes: the runner, the supervisor, the adapter, and the two that it left behind."""
    code, err, left = killed(number, tmp_path, scripted("hangs-later"), "--jobs", "1", processes=5)
    assert code == CODES[number]
    how = {signal.SIGINT: "interrupted", signal.SIGTERM: "ended by SIGTERM"}
    assert left == []
    rows = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert [row["event"] for row in rows] == ["run", *["case"] * (len(rows) - 1)]
    assert len(rows) > len(CASES)
    stored = f" after {len(rows) - 1} cases: their events are in run.jsonl; show them with `wireproof report"
    assert err == (f"{how[signal.Signals(number)]}{stored} run.jsonl`\n" if number != KILLED else "")
    done = wireproof("report", tmp_path / "run.jsonl")
    assert (done.code, done.err) == (4, "")
    assert "incomplete" in done.out


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has a supervisor")
@pytest.mark.usefixtures("interruptible")
@pytest.mark.sweeps
@pytest.mark.parametrize("number", [signal.SIGTERM, KILLED])
def test_a_run_that_waits_for_a_hello_leaves_nobody(number: int, tmp_path: Path) -> None:
    code, _, left = killed(number, tmp_path, scripted("hello-hangs"), "--no-families", processes=5)
    assert code == CODES[number]
    assert left == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has a supervisor")
@pytest.mark.usefixtures("interruptible")
@pytest.mark.sweeps
@pytest.mark.parametrize("number", CODES)
def test_a_run_of_several_processes_leaves_nobody(number: int, tmp_path: Path) -> None:
    """The processes: the runner, two that judge, and of each of these four."""
    specs = (scripted("hangs-later"), scripted("hangs-later") + " again")
    code, _, left = killed(number, tmp_path, *specs, "--jobs", "2", processes=11)
    assert code == CODES[number]
    assert left == []


# --- a verb that is killed while it writes ---


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

"""Records for the authors of adapters: `check --trace` and `check --keep-stderr`."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import Command

from wireproof.adapters.message_framing import Packet
from wireproof.adapters.process import recording
from wireproof.adapters.process.recording import LimitedFile, Recorder

pytestmark = pytest.mark.usefixtures("fixtures_read_once")

CASES = tuple(
    f"iggy.identifier/0.0.30/identifier/{name}"
    for name in ("numeric", "numeric-bytes", "numeric-max", "numeric-8-bytes", "string-utf8")
)
ONLY = (*(word for name in CASES for word in ("--run", name)), "--no-families")
"""Few cases: the adapter of these tests dies at the last two, and starting it takes most of the time."""

TALKS = """
import os, sys
from wireproof.adapters import (Accepted, Refused)

class Talks:
    name, version = "talks", "1"
    revisions = {"iggy.identifier/0.0.30": {"ops": ["decode"]}}

    def decode(self, request):
        print("decoding", request.data.hex(), file=sys.stderr)
        if request.data[:2] != b"\\x01\\x04":
            os._exit(3)
        return Accepted(value={"kind": "numeric", "value": request.data[2:6].hex()}, consumed=6)
"""


@pytest.fixture
def talks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "talks.py").write_text(TALKS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return "py:talks:Talks"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def messages(rows: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [row[kind] for row in rows if kind in row]


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.sweeps)])
def test_a_trace_has_the_messages_of_every_adapter_in_order(
    wireproof: Command, talks: str, tmp_path: Path, jobs: int
) -> None:
    trace = tmp_path / "trace.jsonl"
    wireproof("check", talks, "reference", *ONLY, "--trace", trace, "--jobs", jobs)
    rows = lines(trace)
    assert list(dict.fromkeys(row["adapter"] for row in rows)) == [talks, "reference"]
    mine = [row for row in rows if row["adapter"] == "reference"]
    assert [*mine[0]] == ["adapter", "start"]
    assert [*mine[1]["request"]] == ["hello"]
    assert mine[2]["answer"]["hello"]["name"] == "reference"
    asked = messages(mine, "request")[1:]
    answers = messages(mine, "answer")[1:]
    assert {one["id"] for one in asked} == {one["id"] for one in answers}
    assert {"id", "op", "format", "revision", "hex"} == asked[0].keys() - {"limits", "value"}
    places = {row["answer"].get("id"): at for at, row in enumerate(mine) if "answer" in row}
    assert all(at < places[row["request"]["id"]] for at, row in enumerate(mine[2:], 2) if "request" in row)
    assert sorted(path.name for path in tmp_path.iterdir() if "trace" in path.name) == ["trace.jsonl"]


def test_stderr_is_kept_whole_through_every_start(wireproof: Command, talks: str, tmp_path: Path) -> None:
    wireproof("check", talks, *ONLY, "--keep-stderr", tmp_path / "err", "--trace", tmp_path / "t")
    (path,) = (tmp_path / "err").iterdir()
    assert path.name == "1-py_talks_Talks.txt"
    text = path.read_text("utf-8")
    seen = [one["hex"] for one in messages(lines(tmp_path / "t"), "request") if "hex" in one]
    starts = [row for row in lines(tmp_path / "t") if "start" in row]
    assert len(starts) > 1
    assert f"--- wireproof: start {len(starts)} of the adapter ---" in text
    assert {line.split()[1] for line in text.splitlines() if line.startswith("decoding ")} <= set(seen)
    assert text.count("decoding") > 5


def test_what_a_killed_adapter_printed_last_is_kept(wireproof: Command, tmp_path: Path) -> None:
    script = tmp_path / "silent.py"
    hello = {
        "hello": {"protocol": 1, "name": "s", "version": "1", "revisions": {"iggy.identifier/0.0.30": {}}}
    }
    script.write_text(
        f"import sys, time\nprint({json.dumps(json.dumps(hello))}, flush=True)\nsys.stdin.readline()\n"
        "sys.stdin.readline()\nsys.stderr.write('x' * 5000 + 'the end')\nsys.stderr.flush()\ntime.sleep(60)\n"
    )
    spec = f"jsonl:{sys.executable} {script}"
    case = "iggy.identifier/0.0.30/identifier/string-empty"
    wireproof("--timeout-scale", "0.2", "check", spec, "--run", case, "--no-families",
              "--keep-stderr", tmp_path / "err")  # fmt: skip
    (path,) = (tmp_path / "err").iterdir()
    assert "x" * 5000 + "the end" in path.read_text()


def test_a_full_disk_is_an_error_that_names_the_file() -> None:
    path = Path("trace.jsonl")
    with Path("/dev/full").open("wb", buffering=0) as file, pytest.raises(OSError, match=r"'trace\.jsonl'"):
        LimitedFile(file, 10, b"", path).write(b"x")


def test_a_file_has_a_limit_and_says_so() -> None:
    file = io.BytesIO()
    limited = LimitedFile(file, 10, b"(cut)", Path("some"))
    for data in (b"12345", b"678901234", b"more"):
        limited.write(data)
    assert file.getvalue() == b"1234567890(cut)"
    file = io.BytesIO()
    limited = LimitedFile(file, 10, b"(cut)", Path("some"))
    for data in (b"12345\n", b"67890\n", b"1\n"):
        limited.write(data, whole=True)
    assert file.getvalue() == b"12345\n(cut)", "a line is not cut in two"


def test_a_long_message_leaves_only_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MAX_LINE", 100)
    file = io.BytesIO()
    recorder = Recorder("x", LimitedFile(file, 10_000, b"", Path("some")), None)
    recorder._note("answer", Packet({"id": "7"}, blob=bytes(100)))
    (row,) = map(json.loads, file.getvalue().splitlines())
    assert row == {"adapter": "x", "answer": {"id": "7", "bytes": row["answer"]["bytes"]}, "left_out": True}


def test_calls_in_this_process_have_no_records(wireproof: Command, tmp_path: Path) -> None:
    done = wireproof("check", "reference", *ONLY, "--in-process", "--trace", tmp_path / "t")
    assert done.code == 2
    assert "--in-process" in done.one_line()

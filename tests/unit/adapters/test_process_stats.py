"""What a tree of processes uses together, and the folders that it cannot write to."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.process import stats
from wireproof.adapters.process.controller import Process, Program

FORKS = 8
HELD = 32 << 20
FORKING = f"""
import os, sys
held = bytearray(b"x" * {HELD})
for _ in range({FORKS}):
    if not os.fork():
        sys.stdin.read()
        os._exit(0)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has proportional sizes")
def test_a_page_that_forks_share_is_counted_once() -> None:
    command = [sys.executable, "-S", "-c", FORKING]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        shared, all_of_them = stats.proportional(process.pid), stats.resident(process.pid)
    assert all_of_them is not None
    assert shared is not None
    assert all_of_them > (1 + FORKS) * HELD
    assert HELD < shared < 3 * HELD


def test_no_process_has_no_size() -> None:
    assert stats.proportional(1 << 30) is None


def test_a_full_folder_is_named_where_a_program_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stats.full_folders() == ""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4096))
    folders = " and ".join(dict.fromkeys((str(Path.cwd()), tempfile.gettempdir())))
    with pytest.raises(AdapterStartError, match="died with exit code 3") as error:
        Process(Program("dies", (sys.executable, "-S", "-c", "raise SystemExit(3)")))
    assert f"exit code 3; no space is left in {folders}" in str(error.value)

"""A run that is interrupted ends with what it found, as a real process."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.mutants.registry import spec_of

pytestmark = pytest.mark.usefixtures("own_memory")

WIREPROOF = (sys.executable, "-m", "wireproof")


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("stored", [True, False])
def test_an_interrupt_prints_the_findings_so_far_and_where_they_are(tmp_path: Path, *, stored: bool) -> None:
    words = ["check", spec_of("mutant:crc-skip"), "--run", "kafka.batch/**", "--jobs", "1"]
    words += ["--out", "run.jsonl"] if stored else []
    with subprocess.Popen(
        [*WIREPROOF, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "200"},
    ) as running:  # fmt: skip
        assert running.stdout is not None
        until = time.monotonic() + 100
        before = ""
        while time.monotonic() < until and not re.search(r"[1-9]\d* findings", before):
            before += running.stdout.readline(400)
        time.sleep(2)
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "wireproof replay kafka.batch/" in before + out, "printed when it was found"
    assert "crc-skip: " in out, "the answer so far"
    assert re.search(r"interrupted after [\d,]+ cases", err)
    assert f"wireproof report {'run.jsonl' if stored else 'last'}`" in err

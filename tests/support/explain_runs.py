"""Runs of `explain`, and what they print, for its tests."""

import json
import re
import subprocess
import sys
from typing import Any

from folders import SUPPORT

NAME = "00000000000000000000.log"
SEGMENT = SUPPORT / "segments" / "compacted" / NAME
LEGACY = SUPPORT / "segments" / "legacy" / "00000000000000001000.log"
MIB = 1 << 20
MOST_MIB = 300
"""Memory of a whole run, in MiB."""


MEASURED = """
import sys
from wireproof import cli
sys.argv = ["wireproof", *sys.argv[1:]]
try:
    cli.main()
finally:
    status = open("/proc/self/status").read()
    print(int(status.split("VmHWM:")[1].split()[0]) // 1024, file=sys.stderr)
"""
"""A run that prints its own peak of memory last; `ru_maxrss` would include the process that started it."""


def rows(out: str) -> list[str]:
    return [line for line in out.splitlines() if re.match(r" *\d+ +\d+  ", line)]


def trees(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def memory_mib(*arguments: object) -> tuple[int, str]:
    """The memory of a run as a process of its own, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "explain", *map(str, arguments)],
        capture_output=True, check=False, timeout=120, text=True,
    )  # fmt: skip
    *messages, peak = done.stderr.splitlines()
    return int(peak), done.stdout + "\n".join(messages)

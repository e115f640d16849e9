"""A check of servers by the command line, as a user runs it, and its verdicts."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.runner.event_files import read_events

SECONDS: Final = 1500
APPENDS: Final = ("kafka.batch/v2/produce/**", "kafka.log/mixed/produce/**", "kafka.log/mixed/append/**")
"""The cases that a broker is asked."""

FINDINGS: Final = frozenset({"fail", "lenient", "crash", "timeout", "resource", "stalled", "not-run"})
"""The verdicts that fail a run at level `should`."""


@frozen
class Judged:
    """What a check printed, its exit code, and for each address the verdicts by case."""

    code: int
    output: str
    verdicts: Mapping[str, Mapping[str, str]]


def judged(
    addresses: Sequence[str],
    folder: Path,
    *options: str,
    cases: Sequence[str] = APPENDS,
    kind: str = "kafka-broker",
) -> Judged:
    """Check the servers of a kind at these addresses in one run at level `should`."""
    events = folder / "run.jsonl"
    specs = [f"{kind}:{address}" for address in addresses]
    patterns = [part for case in cases for part in ("--run", case)]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "wireproof", "check", *specs, *patterns),
            *("--no-families", "--level", "should", "--out", str(events), *options),
        ],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    verdicts = {
        stream.run.spec.removeprefix(f"{kind}:"): {case.id: case.verdict for case in stream.cases}
        for stream in read_events(events)
    }
    return Judged(done.returncode, done.stdout, verdicts)

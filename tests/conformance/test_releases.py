"""Bugs that others reported, in the releases that have them: present there, gone where they were fixed.

comparing.md lists more of them. Each release is built with its own lock file, from its language's registry.
"""

import re
import sys
from subprocess import CompletedProcess, run

import pytest
from machine import needs

from wireproof.runner.exit_codes import Exit

RELEASES = [
    pytest.param(
        "franz-go",
        "1.17.0",
        "1.17.1",
        "kafka.log/mixed/transactions/uncommitted-aborted-list",
        marks=needs("go"),
        id="franz-go-758",
    ),
    pytest.param(
        "kafka-python",
        "2.2.14",
        "3.0.12",
        "kafka.batch/v2/zstd/two-frames",
        marks=needs("[peers]"),
        id="kafka-python-2717",
    ),
    pytest.param(
        "kafka-python-client",
        "1.4.4",
        "1.4.5",
        "kafka.log/mixed/entries/gap-at-the-end",
        marks=needs("[peers]"),
        id="kafka-python-1724",
    ),
]


def checked(spec: str, case: str) -> CompletedProcess[str]:
    """Check one case on an adapter, in a process of its own."""
    command = [sys.executable, "-m", "wireproof", "check", spec, "--run", case, "--no-families"]
    return run(command, capture_output=True, text=True, check=False)


@pytest.mark.peers
@pytest.mark.parametrize(("name", "affected", "fixed", "case"), RELEASES)
def test_a_reported_bug_is_found_in_its_release_and_gone_in_the_fixed_one(
    name: str, affected: str, fixed: str, case: str
) -> None:
    before = checked(f"{name}@{affected}", case)
    assert before.returncode == Exit.FAILS, before.stderr
    assert re.search(rf"^(FAIL |STALLED) {case}  ", before.stdout, re.MULTILINE), before.stdout
    assert f"{name} {affected}" in before.stdout
    after = checked(f"{name}@{fixed}", case)
    assert after.returncode == Exit.CONFORMS, after.stdout + after.stderr

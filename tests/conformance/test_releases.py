"""Bugs that others reported, in the releases that have them: present there, gone in the release that fixed it.

comparing.md lists more of them. Each release is built with its own lock file, from the registry of its language.
"""

import pytest
from command_line import Command
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
]


@pytest.mark.peers
@pytest.mark.parametrize(("name", "affected", "fixed", "case"), RELEASES)
def test_a_reported_bug_is_found_in_its_release_and_gone_in_the_fixed_one(
    wireproof: Command, name: str, affected: str, fixed: str, case: str
) -> None:
    before = wireproof("check", f"{name}@{affected}", "--run", case, "--no-families")
    assert before.code == Exit.FAILS, before.err
    assert f"FAIL  {case}" in before.out
    assert f"{name} {affected}" in before.out
    after = wireproof("check", f"{name}@{fixed}", "--run", case, "--no-families")
    assert after.code == Exit.CONFORMS, after.out + after.err

"""The instrument behind the mutation score notices a planted fault and lets an equal codec live."""

import json
import os
import subprocess
import sys

import pytest
from folders import SUPPORT, TESTS, TOP

MUTATION = TESTS / "mutation"
REFERENCE = TOP / "reference"

SCRIPT = """
import json, sys
import mutation_import, mutation_judge
from mutation_sites import path_of
from mutation_trial import Ground
from wireproof.cases.fixtures import load

cases = [case for case in load().cases if case.format_id == "kafka.batch/v0"][:60]
parents = [case for case in cases if case.op == "decode"][:4]
ground = Ground(mutation_import.SEEN)
for module, old, new in json.load(sys.stdin):
    source = path_of(module).read_text(encoding="utf-8")
    assert source.count(old) == 1, (module, old)
    found = ground.tried(module, source.replace(old, new), cases, parents)
    print(json.dumps([found.by, found.why]))
"""


def tried(*changes: tuple[str, str, str]) -> list[tuple[str, str]]:
    """By what each change (module, text, other text) was killed, and why; in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps(changes), capture_output=True, text=True, timeout=120, cwd=MUTATION, check=False,
        env={"PYTHONPATH": os.pathsep.join(map(str, (MUTATION, SUPPORT, REFERENCE))), "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [(by, why) for by, why in map(json.loads, done.stdout.splitlines())]


@pytest.mark.sweeps
def test_planted_faults_are_noticed_and_equal_codecs_live() -> None:
    wrong_sum, wrong_table, endless, hungry, unborn, equal, equal_table = tried(
        ("wire.checksums", "return zlib.crc32(data, start)", "return zlib.crc32(data, start) ^ 1"),
        ("wire.reader", '"int32": Struct(">i")', '"int32": Struct("<i")'),
        ("wire.reader", "self.end = len(data) if end is None else end", "while True: pass"),
        ("wire.reader", "self.end = len(data) if end is None else end", "self.end = len(bytes(1 << 40))"),
        ("wire.options", "from typing", "from nowhere"),
        ("wire.checksums", "return zlib.crc32(data, start)", "return start and 0 or zlib.crc32(data, start)"),
        ("wire.reader", '"int32": Struct(">i")', '"int32": Struct(">1i")'),
    )
    assert wrong_sum[1] == "fail:wrong-reject"
    assert wrong_table[0].startswith("kafka.batch/v0/")
    assert endless[1] == "timeout"
    assert hungry[1] == "memory"
    assert unborn == ("import", "raised ModuleNotFoundError")
    assert equal == equal_table == ("", "")

"""The mutator for fuzzers of other people: over a pipe for libFuzzer, and as a module of AFL++."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from io import BytesIO
from pathlib import Path
from random import Random
from types import ModuleType

import pytest
from attrs import frozen
from goldens import golden_bytes

from wireproof import formats, report
from wireproof.derive.mutate import crossover, mutate, repair
from wireproof.formats import FORMATS
from wireproof.fuzz.mutator_process import (
    ANSWER,
    CROSS_OVER,
    FIX_UP,
    FORMAT_VARIABLE,
    MUTATE,
    REQUEST,
    MutatorError,
    serve,
)
from wireproof.wire.rejection import Rejected

COMMAND = f"{shlex.quote(sys.executable)} -m wireproof.fuzz.mutator_process"
ROW = FORMATS["kafka.batch/v2"]
ONE, TWO = (golden_bytes(f"kafka.batch/v2/batch/{name}") for name in ("one-record", "two-records"))


def python(code: str) -> str:
    """Return a command that runs this code, for a variable that holds one command."""
    return shlex.join((sys.executable, "-c", code))


@frozen
class Asked:
    """A request; the numbers of its header come from its parts."""

    kind: int
    one: bytes
    two: bytes = b""
    seed: int = 1
    max_size: int = 4096

    def octets(self) -> bytes:
        header = REQUEST.pack(self.kind, self.seed, self.max_size, len(self.one), len(self.two))
        return header + self.one + self.two


def answers(data: bytes) -> Iterator[bytes]:
    stream = BytesIO(data)
    while head := stream.read(ANSWER.size):
        yield stream.read(ANSWER.unpack(head)[0])


def served(*asked: Asked) -> list[bytes]:
    out = BytesIO()
    serve(ROW, BytesIO(b"".join(one.octets() for one in asked)), out)
    return list(answers(out.getvalue()))


def test_each_request_has_the_answer_of_the_mutators() -> None:
    damaged = ONE[:-1] + bytes([ONE[-1] ^ 1])
    found = served(Asked(MUTATE, ONE, seed=7), Asked(FIX_UP, damaged), Asked(CROSS_OVER, ONE, TWO, seed=9))
    assert found == [
        mutate(ROW, ONE, Random(7), 4096),
        repair(ROW, damaged),
        crossover(ROW, ONE, TWO, Random(9), 4096),
    ]
    formats.decode(ROW, found[1])


def test_no_answer_is_longer_than_was_asked_for() -> None:
    asked = [Asked(kind, ONE, TWO, seed, max_size=40) for kind in (0, 1, 2) for seed in range(50)]
    assert max(map(len, served(*asked))) == 40


def test_an_answer_depends_on_its_request_alone() -> None:
    asked = [Asked(MUTATE, ONE, seed=seed) for seed in range(20)]
    assert served(*asked) == served(*asked[::-1])[::-1]


def test_empty_inputs_are_mutated_too() -> None:
    assert any(served(*(Asked(MUTATE, b"", seed=seed) for seed in range(5))))


def test_a_request_of_no_known_kind_is_an_error() -> None:
    with pytest.raises(MutatorError, match="kind 3"):
        served(Asked(3, ONE))


def run(environment: dict[str, str], request: bytes) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        shlex.split(COMMAND), input=request, capture_output=True, check=False, timeout=60,
        env={**os.environ, **environment},
    )  # fmt: skip


def test_the_process_answers_and_ends_with_its_input() -> None:
    asked = Asked(MUTATE, ONE, seed=3)
    done = run({FORMAT_VARIABLE: ROW.format_id}, asked.octets())
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(answers(done.stdout)) == [mutate(ROW, ONE, Random(3), 4096)]


def test_a_format_that_does_not_exist_is_one_line() -> None:
    done = run({FORMAT_VARIABLE: "kafka.batch/v22"}, b"")
    assert done.returncode == 1
    assert done.stderr.decode() == (
        "wireproof mutator: WIREPROOF_FORMAT=kafka.batch/v22: no such format; did you mean kafka.batch/v2?\n"
    )


# --- AFL++ ---


@pytest.fixture
def afl(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module as `afl-fuzz` imports it, with the process that answers it."""
    monkeypatch.setenv(FORMAT_VARIABLE, ROW.format_id)
    monkeypatch.setenv("WIREPROOF_MUTATOR", COMMAND)
    monkeypatch.syspath_prepend(str(Path(report.__file__).parent / "mutator"))
    yield import_module("wireproof_afl")
    sys.modules.pop("wireproof_afl")


def run_of_afl(afl: ModuleType, count: int, max_size: int = 4096) -> list[bytearray]:
    afl.init(5)
    found = [afl.fuzz(bytearray(ONE), bytearray(TWO), max_size) for _ in range(count)]
    afl.deinit()
    return found


def test_afl_gets_bytearrays_of_at_most_its_size(afl: ModuleType) -> None:
    found = run_of_afl(afl, 50, max_size=100)
    assert {type(one) for one in found} == {bytearray}
    assert max(map(len, found)) == 100
    assert len({bytes(one) for one in found}) > 25


def test_most_inputs_for_afl_get_past_the_checksum(afl: ModuleType) -> None:
    past = 0
    for data in run_of_afl(afl, 100):
        try:
            formats.decode(ROW, bytes(data))
        except Rejected as error:
            past += error.cls not in ("crc-mismatch", "truncated", "length-mismatch")
        else:
            past += 1
    assert past > 50


def test_afl_with_the_same_seed_gets_the_same_inputs(afl: ModuleType) -> None:
    assert run_of_afl(afl, 20) == run_of_afl(afl, 20)


def test_afl_without_another_input_of_the_queue_gets_mutations(afl: ModuleType) -> None:
    afl.init(5)
    assert any(afl.fuzz(bytearray(ONE), None, 4096) for _ in range(20))
    afl.deinit()


def test_afl_never_gets_an_empty_input_at_which_it_would_end(
    afl: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREPROOF_MUTATOR", python("import sys; sys.stdout.buffer.write(bytes(4))"))
    afl.init(5)
    assert afl.fuzz(bytearray(ONE), None, 10) == ONE[:10]
    afl.deinit()


def test_afl_is_told_if_there_is_no_process(afl: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREPROOF_MUTATOR", python("raise SystemExit(1)"))
    afl.init(1)
    with pytest.raises(RuntimeError, match="WIREPROOF_MUTATOR"):
        afl.fuzz(bytearray(ONE), None, 4096)
    afl.deinit()

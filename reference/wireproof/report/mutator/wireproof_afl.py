# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: INP001 - a file that AFL++ imports alone
"""The field-aware mutator of wireproof for AFL++, which imports this file: it needs no other package.

    WIREPROOF_FORMAT=kafka.batch/v2 PYTHONPATH=mutator AFL_PYTHON_MODULE=wireproof_afl afl-fuzz ...

The mutations come from a process of the Python that has wireproof, because the Python within `afl-fuzz` may
be another version. WIREPROOF_MUTATOR is its command; default `python3 -m wireproof.fuzz.mutator_process`.
"""

import os
import shlex
import struct
import subprocess
from contextlib import suppress
from random import Random

COMMAND = "python3 -m wireproof.fuzz.mutator_process"
MUTATE, CROSS_OVER = 0, 2

CROSSED_ONE_IN = 8
"""One input in this many combines two inputs of the queue."""


class MutatorProcess:
    """The process, and the source of the seeds that it gets."""

    def __init__(self, seed: int) -> None:
        """Start the process."""
        self._rng = Random(seed)  # noqa: S311 - the fuzzer's seed, so that a run can be repeated
        self._process = subprocess.Popen(  # noqa: S603 - a command of the user's own environment
            shlex.split(os.environ.get("WIREPROOF_MUTATOR", COMMAND)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout

    def next_input(self, one: bytes, two: bytes, max_size: int) -> bytes:
        """Return a mutation of `one`, or a combination of both.

        Raises:
            RuntimeError: the process has ended; it has said why on stderr.
        """
        kind = MUTATE if self._rng.randrange(CROSSED_ONE_IN) else CROSS_OVER
        header = struct.pack("<BIIII", kind, self._rng.getrandbits(32), max_size, len(one), len(two))
        with suppress(BrokenPipeError):  # the answer is missing too then
            self._requests.write(header + one + two)
            self._requests.flush()
        length = self._answers.read(4)
        if len(length) < 4:
            raise RuntimeError("the mutator process of wireproof has ended: see WIREPROOF_MUTATOR")
        return self._answers.read(struct.unpack("<I", length)[0])

    def end(self) -> None:
        """End the process."""
        with suppress(BrokenPipeError):
            self._requests.close()
        self._answers.close()
        self._process.wait()


RUNNING: dict[str, MutatorProcess] = {}
"""The process between `init` and `deinit`: AFL++ has no object to keep it in."""


def init(seed: int) -> None:
    """Begin."""
    RUNNING["afl"] = MutatorProcess(seed)


def fuzz(buf: bytearray, add_buf: bytearray | None, max_size: int) -> bytearray:
    """Return the next input: from `buf`, and sometimes `add_buf`, another input of the queue.

    AFL++ ends at an empty input, so the queue's own is returned instead.
    """
    return bytearray(RUNNING["afl"].next_input(bytes(buf), bytes(add_buf or b""), max_size)) or buf[:max_size]


def deinit() -> None:
    """End."""
    RUNNING.pop("afl").end()

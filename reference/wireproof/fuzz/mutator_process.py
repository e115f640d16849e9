"""The field-aware mutator as a process, for fuzzers in other languages: it answers on stdout what stdin asks.

    WIREPROOF_FORMAT=kafka.batch/v2 python3 -m wireproof.fuzz.mutator_process

`wireproof export --seeds` writes the sources that start this process from libFuzzer, cargo-fuzz and AFL++.
Numbers are little-endian and unsigned:

    request  kind u8, seed u32, largest size of the answer u32, length u32, length of the second input u32,
             input, second input
    answer   length u32, input

The kinds: 0 mutates the input, 1 fixes up its lengths and checksums, 2 combines both inputs. An answer
depends on its request alone. The process ends when stdin does.
"""

import os
import signal
import sys
from random import Random
from struct import Struct
from typing import BinaryIO, Final

from wireproof.derive.mutate import crossover, mutate, repair
from wireproof.formats import FORMATS, Format
from wireproof.suggestions import suggestion

REQUEST: Final = Struct("<BIIII")
ANSWER: Final = Struct("<I")

MUTATE, FIX_UP, CROSS_OVER = 0, 1, 2

FORMAT_VARIABLE: Final = "WIREPROOF_FORMAT"


class MutatorError(Exception):
    """A request is of no known kind."""


def answer(row: Format, kind: int, seed: int, max_size: int, inputs: tuple[bytes, bytes]) -> bytes:
    """Return the input for a request; raises `MutatorError`."""
    one, two = inputs
    match kind:
        case 0:
            made = mutate(row, one, Random(seed), max_size)  # noqa: S311 - the fuzzer's seed, to repeat a run
        case 1:
            made = repair(row, one)
        case 2:
            made = crossover(row, one, two, Random(seed), max_size)  # noqa: S311 - as above
        case _:
            raise MutatorError(f"kind {kind}: no request has it")
    return made[:max_size]


def serve(row: Format, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more; raises `MutatorError`."""
    while len(header := requests.read(REQUEST.size)) == REQUEST.size:
        kind, seed, max_size, length, second = REQUEST.unpack(header)
        data = requests.read(length + second)
        made = answer(row, kind, seed, max_size, (data[:length], data[length:]))
        answers.write(ANSWER.pack(len(made)) + made)
        answers.flush()


def main() -> None:
    """Serve the fuzzer that has started this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the fuzzer, whose end closes stdin
    name = os.environ.get(FORMAT_VARIABLE, "")
    if name not in FORMATS:
        fault = f"{FORMAT_VARIABLE}={name}: no such format; {suggestion(name, FORMATS)}"
        sys.exit(f"wireproof mutator: {fault}")
    try:
        serve(FORMATS[name], sys.stdin.buffer, sys.stdout.buffer)
    except MutatorError as error:
        sys.exit(f"wireproof mutator: {error}")
    except BrokenPipeError:
        os._exit(0)  # the fuzzer has ended; Python would report it once more when it flushes stdout


if __name__ == "__main__":
    main()

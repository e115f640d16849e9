"""The process that fuzzes: libFuzzer through atheris, over the one harness, until its time is over."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

from wireproof.fuzz.mutator import Mutator
from wireproof.fuzz.target import Target

LOOK: Final = 64
"""Executions between looks at the memory."""

RESIDENT: Final = 1024 * 1024 * 1024
"""Bytes; a process that grew so large makes room for a fresh one, which costs a fork."""

DONE, FULL = 0, 75
"""Exit codes: the time is over, or a fresh process is wanted."""

FLAGS: Final = (
    "-len_control=0",
    "-mutate_depth=2",  # a child of ours has up to three edits already
    "-timeout=3600",
    "-rss_limit_mb=0",
    "-malloc_limit_mb=0",
    *(f"-handle_{name}=0" for name in ("segv", "bus", "abrt", "ill", "fpe", "int", "term", "xfsz")),
)
"""Time, memory and signals are the lane's business: it must see how the process died."""


def fuzz(mutator: Mutator, target: Target, arguments: list[str], over: Callable[[], bool]) -> NoReturn:
    """Fuzz with libFuzzer's `arguments` until `over`."""
    import atheris  # noqa: PLC0415 - an extra, and only in a process that fuzzes

    atheris.Setup(
        [sys.argv[0], *FLAGS, *arguments],
        _bounded(target, over),
        custom_mutator=mutator.mutate,
        custom_crossover=mutator.cross,
    )
    atheris.Fuzz()
    target.finish()
    os._exit(DONE)


def native(data: bytes, size: int) -> bytes:
    """LibFuzzer's own mutation; atheris binds another `Mutate` once `Fuzz` is called, so look it up late."""
    import atheris  # noqa: PLC0415 - as above

    made: bytes = atheris.Mutate(data, size)
    return made


def _bounded(target: Target, over: Callable[[], bool]) -> Callable[[bytes], None]:
    count = 0

    def one(data: bytes) -> None:
        nonlocal count
        target(data)
        count += 1
        done = over()
        if done or (count % LOOK == 0 and resident() > RESIDENT):
            target.finish()
            sys.stderr.flush()
            os._exit(DONE if done else FULL)

    return one


def resident() -> int:
    """Bytes of this process in memory; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")

"""How much work a call does, counted and not timed: lines of Python, and bytes of its input copied."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, SupportsIndex

from wireproof.wire.rejected import Rejected

TWICE = 2.1
"""What twice the input may cost: a little more than twice the work, and far less than four times."""


class Watched(bytes):
    """Bytes that add up the length of every part that is taken out of them."""

    copied = 0

    def __getitem__(self, key: SupportsIndex | slice) -> Any:
        part = super().__getitem__(key)
        if isinstance(part, bytes):
            self.copied += len(part)
        return part


def lines(call: Callable[[], object]) -> int:
    """The lines of Python that `call` runs; a refusal is an end like any other."""
    count = 0

    def local(_: FrameType, event: str, __: object) -> Any:
        nonlocal count
        count += event == "line"
        return local

    before = sys.gettrace()
    sys.settrace(lambda *_: local)
    try:
        call()
    except Rejected:
        pass
    finally:
        sys.settrace(before)
    return count


def work(call: Callable[[bytes], object], data: bytes) -> int:
    """The lines that `call` runs over `data`, and the bytes of it that are copied."""
    watched = Watched(data)
    return lines(lambda: call(watched)) + watched.copied

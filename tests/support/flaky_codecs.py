"""Codecs whose answer to the same bytes differs, as Python objects; workers import them too.

Each refuses some of the identifiers that it must accept. `$STARTS` is a file that gets a byte for each
process that makes such a codec.
"""

import os
from pathlib import Path
from typing import ClassVar

from tests.mutants.base import ReferenceCodec
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, Refused

TWIN, LARGEST = bytes.fromhex("010401000000"), bytes.fromhex("0104ffffffff")
"""The inputs of the cases `numeric`, which is the twin of others, and `numeric-max`."""


class Flaky(ReferenceCodec):
    """Refuses what `refuses` says; counts what it may refuse, and the processes that made it."""

    system: ClassVar[str] = "iggy.identifier"

    def __init__(self) -> None:
        starts = Path(os.environ["STARTS"])
        with starts.open("ab") as file:
            file.write(b".")
        self.start = starts.stat().st_size
        self.asked = 0

    def decode(self, request: Request) -> Outcome:
        """Refuse or answer; only what is to be accepted is counted, and can be refused."""
        right = super().decode(request)
        if not isinstance(right, Accepted):
            return right
        self.asked += 1
        return Refused("other") if self.refuses(request) else right

    def refuses(self, request: Request) -> bool:
        raise NotImplementedError  # each codec below refuses at other times


class AtRandom(Flaky):
    """Refuses every third request, whatever it is."""

    every: ClassVar[int] = 3

    def refuses(self, request: Request) -> bool:
        del request
        return self.asked % self.every == 0


class Seldom(AtRandom):
    """Refuses every ninth request."""

    every: ClassVar[int] = 9


class InFirstProcess(Flaky):
    """Refuses the twin in the first process that makes it, and in no later one."""

    def refuses(self, request: Request) -> bool:
        return request.data == TWIN and self.start == 1


class AsFirst(Flaky):
    """Refuses the first request of a process."""

    def refuses(self, request: Request) -> bool:
        del request
        return self.asked == 1


class Tires(Flaky):
    """Refuses all after the fifth request of a process."""

    def refuses(self, request: Request) -> bool:
        del request
        return self.asked > 5


class Always(Flaky):
    """Refuses two numbers in every process."""

    def refuses(self, request: Request) -> bool:
        return request.data in (TWIN, LARGEST)


class DiesAgain(Always):
    """Dies of the two numbers in every process but the first, which refuses them."""

    def refuses(self, request: Request) -> bool:
        if super().refuses(request) and self.start > 1:
            os._exit(3)
        return super().refuses(request)


class StartsOnce(Always):
    """Cannot be made in a second process."""

    def __init__(self) -> None:
        super().__init__()
        if self.start > 1:
            raise OSError("its port is in use")


class AnotherOne(Always):
    """Has another version in each process."""

    def __init__(self) -> None:
        super().__init__()
        self.version = f"1.{self.start}"

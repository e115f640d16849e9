"""Codecs that hang, die or forget on certain values, as Python objects: for the tests of shrink."""

import os
import signal
import time
from pathlib import Path

from tests.mutants.base import ReferenceCodec
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome, Refused


class Hangs(ReferenceCodec):
    """Never answers where a record key holds 0x7f; `$HANGS` is a file that it makes then."""

    name = "hangs"
    system = "kafka"

    def decode(self, request: Request) -> Outcome:
        if b"\x7f" in request.data:
            if mark := os.environ.get("HANGS"):
                Path(mark).touch()
            time.sleep(3600)
        return super().decode(request)


class AnswersSome(ReferenceCodec):
    """Answers `$ANSWERS` requests and none after them; `$ANSWERED` gets the bytes of each in hex."""

    name = "answers-some"
    system = "iggy"
    left = int(os.environ.get("ANSWERS", "0"))

    def decode(self, request: Request) -> Outcome:
        if not self.left:
            time.sleep(3600)
        self.left -= 1
        outcome = super().decode(request)
        with Path(os.environ["ANSWERED"]).open("a") as file:
            file.write(f"{request.data.hex()}\n")
        return outcome


class Dies(ReferenceCodec):
    """Is killed where the bytes hold 0x7f."""

    name = "dies"
    system = "kafka"

    def decode(self, request: Request) -> Outcome:
        if b"\x7f" in request.data:
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().decode(request)


class Tires(ReferenceCodec):
    """Refuses every request after the tenth."""

    name = "tires"
    system = "kafka"
    asked = 0

    def decode(self, request: Request) -> Outcome:
        self.asked += 1
        return super().decode(request) if self.asked <= 10 else Refused("other")


class DiesInManyWays(ReferenceCodec):
    """Ends at every request, with an exit code that depends on its size."""

    name = "dies-in-many-ways"
    system = "iggy"

    def decode(self, request: Request) -> Outcome:
        os._exit(len(request.data) % 97 + 1)


class StartsOnce(ReferenceCodec):
    """Does not start while another process of it, which `$STARTS_ONCE` names, is there."""

    name = "starts-once"
    system = "iggy"

    def __init__(self) -> None:
        mark = Path(os.environ["STARTS_ONCE"])
        try:
            os.kill(int(mark.read_text()), 0)
        except (FileNotFoundError, ProcessLookupError):
            mark.write_text(str(os.getpid()))
        else:
            raise RuntimeError("another process has the port")
        super().__init__()


class DiesAtLargest(ReferenceCodec):
    """Ends where the bytes hold the largest number of 32 bits."""

    name = "dies-at-largest"
    system = "iggy"

    def decode(self, request: Request) -> Outcome:
        if b"\xff\xff\xff\xff" in request.data:
            os._exit(9)
        return super().decode(request)

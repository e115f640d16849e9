"""Readers that are the reference, and refuse too much."""

from itertools import count

from tests.mutants.base import ReferenceCodec
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.wire.remark_classes import REMARK_CLASSES


class RefuseRemarked(ReferenceCodec):
    """Refuses whatever has a remark by which a reader may refuse."""

    name = "refuse-remarked"

    def patch_answer(self, outcome: Accepted, request: Request) -> Outcome:
        del request
        refused = any(REMARK_CLASSES[name].rejectable for name in outcome.remarks)
        return Refused("not-permitted") if refused else outcome


class RefuseEachTenth(ReferenceCodec):
    """Refuses each tenth input that it reads."""

    name = "refuse-each-tenth"

    def __init__(self) -> None:
        super().__init__()
        self._read = count(1)

    def patch_answer(self, outcome: Accepted, request: Request) -> Outcome:
        del request
        return outcome if next(self._read) % 10 else Refused("other")

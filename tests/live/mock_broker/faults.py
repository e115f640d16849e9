"""Brokers with one fault each: `FAULTS`, by name. Each class overrides one step of an append.

The faults are those that brokers had, or that a rule of kafka.md §1.7 forbids and one careless line makes.
Those of `serve broker` are in the package.
"""

import re
import sys
from collections.abc import Mapping
from inspect import getmembers, isclass
from typing import Final

from attrs import evolve

from tests.live.mock_broker import (
    cleaning,
    fetching_faults,
    idle_faults,
    listing_faults,
    old_fetch_faults,
    refusal_faults,
    restart_faults,
    sequence_faults,
    storage_faults,
    transaction_time_faults,
)
from tests.live.mock_broker.expiry import ForgettingPartition
from tests.live.mock_broker.old_messages import ConvertingPartition
from tests.live.mock_broker.restart_faults import RestartingPartition
from wireproof.live.loopback_broker import faults as served
from wireproof.live.loopback_broker.append_rules import Form
from wireproof.live.loopback_broker.partition import Appended, CleaningPartition, ServedPartition
from wireproof.live.loopback_broker.server import Die, Hang

DAY_MS: Final = 86_400_000

RIGHT: Final = (
    ServedPartition,
    CleaningPartition,
    ConvertingPartition,
    ForgettingPartition,
    RestartingPartition,
)
"""The partitions without a fault."""

LARGE: Final = 3
"""The number of records at which a broker hangs or dies."""


# --- faults in offsets, and in what is answered ---


class LeavesGap(ServedPartition):
    """Leaves an offset out after each batch."""

    def keep(self, form: Form, data: bytes) -> None:
        """Skip an offset."""
        super().keep(form, data)
        self.end += 1


class AnswersOtherPartition(ServedPartition):
    """Answers the offset that another partition has: the number of all appends of the broker."""

    appends = 0

    def answer(self, form: Form, now: int) -> Appended:
        """Answer the number of appends."""
        AnswersOtherPartition.appends += 1
        return evolve(super().answer(form, now), base_offset=AnswersOtherPartition.appends)


class AnswersOtherTime(ServedPartition):
    """Answers another append time than it stores."""

    def answer(self, form: Form, now: int) -> Appended:
        """Answer a day later."""
        return super().answer(form, now + DAY_MS)


class AppendTimeOfYesterday(ServedPartition):
    """Stores and answers an append time that is a day old."""

    def append(self, data: bytes, version: int, transactional_id: str | None, now: int) -> Appended:
        """Append yesterday."""
        return super().append(data, version, transactional_id, now - DAY_MS)


class ReadsFromNextBatch(ServedPartition):
    """Answers a Fetch inside a batch with the next batch."""

    def read_from(self, offset: int, max_bytes: int, bound: int | None = None) -> bytes:
        """Leave out the batch that begins before the offset."""
        later = [stored for stored in self.stored if stored.base_offset >= offset]
        return super().read_from(later[0].base_offset, max_bytes, bound) if later else b""


# --- faults of the server ---


class Hangs(ServedPartition):
    """Does not answer a Produce of three records or more."""

    def keep(self, form: Form, data: bytes) -> None:
        """Hang before a larger batch is stored."""
        if len(form.header.records) >= LARGE:
            raise Hang
        super().keep(form, data)


class Dies(ServedPartition):
    """Ends at a Produce of three records or more: every connection is closed, and nobody listens."""

    def keep(self, form: Form, data: bytes) -> None:
        """Die before a larger batch is stored."""
        if len(form.header.records) >= LARGE:
            raise Die
        super().keep(form, data)


def _named() -> Mapping[str, type[ServedPartition]]:
    modules = (
        cleaning,
        fetching_faults,
        listing_faults,
        restart_faults,
        transaction_time_faults,
        storage_faults,
        refusal_faults,
        sequence_faults,
        idle_faults,
        old_fetch_faults,
        sys.modules[__name__],
    )
    found = (member for module in modules for member in getmembers(module, isclass))
    faulty = [(name, one) for name, one in found if issubclass(one, ServedPartition) and one not in RIGHT]
    named = {re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower(): one for name, one in faulty}
    return {**served.FAULTS, **named}


FAULTS: Final[Mapping[str, type[ServedPartition]]] = _named()
"""The faulty partitions by name, such as `stores-wrong-crc`."""


def partition_class(fault: str | None) -> type[ServedPartition]:
    """Return the partition with this fault, the right one for None; raises `KeyError`."""
    return FAULTS[fault] if fault else CleaningPartition

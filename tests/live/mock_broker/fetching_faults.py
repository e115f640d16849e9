"""Faults in the limits of a Fetch, and in what it waits for. Each class overrides one step of the answer."""

from collections.abc import Sequence
from typing import Any

from wireproof.live.loopback_broker.fetching import NO_LIMIT, Fetching, Part
from wireproof.live.loopback_broker.partition import ServedPartition


class EachPartitionLimited(Fetching):
    """Compares each partition with the limit alone."""

    def is_too_much(self, size: int, _: int, before: Sequence[Part]) -> bool:
        """Take the whole limit for what is left."""
        return super().is_too_much(size, self.response_limit(), before)


class EachPartitionPasses(Fetching):
    """Returns a batch of each partition that has one, however small the limit is."""

    def is_too_much(self, *_: Any, **__: Any) -> bool:
        """Refuse nothing."""
        return False


class FirstPartitionPasses(Fetching):
    """Lets the first partition of the request pass the limit, and no other one, also if that has nothing."""

    def is_too_much(self, size: int, rest: int, before: Sequence[Part]) -> bool:
        """Look at the place of the partition."""
        return size > rest and bool(before)


class Sorting(Fetching):
    """Fills the response in the order of the numbers of partitions."""

    def ordered(self) -> Sequence[tuple[Any, Any]]:
        """Sort by number."""
        return sorted(super().ordered(), key=lambda row: int(row[0][1]))


class Hasty(Fetching):
    """Does not wait."""

    def is_ready(self, _: Sequence[Part]) -> bool:
        """Be ready."""
        return True


class AnyByte(Fetching):
    """Waits for the first byte, however many are asked for."""

    def is_ready(self, parts: Sequence[Part]) -> bool:
        """Look for records."""
        return any(answer["records"] or answer["error_code"] for _, _, answer in parts)


class AllOrNothing(Fetching):
    """Returns nothing when the time is over and too few bytes are there."""

    def reply(self, parts: Sequence[Part]) -> Any:
        """Leave out the records."""
        if not self.is_ready(parts):
            for _, _, answer in parts:
                answer["records"] = b""
        return super().reply(parts)


class WaitingForEnd(Fetching):
    """Ends the wait for committed records with the first record, whose transaction is open."""

    def is_ready(self, parts: Sequence[Part]) -> bool:
        """Compare the high watermark with the offset."""
        rows = zip(parts, self.rows.values(), strict=True)
        ended = any(answer["high_watermark"] > one.fetch_offset for (_, _, answer), (_, one) in rows)
        return ended or super().is_ready(parts)


class Again(Fetching):
    """Notes whether it waited."""

    looks = 0

    def look(self) -> list[Part]:
        """Count."""
        self.looks += 1
        return super().look()


class UnlimitedAgain(Again):
    """Forgets the limit of the response while it waits."""

    def response_limit(self) -> int:
        """Have none."""
        return NO_LIMIT if self.looks > 1 else super().response_limit()


class StrictAgain(Again):
    """Leaves out a batch that is larger than the limit after it waited."""

    def is_too_much(self, size: int, rest: int, before: Sequence[Part]) -> bool:
        """Compare with the limit alone."""
        return size > rest if self.looks > 1 else super().is_too_much(size, rest, before)


class LimitsEachPartition(ServedPartition):
    """A broker that compares each partition with the limit of the response alone."""

    fetching_class = EachPartitionLimited


class PassesLimitInEachPartition(ServedPartition):
    """A broker that returns a batch of each partition, however small the limit is."""

    fetching_class = EachPartitionPasses


class LimitsSecondPartition(ServedPartition):
    """A broker whose limit only the first partition of a request may pass, also if that has nothing."""

    fetching_class = FirstPartitionPasses


class SortsPartitions(ServedPartition):
    """A broker that fills the response in the order of the numbers of partitions."""

    fetching_class = Sorting


class WaitsForNothing(ServedPartition):
    """A broker that answers every Fetch at once."""

    fetching_class = Hasty


class WaitsForFirstByte(ServedPartition):
    """A broker that answers with the first byte."""

    fetching_class = AnyByte


class ReturnsNothingAfterWait(ServedPartition):
    """A broker that returns nothing if too few bytes came in time."""

    fetching_class = AllOrNothing


class WaitsForOpenTransaction(ServedPartition):
    """A broker that ends the wait for committed records when a record of an open transaction comes."""

    fetching_class = WaitingForEnd


class ForgetsLimitAfterWait(ServedPartition):
    """A broker that keeps no limit after a wait."""

    fetching_class = UnlimitedAgain


class RefusesLargeAfterWait(ServedPartition):
    """A broker that leaves out a first batch that is larger than the limit after a wait."""

    fetching_class = StrictAgain

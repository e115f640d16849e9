"""Faults in how a log is walked and scanned.

Each class is one; `kafka.MUTANTS` lists them.
"""

from collections.abc import Iterable, Iterator

from tests.mutants.kafka_helpers import (
    MAGIC,
    KafkaMutant,
    frames,
)
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, Refused, refused_outcome
from wireproof.formats import Format
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item

# --- logs: kafka.md, section 2.4 ---


class PartialTailRaises(KafkaMutant):
    """Refuses a log that ends in a torn entry."""

    name = "partial-tail-raises"

    def patch_answer(self, outcome: Accepted, request: Request) -> Outcome:
        """Refuse what is torn, after what was whole."""
        if not _torn(outcome, request):
            return outcome
        return Refused("truncated", outcome.consumed, "batches", before=outcome.value)


class PartialTailLosesPrefix(KafkaMutant):
    """Drops the whole log if its last entry is torn."""

    name = "partial-tail-loses-prefix"

    def patch_answer(self, outcome: Accepted, request: Request) -> Outcome:
        """Nothing at all."""
        return Accepted({"batches": []}, outcome.consumed) if _torn(outcome, request) else outcome


def _torn(outcome: Accepted, request: Request) -> bool:
    stream = request.op == "decode" and request.format == "kafka.log"
    return stream and outcome.consumed is not None and outcome.consumed < len(request.data)


class PrefixLostOnRefusal(KafkaMutant):
    """Forgets the batches before a damaged one."""

    name = "prefix-lost-on-refusal"

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        """Refuse with nothing before."""
        delivered: object = {"batches": []} if request.format == "kafka.log" else None
        return refused_outcome(rejected.with_before(delivered))


class FirstMagicForAll(KafkaMutant):
    """Reads every entry of a log in the format of the first."""

    name = "first-magic-for-all"

    def patch_input(self, data: bytes, request: Request) -> bytes:
        """Give every entry the magic of the first one."""
        del request
        out = bytearray(data)
        spans = list(frames(data))
        for start, _ in spans:
            out[start + MAGIC] = data[MAGIC]
        return bytes(out)


class Magic255Accepted(KafkaMutant):
    """Takes every magic of 2 and more, unsigned, for a v2 batch."""

    name = "magic-255-accepted"

    def patch_entry(self, entry: bytes) -> bytes:
        """Turn it into a v2 batch; no checksum covers the magic."""
        return entry[:MAGIC] + b"\2" + entry[MAGIC + 1 :] if entry[MAGIC] > 2 else entry


class ScanStopsAtDamage(KafkaMutant):
    """Gives up a stream at the first entry that is damaged."""

    name = "scan-stops-at-damage"

    def items(self, row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
        """Yield the items before the damage, and one tail."""
        found = list(super().items(row, chunks, options))
        whole = sum(item.length for item in found)
        for item in found:
            if item.kind != "frame":
                yield Item("tail", item.at, whole - item.at)
                return
            yield item


class ScanPerChunk(KafkaMutant):
    """Reads each piece of a stream as if it were whole."""

    name = "scan-per-chunk"

    def items(self, row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
        """Yield the items of each chunk, scanned alone."""
        at = 0
        for chunk in chunks:
            for item in super().items(row, (chunk,), options):
                yield Item(item.kind, at + item.at, item.length, item.value, item.cls, item.remarks)
            at += len(chunk)

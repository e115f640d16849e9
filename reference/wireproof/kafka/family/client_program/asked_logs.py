"""Logs that no broker returns. A consumer may rely on that, so it is not asked for them.

Kafka's own consumer reports an error for the first part of a batch alone, and drops a record below the offset
that it expects.
"""

from itertools import pairwise

from wireproof.kafka import log
from wireproof.kafka.family.client_program.regroup_records import RegroupedLog, ServedEntry
from wireproof.kafka.values import Message
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected


def why_not_asked(data: bytes, found: RegroupedLog) -> str:
    """Return why no broker returns a log with these entries; empty if one may."""
    if data and found.sound and not found.entries:
        return "a broker never returns the first part of a batch alone: KIP-74"
    if any(_first_offset(after) <= before.last for before, after in pairwise(found.entries)):
        return "a broker stores no record at an offset below those before it"
    return ""


def _first_offset(entry: ServedEntry) -> int:
    """Return the offset of the first record; behind the last one if there is none."""
    if entry.first is not None:
        return entry.first if entry.count else entry.last + 1
    try:
        (message,) = log.decode(Reader(entry.data), DEFAULT_OPTIONS).batches
    except (Rejected, ValueError):  # a damaged wrapper: what it holds is not known
        return entry.last
    inner = message.messages if isinstance(message, Message) else None
    return inner[0].offset if inner else entry.last

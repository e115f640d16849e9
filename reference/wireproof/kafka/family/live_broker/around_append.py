"""What is done around an append: a batch before it, a fetch from its second offset, and its retry.

Each finds faults that one append to an empty partition cannot show.
"""

from collections.abc import Iterator
from typing import Final

from wireproof import formats
from wireproof.cases.outcome import BrokenRule
from wireproof.kafka.family.live_broker import error_codes, requests
from wireproof.kafka.family.live_broker.cluster import Cluster
from wireproof.kafka.family.live_broker.entry_bytes import V2, entries_of, is_batch, next_offset
from wireproof.kafka.family.live_broker.log_reading import read_log
from wireproof.kafka.family.live_broker.stored_log import read_by_consumer, unreadable
from wireproof.kafka.family.live_broker.topics import Partition, TopicError
from wireproof.wire.json_values import Json

EARLIER: Final[Json] = {
    "baseOffset": "0",
    "partitionLeaderEpoch": "-1",
    "magic": "2",
    "attributes": "0",
    "lastOffsetDelta": "1",
    "baseTimestamp": "-1",
    "maxTimestamp": "-1",
    "producerId": "-1",
    "producerEpoch": "-1",
    "baseSequence": "-1",
    "records": [
        {
            "attributes": "0",
            "timestampDelta": "0",
            "offsetDelta": delta,
            "key": f"0{delta}",
            "value": "",
            "headers": [],
        }
        for delta in ("0", "1")
    ],
}
"""Two records with keys and without times: no configuration refuses them but a small `max.message.bytes`. The
keys differ from each other and from those of cases, so that compaction leaves both."""

DUPLICATE: Final = 46
"""DUPLICATE_SEQUENCE_NUMBER: the other answer to a retry, which a producer takes for success."""


def append_earlier(cluster: Cluster, partition: Partition) -> None:
    """Append a batch to a new partition, so that offset 0 is wrong after it; raise `TopicError`.

    A topic that refuses it stays empty.
    """
    if partition.used:
        return
    partition.used = True
    answer = requests.produce(cluster, partition, _EARLIER_BYTES, V2)
    check_permission(answer.code, partition, "writing to")
    found = read_log(cluster, partition, 0, V2, beyond=-1 if answer.code else 0)
    check_permission(found.code, partition, "reading from")
    partition.end = max(found.high_watermark, 0)
    entries = list(entries_of(found.data))
    partition.last = entries[-1] if entries else None


def check_permission(code: int, partition: Partition, action: str) -> None:
    """Raise `TopicError` for an answer that is about the client, not about its records."""
    if code in error_codes.DENIED:
        raise TopicError(f"{action} the topic {partition.topic} is not permitted")


def inside_faults(
    cluster: Cluster, partition: Partition, entry: tuple[int, bytes], magic: int
) -> Iterator[BrokenRule]:
    """Yield the fault of a fetch from the second offset of a batch, which returns the whole batch: §1.8."""
    offset, data = entry
    if not is_batch(data) or next_offset(*entry) <= offset + 1:
        return
    found = requests.fetch(cluster, partition, offset + 1, magic)
    first = next(entries_of(found.data), None)
    where = "a fetch from the second offset"
    if found.code:
        text = f"{where} fails with {error_codes.error_of(found.code).name}"
        yield BrokenRule("kafka.fetch.readable", text)
    elif first != entry:
        refused = read_by_consumer(first[1])[1] if first else None
        text = f"{where} does not return the batch"
        yield unreadable(refused, f"{where}: ") if refused else BrokenRule("kafka.fetch.whole-batch", text)


def retry_faults(
    cluster: Cluster, partition: Partition, data: bytes, base: int, end: int
) -> Iterator[BrokenRule]:
    """Yield the faults of the same batch sent again: answered as before, and stored once (KIP-98)."""
    answer = requests.produce(cluster, partition, data, V2)
    found = requests.fetch(cluster, partition, end, V2)
    fault = ""
    if found.high_watermark != end:
        fault = f"is stored again: the log has grown by {found.high_watermark - end}"
    elif answer.code not in (0, DUPLICATE):
        fault = f"is refused with {error_codes.error_of(answer.code).name}"
    elif answer.code == 0 and answer.base_offset != base:
        fault = f"is answered with an offset that differs by {answer.base_offset - base}"
    if fault:
        yield BrokenRule("kafka.state.duplicate", f"the same batch {fault}")


_EARLIER_BYTES: Final = formats.encode(formats.get("kafka.batch", "v2"), EARLIER)

"""The view of a consumer (kafka.md §1.9), and what a producer may send (§1.7)."""

import pytest
from each import each
from kafka_bytes import (
    LOG,
    NOW,
    PLAIN,
    SECOND,
    V0,
    V1,
    V2,
    accepted,
    batch,
    message,
    record,
    refused,
    wrapper,
)
from kafka_examples import WORKED

from wireproof import formats
from wireproof.kafka.values import Message

X02 = bytes.fromhex(next(row.data for row in WORKED if row.vector == "X02"))


def offsets(data: bytes, **options: object) -> list[int]:
    found: list[int] = []
    for entry in accepted(LOG, data, **options).value.batches:
        rows = (entry.messages or (entry,)) if isinstance(entry, Message) else entry.records
        found += [row.offset for row in rows]
    return found


def test_a_log_is_shown_unchanged_unless_a_consumer_is_requested() -> None:
    assert offsets(X02) == [0, 1, 2, 3, 4]


def test_aborted_records_and_markers_are_not_delivered() -> None:
    assert offsets(X02, isolation="read_committed", aborted=((1000, 0),)) == [3]
    assert offsets(X02, isolation="read_committed") == [0, 1, 3]
    assert offsets(X02, isolation="read_committed", aborted=((1001, 3), (1000, 0))) == []
    assert accepted(LOG, X02, isolation="read_committed").consumed == len(X02)


def test_an_abort_marker_ends_the_aborted_transaction() -> None:
    later = batch(base=5, attributes=0x10, producer=1000, epoch=3, sequence=2)
    assert offsets(X02 + later, isolation="read_committed", aborted=((1000, 0),)) == [3, 5]


def test_records_outside_transactions_are_delivered_whoever_wrote_them() -> None:
    plain = batch(base=1, producer=1000, epoch=3, sequence=0)
    assert offsets(plain, isolation="read_committed", aborted=((1000, 0),)) == [1]


ABORTED = {"base": 0, "attributes": 0x10, "producer": 1000, "epoch": 3, "sequence": 0}
AFTER = batch(base=2)
FAULTS = {"count-mismatch", "negative-length", "decompress-failed"}


@pytest.mark.parametrize(
    "broken",
    [
        batch(PLAIN, 2, **ABORTED),
        batch(PLAIN, -1, **ABORTED),
        batch(PLAIN, **{**ABORTED, "attributes": 0x11}),
    ],
    ids=["fewer records than counted", "a negative count", "no gzip"],
)
def test_the_records_of_an_aborted_batch_are_not_decoded(broken: bytes) -> None:
    """Kafka's consumer goes on before it opens them: CompletedFetch, lines 217 to 224."""
    assert offsets(broken + AFTER, isolation="read_committed", aborted=((1000, 0),)) == [2]
    later = refused(LOG, broken + AFTER, isolation="read_committed", aborted=((1000, 2),))
    assert later.cls in FAULTS


def test_the_crc_of_an_aborted_batch_holds() -> None:
    found = refused(LOG, batch(crc=0, **ABORTED), isolation="read_committed", aborted=((1000, 0),))
    assert found.cls == "crc-mismatch"


def test_nothing_below_the_fetch_offset_is_delivered() -> None:
    pair = batch(PLAIN + SECOND, 2, base=4, max_time=NOW + 1)
    assert offsets(pair + batch(base=6), fetch_offset=5) == [5, 6]
    inner = message(1) + message(1, offset=1)
    assert offsets(wrapper(1, inner, offset=11), fetch_offset=11) == [11]  # W31
    assert offsets(wrapper(1, inner, offset=11) + message(1, offset=12), fetch_offset=12) == [12]
    assert offsets(X02, fetch_offset=1) == [1, 3]


def test_what_is_delivered_before_a_refusal_is_seen_through_the_same_view() -> None:
    found = refused(LOG, X02 + batch(crc=0), isolation="read_committed", aborted=((1000, 0),))
    assert [entry.base_offset for entry in found.before.batches] == [3]


# --- produce ---

MARKER = record("000000 0800000001 0c000000000005 00")
GOOD = [
    (V2, batch()),
    (V2, batch(producer=1000, epoch=0, sequence=0)),
    (V2, batch(attributes=8)),
    (V1, message(1)),
    (V1, wrapper(1, message(1))),
    (V0, message(0, offset=7)),
    (LOG, batch() + batch()[:20]),
    (LOG, message(1) + message(1, offset=1)),
]
BAD = [
    ("not-permitted", "baseOffset", V2, batch(base=5)),
    ("not-permitted", "recordsCount", V2, batch(b"", 0)),
    ("not-permitted", "lastOffsetDelta", V2, batch(last=1)),
    ("not-permitted", "attributes", V2, batch(MARKER, attributes=0x30, producer=1, epoch=0)),
    ("not-permitted", "baseSequence", V2, batch(producer=1000, epoch=0)),
    ("not-permitted", "maxTimestamp", V2, batch(attributes=8, max_time=-1)),
    ("not-permitted", "timestamp", V1, message(1, attributes=8, time=-1)),
    ("not-permitted", "messages", V1, wrapper(1, message(0))),
    ("crc-mismatch", "crc", V1, wrapper(1, message(1), crc=0)),
    ("not-permitted", "batches", LOG, batch() + batch()),
    ("not-permitted", "batches", LOG, message(0) + message(1, offset=1)),
    ("not-permitted", "batches[0].baseOffset", LOG, batch(base=5)),
]


@each("row, data", GOOD)
def test_what_a_producer_may_send_is_accepted(row: formats.Format, data: bytes) -> None:
    accepted(row, data, profile="produce")


@each("cls, path, row, data", BAD)
def test_what_a_producer_may_not_send_is_refused_to_it_alone(
    cls: str, path: str, row: formats.Format, data: bytes
) -> None:
    accepted(row, data)
    found = refused(row, data, profile="produce")
    assert (found.cls, found.path) == (cls, path)

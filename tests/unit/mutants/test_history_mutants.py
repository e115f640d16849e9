"""Every bug that is repeated shows on its own trigger, where the reference gives the right answer.

No case of the suite is used here: a trigger is written from the tracker, and so is the right answer.
"""

from collections.abc import Callable
from functools import cache
from struct import pack
from typing import Any

import cramjam
import pytest
import xxhash
import zstandard
from attrs import frozen

from tests.mutants import history_heka, history_iggy, history_kafka
from tests.mutants.history_base import Repeated, batch, message, record
from wireproof.adapters.python_object import Caller
from wireproof.adapters.reference import Reference
from wireproof.cases.outcome import Accepted, Outcome, Refused

MUTANTS: dict[str, type[Repeated]] = {
    **history_kafka.MUTANTS,
    **history_iggy.MUTANTS,
    **history_heka.MUTANTS,
}


@frozen
class Right:
    """The right answer to a trigger: what must hold, in words, and a function that checks it."""

    words: str
    holds: Callable[[Outcome], bool]


def value_of(outcome: Outcome) -> Any:
    assert isinstance(outcome, Accepted), outcome
    return outcome.value


def bytes_of(outcome: Outcome) -> bytes:
    assert isinstance(outcome, Accepted), outcome
    assert outcome.data is not None
    return outcome.data


def records_of(outcome: Outcome) -> list[Any]:
    found: list[Any] = value_of(outcome)["records"]
    return found


def values_of(outcome: Outcome) -> list[Any]:
    return [one["value"] for one in records_of(outcome)]


def bases_of(outcome: Outcome) -> list[tuple[str, int]]:
    """Return the base offset and the number of records of each batch of a log."""
    return [(one["baseOffset"], len(one["records"])) for one in value_of(outcome)["batches"]]


def refused_as(cls: str) -> Callable[[Outcome], bool]:
    return lambda outcome: isinstance(outcome, Refused) and outcome.cls == cls


def writes(data: bytes) -> Callable[[Outcome], bool]:
    return lambda outcome: bytes_of(outcome) == data


def region_of(outcome: Outcome) -> bytes:
    """Return the bytes of a v2 batch behind its header."""
    return bytes_of(outcome)[61:]


def lz4_header_is_right(frame: bytes) -> bool:
    """Return True for independent blocks and a header checksum over FLG and BD only."""
    return bool(frame[4] & 0x20) and frame[6] == xxhash.xxh32_intdigest(frame[4:6]) >> 8 & 0xFF


def unpacked(frame: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompressobj().decompress(frame)


KAFKA = {
    "franz-go-324-timestamp-delta-of-32-bits": Right(
        "both records are read, the second 2^32 ms after the first",
        lambda found: [one["timestamp"] for one in records_of(found)] == ["1000", str(1000 + (1 << 32))],
    ),
    "franz-go-a23a076-append-time-ignored": Right(
        "under LogAppendTime the record has the maximum timestamp of its batch",
        lambda found: [one["timestamp"] for one in records_of(found)] == ["2000"],
    ),
    "kafka-13149-record-past-end-is-null": Right(
        "a record that is longer than the batch is refused for its length", refused_as("length-past-end")
    ),
    "kafkajs-1132-headers-of-one-name-collapse": Right(
        "both headers of the same name are kept, in order",
        lambda found: records_of(found)[0]["headers"] == [["68", "31"], ["68", "32"]],
    ),
    "sarama-3119-many-records-refused": Right(
        "all 131,071 records are read", lambda found: len(records_of(found)) == 131_071
    ),
    "sarama-1898-unknown-control-type-parsed": Right(
        "a control record of a type that is not known is accepted, whatever its value is",
        lambda found: records_of(found)[0]["control"]["type"] == "7",
    ),
    "rskafka-297-control-record-without-envelope": Right(
        "version and type of a marker are in the key of its record: a COMMIT",
        lambda found: records_of(found)[0]["control"]["type"] == "1",
    ),
    "librdkafka-5549-legacy-fields-read-as-compact": Right(
        "key and value have int32 lengths, and the message is consumed to its end",
        lambda found: (
            (value_of(found)["key"], value_of(found)["value"]) == ("6b", "76")
            and isinstance(found, Accepted)
            and found.consumed == 36
        ),
    ),
    "franz-go-5fee169-append-time-refused": Right(
        "bit 3 of v1 is the timestamp type, and the message is accepted",
        lambda found: value_of(found)["value"] == "76",
    ),
    "kafka-5365-wrapper-offset-of-producer": Right(
        "the wrapper offset 0 of a producer leaves both inner messages at 0 and 1",
        lambda found: (
            [(one["offset"], one["value"]) for one in value_of(found)["messages"]]
            == [("0", "61"), ("1", "62")]
        ),
    ),
    "aiokafka-795-unknown-codec-unbound": Right(
        "codec 5 does not exist and is refused as unknown", refused_as("unknown-codec")
    ),
    "platformatic-kafka-123-compressed-batch-takes-rest": Right(
        "the plain batch behind the compressed one is read too",
        lambda found: bases_of(found) == [("0", 1), ("1", 1)],
    ),
    "kafka-go-1107-empty-batches-panic": Right(
        "batches without records are read like others",
        lambda found: bases_of(found) == [("0", 1), ("1", 0), ("2", 0), ("3", 1)],
    ),
    "kafka-7467-empty-control-batch": Right(
        "a control batch without a marker ends nothing, and the record behind it is delivered",
        lambda found: bases_of(found) == [("1", 1)],
    ),
    "kafkajs-312-null-key-in-filter": Right(
        "a record without key is delivered under read_committed",
        lambda found: bases_of(found) == [("0", 1)],
    ),
    "sarama-1005-offset-behind-compacted-records": Right(
        "from offset 2, which is compacted away, the next record is that of offset 3",
        lambda found: bases_of(found) == [("3", 1)],
    ),
    "kafka-protocol-rs-148-raw-snappy-loses-16-bytes": Right(
        "a raw block of more than 16 bytes is read from its first byte on",
        lambda found: values_of(found) == [b"value1".hex()],
    ),
    "kafka-ex-38-one-xerial-chunk": Right(
        "the records of both chunks are read", lambda found: values_of(found) == ["76", "76"]
    ),
    "snappy-java-142-raw-block-that-begins-with-82": Right(
        "82 alone is no header: the block is raw", lambda found: values_of(found) == ["00" * 121]
    ),
    "kafka-python-2414-xerial-versions-validated": Right(
        "the versions of a stream do not matter", lambda found: values_of(found) == ["76"]
    ),
    "redpanda-25091-xerial-versions-little-endian": Right(
        "the versions are in big endian, and the chunk behind them holds the record",
        lambda found: (
            region_of(found)[:16] == b"\x82SNAPPY\0" + pack(">ii", 1, 1)
            and bytes(cramjam.snappy.decompress_raw(region_of(found)[20:])) == record(0)
        ),
    ),
    "kafka-python-1476-linked-lz4-blocks": Right(
        "the blocks of a frame are independent, also if there are several",
        lambda found: lz4_header_is_right(region_of(found)),
    ),
    "kafka-python-695-old-lz4-framing-in-v1": Right(
        "in v1 the header checksum is that of the standard",
        lambda found: lz4_header_is_right(bytes_of(found)[34:]),
    ),
    "kafka-python-2021-zstd-without-size-limited": Right(
        "a frame that does not say its size may become larger than 1 MiB",
        lambda found: values_of(found) == ["00" * 1024 * 1024],
    ),
    "kafkajs-911-zstd-written-as-none": Right(
        "the attributes say zstd, and the region is that",
        lambda found: bytes_of(found)[22] == 4 and unpacked(region_of(found)) == record(0),
    ),
    "ruby-kafka-680-varint-stops-early": Right(
        "a record of 32,768 bytes has a length of three bytes",
        writes(batch(0, record(0, None, bytes(32760)), 1)),
    ),
    "kafka-go-305-varint-never-ends": Right(
        "a delta of 2^62 is a varlong of ten bytes",
        writes(batch(0, record(0, timestamp_delta=1 << 62), 1)),
    ),
    "kafkajs-185-null-value-refused": Right(
        "a null value is written with the length -1", writes(batch(0, record(0, b"k", None), 1))
    ),
    "sarama-996-last-header-repeated": Right(
        "both headers are written",
        writes(batch(0, record(0, headers=((b"a", b"1"), (b"b", b"2"))), 1)),
    ),
    "sarama-1032-offset-deltas-zero": Right(
        "the second record has the offset delta 1", writes(batch(0, record(0) + record(1), 2))
    ),
    "sarama-3108-max-timestamp-unset": Right(
        "the maximum timestamp is that of the value", writes(batch(0, record(0), 1, times=(1000, 1000)))
    ),
    "kafka-go-266-deltas-in-nanoseconds": Right(
        "a delta of a millisecond is 1",
        writes(batch(0, record(0) + record(1, timestamp_delta=1), 2)),
    ),
    "kafkajs-199-transactional-bit-lost": Right(
        "bit 4 of the attributes is set", writes(batch(0, record(0), 1, attributes=16, producer=(7, 0, 0)))
    ),
    "node-rdkafka-970-header-value-cut-at-nul": Right(
        "the value of a header is any bytes", writes(batch(0, record(0, headers=((b"h", b"a\0b"),)), 1))
    ),
    "spring-xd-1871-header-room-in-characters": Right(
        "a character of two bytes is written with the length 2",
        writes(batch(0, record(0, headers=((b"h", "Ø".encode()),)), 1)),
    ),
    "kafka-node-35-length-in-characters": Right(
        "the length of a value is that of its bytes", writes(message(0, 0, None, "안녕".encode()))
    ),
    "kafka-node-1388-inner-offsets-zero": Right(
        "the inner messages of v1 have the offsets 0 and 1",
        lambda found: (
            bytes(cramjam.gzip.decompress(bytes_of(found)[34:]))
            == message(0, 1, None, b"a") + message(1, 1, None, b"b")
        ),
    ),
    "sarama-907-no-timestamp-written-as-time": Right(
        "no timestamp is -1", writes(message(0, 1, None, b"v", time=-1))
    ),
}

IGGY = {
    "iggy-1830-position-not-moved": Right(
        "both messages are read",
        lambda found: [one["payload"] for one in value_of(found)["messages"]] == ["61", "62"],
    ),
    "iggy-2455-user-headers-unread": Right(
        "the message has its user header",
        lambda found: (
            [one["headers"] for one in value_of(found)["messages"]]
            == [[["6b", {"kind": "string", "value": "76", "typed": None}]]]
        ),
    ),
    "iggy-2741-cut-packet-panics": Right(
        "an identifier whose value ends early is refused as cut", refused_as("truncated")
    ),
}


def frames_of(outcome: Outcome) -> list[tuple[str, int]]:
    """Return kind and position of each item of a scan."""
    return [(one["kind"], one["at"]) for one in value_of(outcome)["items"]]


HEKA = {
    "heka-1221-header-kept-after-oversized": Right(
        "the frame behind a message over the limit is found",
        lambda found: frames_of(found) == [("garbage", 0), ("frame", 65537 + 7)],
    ),
    "heka-1204-record-limit-for-message": Right(
        "a message of 65,537 bytes is over the limit of 65,536 and is not written",
        refused_as("invalid-value"),
    ),
    "lua-sandbox-226-length-wraps": Right(
        "a payload of 2^32 + 1 bytes does not fit the message", refused_as("truncated")
    ),
    "gogo-protobuf-579-negative-skip-panics": Right(
        "a payload of nearly 2^63 bytes does not fit the message", refused_as("truncated")
    ),
    "heka-1284-empty-bytes-panic": Right(
        "a bytes value may have no bytes", lambda found: value_of(found)["fields"][0]["value_bytes"] == [""]
    ),
    "heka-1003-unpacked-refused": Right(
        "a number that is not packed is read too",
        lambda found: value_of(found)["fields"][0]["value_integer"] == ["1"],
    ),
    "bytebuffer-js-3-negative-int32-refused": Right(
        "an int32 of ten bytes is a negative number: -1", lambda found: value_of(found)["pid"] == "-1"
    ),
    "protobuf-js-123-characters-in-16-bits": Right(
        "the text has the character U+1F431", lambda found: value_of(found)["payload"] == "f09f90b1"
    ),
    "bytebuffer-js-20-room-for-one-byte-of-length": Right(
        "a text of 128 bytes is written behind a length of two bytes",
        writes(b"\x0a\x10" + bytes(16) + b"\x10\x01" + b"\x32\x80\x01" + b"a" * 128),
    ),
}

RIGHT = {**KAFKA, **IGGY, **HEKA}


def answer(adapter: Reference, mutant: type[Repeated]) -> Outcome:
    return Caller(adapter).answer(mutant.trigger.request())


def test_there_are_fifty_and_each_has_its_right_answer() -> None:
    assert len(MUTANTS) == 50
    assert set(RIGHT) == set(MUTANTS)


LONG = "sarama-3119-many-records-refused"
"""Has 131,071 records, which take seconds."""

NAMES = [pytest.param(name, marks=pytest.mark.sweeps) if name == LONG else name for name in MUTANTS]


@pytest.mark.parametrize("name", NAMES)
def test_a_mutant_differs_from_the_reference_on_its_trigger_and_the_reference_is_right(name: str) -> None:
    mutant = MUTANTS[name]
    right = RIGHT[name]
    before = answer(Reference(), mutant)
    assert right.holds(before), right.words
    assert answer(mutant(), mutant) != before
    assert answer(Reference(), mutant) == before, "a mutant leaves the reference as it was"


@cache
def right_answers(system: str) -> dict[str, Outcome]:
    """Return the reference's answer to each trigger of a system but the long one."""
    names = [name for name in MUTANTS if MUTANTS[name].system == system and name != LONG]
    return {name: answer(Reference(), MUTANTS[name]) for name in names}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_right_on_most_triggers_of_others(name: str) -> None:
    right = {key: found for key, found in right_answers(MUTANTS[name].system).items() if key != name}
    mutant = MUTANTS[name]()
    wrong = [other for other, found in right.items() if answer(mutant, MUTANTS[other]) != found]
    assert len(wrong) <= len(right) / 2, wrong


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_has_a_link_and_says_what_is_wrong_with_it_in_one_line(name: str) -> None:
    mutant = MUTANTS[name]
    assert mutant.bug.startswith("https://")
    assert mutant.name == name
    assert len((mutant.__doc__ or "").strip().splitlines()) == 1
    assert mutant.system

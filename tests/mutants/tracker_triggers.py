"""The requests that show the bugs of the tracker mutants: each answers its own wrongly."""

from collections.abc import Mapping
from typing import Any, Final

from tests.mutants.base import JsonObject, ReferenceCodec
from tests.mutants.kafka_helpers import with_checksum
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted
from wireproof.kafka.attribute_bits import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL
from wireproof.wire import snappy
from wireproof.wire.options import DEFAULT_OPTIONS, Options

REFERENCE: Final = ReferenceCodec()


def decoding(format_id: str, data: bytes, **options: Any) -> Request:  # noqa: ANN401 - fields of `Options`
    """Return the request to decode `data`, such as of `kafka.batch/v2`."""
    name, _, revision = format_id.partition("/")
    return Request("", "decode", name, revision, data=data, options=Options(**options))


def encoding(format_id: str, value: JsonObject) -> Request:
    """Return the request to encode `value`."""
    name, _, revision = format_id.partition("/")
    return Request("", "encode", name, revision, value=value, options=DEFAULT_OPTIONS)


def encoded(format_id: str, value: JsonObject) -> bytes:
    """Return the bytes that the reference writes for a value."""
    answer = REFERENCE.encode(encoding(format_id, value))
    assert isinstance(answer, Accepted), answer
    assert answer.data is not None
    return answer.data


# --- Kafka ---


def record(delta: int = 0, **fields: Any) -> JsonObject:  # noqa: ANN401 - of a record
    """Return a record with the offset delta `delta`."""
    plain = {"attributes": "0", "timestampDelta": "0", "key": "6b", "value": "76", "headers": []}
    return {**plain, "offsetDelta": str(delta), **fields}


def batch(*records: JsonObject, **fields: Any) -> JsonObject:  # noqa: ANN401 - of a batch
    """Return a batch of records, which begins at offset 0 if no field says otherwise."""
    numbers = {
        "baseOffset": 0,
        "partitionLeaderEpoch": 0,
        "magic": 2,
        "attributes": 0,
        "lastOffsetDelta": max(len(records) - 1, 0),
        "baseTimestamp": 1000,
        "maxTimestamp": 1000,
        "producerId": -1,
        "producerEpoch": -1,
        "baseSequence": -1,
    }
    return {name: str(number) for name, number in {**numbers, **fields}.items()} | {"records": list(records)}


def message(offset: int, magic: int = 1, **fields: Any) -> JsonObject:  # noqa: ANN401 - of a message
    """Return a message."""
    plain = {"attributes": "0", "timestamp": "1000" if magic else "-1", "key": "6b", "value": "76"}
    return {**plain, "offset": str(offset), "magic": str(magic), "messages": None, **fields}


def wrapper(*messages: JsonObject, **fields: Any) -> JsonObject:  # noqa: ANN401 - of a message
    """Return a wrapper of v1, with the offset of its last message, compressed with gzip."""
    last = int(messages[-1]["offset"])
    made = {"attributes": "1", "key": None, "value": None, "messages": list(messages)}
    return message(last, **{**made, **fields})


def log(*entries: JsonObject) -> bytes:
    """Return the bytes of a log."""
    return encoded("kafka.log/mixed", {"batches": list(entries)})


def _with_records(records: bytes, count: int, attributes: int = 0) -> bytes:
    """Return a batch with these bytes after its header, and a valid CRC."""
    header = bytearray(encoded("kafka.batch/v2", batch()))
    header[21:23] = attributes.to_bytes(2, "big")
    header[23:27] = (count - 1).to_bytes(4, "big")
    header[57:61] = count.to_bytes(4, "big")
    header[8:12] = (len(header) - 12 + len(records)).to_bytes(4, "big")
    return with_checksum(bytes(header) + records)


def _of_producer(
    offset: int, *, attributes: int = TRANSACTIONAL, key: str = "6b", held: str = "76"
) -> JsonObject:
    """Return a transactional batch of producer 7 with one record at `offset`."""
    fields = {"attributes": attributes, "producerId": 7, "producerEpoch": 0, "baseSequence": 0}
    fields |= {"baseSequence": -1} if attributes & CONTROL else {}
    return batch(record(key=key, value=held), baseOffset=offset, **fields)


def _marker(offset: int, *, aborts: bool) -> JsonObject:
    """Return the batch with the marker that ends a transaction of producer 7."""
    key = "00000000" if aborts else "00000001"
    return _of_producer(offset, attributes=TRANSACTIONAL | CONTROL, key=key, held="000000000000")


def _committed(data: bytes, *aborted: tuple[int, int]) -> Request:
    """Return the request of a consumer under read_committed."""
    return decoding("kafka.log/mixed", data, isolation="read_committed", aborted=aborted)


def _with_inner(inner: bytes) -> bytes:
    """Return a v1 wrapper around these bytes, in snappy, at offset 0."""
    packed = snappy.compress(inner)
    body = b"\x01\x02" + (1000).to_bytes(8, "big") + b"\xff" * 4 + len(packed).to_bytes(4, "big") + packed
    return with_checksum(bytes(8) + (4 + len(body)).to_bytes(4, "big") + bytes(4) + body)


def _v1(offset: int) -> bytes:
    return encoded("kafka.batch/v1", message(offset))


_PAIR: Final = [["61", "31"], ["61", "32"]]
_PLAIN_RECORD: Final = bytes.fromhex("10 00 00 00 02 6b 02 76 00")
_LATER: Final = "2000000000"

_TWO_AT_41: Final = wrapper(message(41, timestamp="1001"), message(42, timestamp="1002"), timestamp="1002")
_APPENDED: Final = wrapper(
    message(41, timestamp=_LATER),
    message(42, timestamp=_LATER),
    timestamp=_LATER,
    attributes=str(1 | LOG_APPEND_TIME),
)


def _with_own_times(data: bytes) -> bytes:
    """Return a wrapper in which the timestamp, under append time, is another than its messages'."""
    return with_checksum(data[:18] + (3_000_000_000).to_bytes(8, "big") + data[26:])


def _headed(*pairs: Any) -> Request:  # noqa: ANN401 - keys and values
    return decoding("kafka.batch/v2", encoded("kafka.batch/v2", batch(record(headers=list(pairs)))))


def _split_snappy() -> bytes:
    streams = snappy.compress(_PLAIN_RECORD[:4]) + snappy.compress(_PLAIN_RECORD[4:])
    return _with_records(streams, 1, attributes=2)


KAFKA: Final[Mapping[str, Request]] = {
    "tracker-varint-cut": decoding("kafka.batch/v2", _with_records(bytes.fromhex("0c 00 00 00 01 01 80"), 1)),
    "tracker-header-null-as-empty": _headed(["61", None]),
    "tracker-headers-as-index-map": _headed(*_PAIR),
    "tracker-header-value-as-text": _headed(["61", "c328"]),
    "tracker-header-keys-unique": _headed(*_PAIR),
    "tracker-key-as-text": decoding("kafka.batch/v2", encoded("kafka.batch/v2", batch(record(key="83")))),
    "tracker-null-is-empty-both-ways": encoding("kafka.batch/v2", batch(record(value=None))),
    "tracker-malformed-record-ends-batch": decoding(
        "kafka.batch/v2", _with_records(_PLAIN_RECORD + b"\x12" + _PLAIN_RECORD[1:] + b"\x00", 2)
    ),
    "tracker-empty-batches-in-a-row": decoding(
        "kafka.log/mixed", log(batch(), batch(baseOffset=1), batch(record(), baseOffset=2))
    ),
    "tracker-offset-low-word-signed": decoding("kafka.log/mixed", log(batch(record(), baseOffset=1 << 31))),
    "tracker-sequence-wraps-negative": decoding(
        "kafka.batch/v2",
        encoded(
            "kafka.batch/v2",
            batch(record(), record(1), producerId=7, producerEpoch=0, baseSequence=(1 << 31) - 1),
        ),
    ),
    "tracker-inner-offset-zero": decoding("kafka.batch/v1", encoded("kafka.batch/v1", _TWO_AT_41)),
    "tracker-inner-set-cut-refused": decoding("kafka.batch/v1", _with_inner(_v1(0) + _v1(1)[:20])),
    "tracker-legacy-crc-reaches-next": decoding("kafka.log/mixed", log(message(0), message(1))),
    "tracker-wrapper-crc-never-checked": decoding(
        "kafka.log/mixed",
        with_checksum(log(wrapper(message(0), message(1))), 0),
        profile="produce",
    ),
    "tracker-wrapper-append-time-ignored": decoding(
        "kafka.batch/v1", _with_own_times(encoded("kafka.batch/v1", _APPENDED))
    ),
    "tracker-inner-timestamp-missing": decoding("kafka.batch/v1", encoded("kafka.batch/v1", _TWO_AT_41)),
    "tracker-snappy-not-concatenated": decoding("kafka.batch/v2", _split_snappy()),
    "tracker-writes-null-key-empty": encoding("kafka.batch/v2", batch(record(key=None))),
    "tracker-writes-wrapper-without-time": encoding("kafka.batch/v1", _TWO_AT_41),
    "tracker-writes-marker-without-value": encoding("kafka.batch/v2", _marker(0, aborts=False)),
    "tracker-writes-wrapper-of-magic-0": encoding("kafka.log/mixed", {"batches": [_TWO_AT_41]}),
}
"""Name of a mutant to its request: records, messages, compression, writers."""


_GAP: Final = log(batch(record(), record(3), baseOffset=5, lastOffsetDelta=3))

KAFKA_LOGS: Final[Mapping[str, Request]] = {
    "tracker-few-last-bytes-refused": decoding("kafka.log/mixed", log(message(0)) + bytes(4)),
    "tracker-cut-batch-refused": decoding(
        "kafka.log/mixed", log(batch(record())) + log(batch(record(), baseOffset=1))[:20]
    ),
    "tracker-aborted-ends-at-any-marker": _committed(
        log(
            _of_producer(1),
            _marker(2, aborts=False),
            _of_producer(3),
            _marker(4, aborts=True),
            _of_producer(5),
            _marker(6, aborts=False),
        ),
        (7, 3),
    ),
    "tracker-aborted-pops-at-any-abort": _committed(
        log(_marker(2, aborts=True), _of_producer(3), _marker(4, aborts=True)), (7, 3)
    ),
    "tracker-aborted-start-must-exist": _committed(log(_of_producer(3), _marker(4, aborts=True)), (7, 1)),
    "tracker-aborted-start-at-marker": _committed(log(_marker(4, aborts=True), _of_producer(5)), (7, 4)),
    "tracker-unknown-marker-refused": _committed(log(_marker(4, aborts=True), _of_producer(5))),
    "tracker-markers-delivered": _committed(log(_of_producer(0), _marker(1, aborts=False))),
    "tracker-aborted-list-ignored": _committed(log(_of_producer(0), _marker(1, aborts=True)), (7, 0)),
    "tracker-fetch-offset-skips-batches": decoding(
        "kafka.log/mixed", log(batch(record(), record(1))), fetch_offset=1
    ),
    "tracker-gaps-skip-the-rest": decoding("kafka.log/mixed", _GAP, fetch_offset=5),
    "tracker-stuck-below-fetch-offset": decoding(
        "kafka.log/mixed", log(batch(record(), baseOffset=5, lastOffsetDelta=3)), fetch_offset=7
    ),
    "tracker-inner-offsets-must-count": decoding(
        "kafka.log/mixed", _with_inner(_v1(0) + _v1(0)), profile="produce", topic={}
    ),
    "tracker-several-batches-taken": decoding("kafka.log/mixed", log(batch(record())) * 2, profile="produce"),
}
"""The same: logs, the consumer's view, the broker's rules."""

# --- Iggy ---


def _send(payload: str = "68", **fields: Any) -> JsonObject:  # noqa: ANN401 - of a message
    """Return a send with one message, for the revisions before 0.7."""
    place = {"kind": "numeric", "value": "01000000"}
    sent = {"id": "1", "headers": [], "payload": payload, **fields}
    target = {"kind": "balanced", "value": ""}
    return {"stream": place, "topic": place, "partitioning": target, "messages": [sent]}


def _polled(offset: int, **fields: Any) -> JsonObject:  # noqa: ANN401 - of a message
    """Return a poll response of 0.7 with one message."""
    made = {"id": "1", "offset": str(offset), "timestamp": "1700000000000000", "origin_timestamp": "0"}
    one = {**made, "headers": [], "payload": "68", **fields}
    return {"partition_id": "1", "current_offset": str(offset), "messages": [one]}


def _stored() -> bytes:
    return encoded("iggy.log/0.7", {"messages": _polled(0)["messages"]})


_KIND_UINT8: Final = [["61", {"kind": "uint8", "value": "ff"}]]

IGGY: Final[Mapping[str, Request]] = {
    "tracker-iggy-length-in-chars": encoding(
        "iggy.identifier/0.0.30", {"kind": "string", "value": "Zürich".encode().hex()}
    ),
    "tracker-iggy-payload-as-shown": encoding("iggy.send/0.0.30", _send()),
    "tracker-iggy-payload-text-only": encoding("iggy.send/0.0.30", _send("ff")),
    "tracker-iggy-send-of-nothing": encoding("iggy.send/0.0.30", {**_send(), "messages": []}),
    "tracker-iggy-index-of-plain-sizes": encoding(
        "iggy.send/0.9", _send(origin_timestamp="0", headers="ff" * 30)
    ),
    "tracker-iggy-timestamps-in-seconds": encoding("iggy.poll/0.7", _polled(0)),
    "tracker-iggy-current-offset-from-count": encoding("iggy.poll/0.7", _polled(7)),
    "tracker-iggy-header-values-as-text": decoding(
        "iggy.poll/0.7", encoded("iggy.poll/0.7", _polled(0, headers=_KIND_UINT8))
    ),
    "tracker-iggy-torn-tail-counted": decoding("iggy.log/0.7", _stored() + _stored()[:10]),
}
"""The same of Iggy."""

# --- Heka ---

UUID: Final = bytes(range(16))


def _key(number: int, wire: int) -> bytes:
    return bytes((number << 3 | wire,))


def _part(number: int, data: bytes) -> bytes:
    """Return a length-delimited field of fewer than 128 bytes."""
    return _key(number, 2) + bytes((len(data),)) + data


def _heka(field: bytes) -> bytes:
    """Return a message with one Field."""
    return _part(1, UUID) + _key(2, 0) + b"\x01" + _part(10, field)


_ARRAYS: Final = ("value_string", "value_bytes", "value_integer", "value_double", "value_bool")


def _field(kind: str, name: str, values: list[Any]) -> JsonObject:
    """Return a Field without a representation."""
    arrays: JsonObject = {array: [] for array in _ARRAYS}
    return {"name": "6e", "value_type": kind, "representation": None, **arrays, name: values}


_OPTIONAL: Final = ("type", "logger", "severity", "payload", "env_version", "pid", "hostname")


def _message_of(*fields: JsonObject, **more: Any) -> JsonObject:  # noqa: ANN401 - fields of a message
    """Return a Heka message."""
    absent = dict.fromkeys(_OPTIONAL)
    return {"uuid": UUID.hex(), "timestamp": "1", **absent, **more, "fields": list(fields)}


HEKA: Final[Mapping[str, Request]] = {
    "tracker-heka-unpacked-lost": decoding(
        "heka.message/0.10", _heka(_part(1, b"n") + bytes.fromhex("10 02 30 05"))
    ),
    "tracker-heka-cut-bytes-taken": decoding(
        "heka.message/0.10", _heka(_part(1, b"n") + bytes.fromhex("10 01 2a 05 61 62"))
    ),
    "tracker-heka-writes-bytes-untyped": encoding(
        "heka.message/0.10", _message_of(_field("BYTES", "value_bytes", ["ff"]))
    ),
    "tracker-heka-writes-payload-to-nul": encoding("heka.message/0.10", _message_of(payload="610062")),
    "tracker-heka-writes-arrays-out-of-order": encoding(
        "heka.message/0.10", _message_of(_field("INTEGER", "value_integer", ["1", "2", "3"]))
    ),
    "tracker-heka-writes-doubles-short": encoding(
        "heka.message/0.10", _message_of(_field("DOUBLE", "value_double", ["3fd0000000000000"]))
    ),
}
"""The same of Heka."""

TRIGGERS: Final[Mapping[str, Request]] = {**KAFKA, **KAFKA_LOGS, **IGGY, **HEKA}
"""Name of a mutant to the request that shows its bug."""

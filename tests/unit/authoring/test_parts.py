"""The parts for new cases make bytes that the independent readers read as the value beside them."""

from typing import Any, Final

import pytest
from each import each

from tests.authoring.heka import frame_bytes as heka
from tests.authoring.iggy import parts
from tests.authoring.kafka import entry_bytes as kafka
from tests.independent.heka.reader import read_stream
from tests.independent.iggy import layouts
from tests.independent.iggy.reader import Bytes, Reader, read_batch
from tests.independent.kafka.next_offset import with_offsets
from tests.independent.kafka.reader import read_entry

OLD: Final = ((b"a", "uint8", b"\x07"), (b"k", "string", b"v"))
KEYED: Final = (("string", b"k", "string", b"v"), ("int32", bytes(4), "bool", b"\1"))

MESSAGES: Final = {
    (revision, name): table[revision]
    for name, table in (("sent", layouts.SENT), ("polled", layouts.POLLED), ("stored", layouts.STORED))
    for revision in table
}


@each("revision, name", MESSAGES)
def test_a_message_of_iggy(revision: str, name: str) -> None:
    layout = MESSAGES[revision, name]
    headers = {"map": OLD, "keyed": KEYED}[dict(layout)["headers"]]
    row = {
        "id": 2**64 + 3,
        "offset": 4,
        "timestamp": 5,
        "origin_timestamp": 6,
        "headers": headers,
        "payload": b"pay",
    }
    source = Bytes(parts.packed(layout, row))
    assert Reader(source, revision).read(layout) == parts.shown(layout, row)
    assert source.left == 0


@pytest.mark.parametrize("revision", layouts.BATCHES)
def test_a_batch_of_iggy(revision: str) -> None:
    producer = {"producer.producer_id": 9, "producer.epoch": 8, "producer.base_sequence": 7}
    head = {
        "base_offset": 3,
        "base_timestamp": 2,
        "origin_timestamp": 1,
        **(producer if revision != "0.11" else {}),
    }
    rows: list[dict[str, Any]] = [
        {"id": at, "offset_delta": at, "timestamp_delta": 5, "headers": KEYED, "payload": b"p"}
        for at in range(2)
    ]
    data = parts.batch(revision, head, [parts.packed(layouts.FRAME, row) for row in rows])
    batch, messages = read_batch(Bytes(data), revision, verify=True)
    assert batch == parts.batch_shown(revision, head, data)
    assert messages == [parts.frame_shown(head, row) for row in rows]


PACKED: Final[dict[int, Any]] = {
    0: bytes,
    1: kafka.gzip,
    2: lambda data: kafka.xerial(kafka.snappy_block(data)),
    3: kafka.lz4,
    4: kafka.zstd,
}


@each("codec", PACKED)
def test_a_batch_of_kafka(codec: int) -> None:
    fields = {"base": 7, "attributes": codec, "pid": 5, "pepoch": 1, "seq": 2**31 - 1}
    data = kafka.batch(PACKED[codec](kafka.TWO), 2, **fields)
    value = kafka.batch_value(kafka.two_values(base=7), **fields)
    assert read_entry(data, 0, len(data)) == with_offsets(value)


@pytest.mark.parametrize("magic", [0, 1])
def test_a_wrapper_of_kafka(magic: int) -> None:
    inner = b"".join(kafka.message(magic, b"k", b"v", offset=at) for at in range(2))
    data = kafka.message(magic, None, kafka.gzip(inner), offset=1, attributes=1)
    rows = [kafka.message_value(magic, b"k", b"v", offset=at) for at in range(2)]
    assert read_entry(data, 0, len(data)) == with_offsets(
        kafka.message_value(magic, offset=1, attributes=1, messages=rows)
    )


def test_signed_frames_of_heka() -> None:
    body = heka.msg(heka.num(5, -1), heka.fld(b"d", heka.num(2, 3), heka.sub(7, heka.dbl(1.5))))
    header = heka.signature(body, b"testkey", b"test", function=1)
    field = heka.field(b"d", "DOUBLE", doubles=[1.5])
    signed = {
        "function": "SHA1",
        "signer": b"test",
        "version": 1,
        "digest": header[-20:],
        "signed_by": b"test",
    }
    value = heka.frame_value(heka.value(severity=-1, fields=[field]), len(body), **signed)
    data = heka.F + heka.frame(body, header)
    assert read_stream(data, {"keys": heka.KEYS}) == (heka.frames(heka.FV, value), len(data))

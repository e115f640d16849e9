"""A format small enough to know by heart, so that the judge is tested and no codec.

`toy.frame/v1`: uint8 length of the body, uint8 kind, the body, uint8 sum of the body. Kind 7 is open: the
reference reads it as it is, others may refuse it or read 0. `toy.stream/v1`: frames, a torn one at the end.
"""

from collections.abc import Iterable, Iterator

import pytest
from attrs import evolve, frozen

from wireproof import formats
from wireproof.cases.case import Accept, Case, Chunks, Data, Expect, Reject, Value
from wireproof.formats import Format
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.remark_classes import REMARK_CLASSES, RemarkClass
from wireproof.wire.scan_items import Item
from wireproof.wire.writer import Writer


@frozen
class Frame:
    kind: int
    body: bytes
    size: int = 0


@frozen
class Stream:
    frames: tuple[Frame, ...]


def read_frame(reader: Reader, _: Options) -> Frame:
    size = reader.uint8("size")
    kind = reader.uint8("kind")
    if kind == 7:
        reader.remark("toy-open", "kind", at=reader.pos - 1, others=(reader.other("zero", "kind", "0"),))
    start = reader.pos
    body = reader.take("body", size)
    stored = reader.uint8("sum")
    reader.cover("sum", "crc32", start, start + size)
    if stored != sum(body) % 256:
        raise reader.reject("crc-mismatch", "sum", at=reader.pos - 1)
    return Frame(kind, body, size)


def write_frame(writer: Writer, value: Frame, _: Options) -> None:
    if value.kind == 9:
        raise writer.invalid("kind", "9 is not written")
    writer.uint8("size", len(value.body))
    writer.uint8("kind", value.kind)
    writer.put("body", value.body)
    writer.uint8("sum", sum(value.body) % 256)


def read_stream(reader: Reader, options: Options) -> Stream:
    frames: list[Frame] = []
    while reader.left >= 2 and reader.left >= 3 + reader.data[reader.pos]:
        reader.enter("frames", len(frames))
        try:
            frames.append(read_frame(reader, options))
        except Rejected as rejected:
            raise rejected.with_before(Stream(tuple(frames))) from None
        reader.leave()
    return Stream(tuple(frames))


def write_stream(writer: Writer, value: Stream, options: Options) -> None:
    for frame in value.frames:
        write_frame(writer, frame, options)


def scan_stream(chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
    data = b"".join(chunks)
    at = 0
    while len(data) - at >= 2 and len(data) - at >= 3 + data[at]:
        size = 3 + data[at]
        try:
            reader = Reader(data[at : at + size])
            yield Item("frame", at, size, read_frame(reader, options), remarks=tuple(reader.remarks))
        except Rejected as rejected:
            yield Item("garbage", at, size, cls=rejected.cls)
        at += size
    if at < len(data):
        yield Item("tail", at, len(data) - at)


ROWS = (
    Format("toy.frame", "v1", Frame, read_frame, write_frame),
    Format("toy.stream", "v1", Stream, read_stream, write_stream, scan_stream),
)


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        REMARK_CLASSES, "toy-open", RemarkClass("toy, section 1", "kind 7", rejectable=True, others=("zero",))
    )
    for row in ROWS:
        monkeypatch.setitem(formats.FORMATS, row.format_id, row)


GOOD = bytes.fromhex("0201616bcc")
"""Kind 1, body `ak`."""
GOOD_VALUE = {"kind": "1", "body": "616b", "size": "2"}
BAD_SUM = bytes.fromhex("0201616bcd")
OPEN = bytes.fromhex("0107414100"[:8])
"""Kind 7, body `A`."""
OPEN_VALUE = {"kind": "7", "body": "41", "size": "1"}


def decode_case(data: bytes, expect: Expect, **more: object) -> Case:
    case = Case("toy.frame/v1/basic/some", "toy.frame", "v1", Data(data), expect)
    return evolve(case, **more)


def stream_case(data: bytes, expect: Expect, **more: object) -> Case:
    case = Case("toy.stream/v1/basic/some", "toy.stream", "v1", Data(data), expect)
    return evolve(case, **more)


def encode_case(value: object, expect: Expect, **more: object) -> Case:
    case = Case("toy.frame/v1/encode/some", "toy.frame", "v1", Value(value), expect, op="encode")
    return evolve(case, **more)


def scan_case(chunks: tuple[bytes, ...], items: list[object], **more: object) -> Case:
    expect = Accept({"items": items})
    case = Case("toy.stream/v1/scan/some", "toy.stream", "v1", Chunks(chunks), expect, op="scan")
    return evolve(case, **more)


GOOD_CASE = decode_case(GOOD, Accept(GOOD_VALUE, 5), id="toy.frame/v1/basic/good", title="A whole frame")
BAD_CASE = decode_case(
    BAD_SUM,
    Reject("crc-mismatch", at=4),
    id="toy.frame/v1/sum/wrong",
    title="The sum is wrong by one",
    twin=GOOD_CASE.id,
    rules=("toy.sum",),
)
OPEN_CASE = decode_case(OPEN, Accept(OPEN_VALUE, 4, ("toy-open",)), id="toy.frame/v1/kind/open")

"""Logs for the tests of the Spark sources: their bytes, and objects in memory or on disk that hold them."""

import gzip
import struct
import zlib
from pathlib import Path

import cramjam
import kafka_bytes
from attrs import field, frozen
from goldens import load

from tests.authoring.kafka.entry_bytes import varint
from wireproof.cases.case import Case, Chunks, Data
from wireproof.heka.suite.spark_source import HEKA
from wireproof.iggy.suite.spark_source import IGGY
from wireproof.kafka.suite.spark_reader import KAFKA
from wireproof.spark.logs.objects import ObjectReader
from wireproof.spark.logs.spans import check_coverage
from wireproof.spark.logs.split_points import StreamFraming, scan_items
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.scan_items import Item


@frozen
class Memory:
    """An object in memory, with the one method that `ObjectReader` needs; it counts the bytes read."""

    data: bytes
    lengths: list[int] = field(factory=list, eq=False)

    def read_at(self, length: int, position: int) -> bytes:
        self.lengths.append(length)
        return self.data[position : position + length]


def stored(data: bytes, window: int = 64) -> ObjectReader:
    return ObjectReader(Memory(data), "memory", len(data), window)


def items(
    framing: StreamFraming, one: ObjectReader, start: int, end: int, options: Options = DEFAULT_OPTIONS
) -> list[Item]:
    """Return the items of a range, from the reference, after a check that they cover it."""
    parts = scan_items(framing, one, start, end, options)
    return [part for part in check_coverage(parts, one, start, end) if isinstance(part, Item)]


def batch(value: bytes, offset: int = 0, *, is_stored: bool = False) -> bytes:
    """A v2 batch of one record without key; if it is stored, gzip has it as it is."""
    body = b"\x00\x00\x00\x01" + varint(len(value)) + value + b"\x00"
    records = varint(len(body)) + body
    if is_stored:
        return kafka_bytes.batch(gzip.compress(records, 0, mtime=0), base=offset, attributes=1)
    return kafka_bytes.batch(records, base=offset)


def embedded(*, is_stored: bool = False) -> bytes:
    """Return a log with a whole batch inside a value of the second of three batches, at byte 68 + 71."""
    middle = batch(b"<" + batch(b"inside", 900) + b">", 1, is_stored=is_stored)
    return batch(b"one", 0) + middle + batch(b"two", 2)


def stored_30(offset: int, payload: bytes) -> bytes:
    """A record of an Iggy segment, revision 0.0.30, without headers: iggy.md, section 7."""
    head = struct.pack("<QQ16sI", offset, 7, bytes([offset]) + bytes(15), zlib.crc32(payload))
    return head + struct.pack("<II", 0, len(payload)) + payload


def heka_frame(payload: bytes, timestamp: int = 5) -> bytes:
    """A frame of heka.md, section 2; uuid of 16 zeros; the payload is field 6."""
    message = (
        b"\x0a\x10" + bytes(16) + b"\x10" + bytes([timestamp]) + b"\x32" + bytes([len(payload)]) + payload
    )
    return b"\x1e\x02\x08" + bytes([len(message)]) + b"\x1f" + message


def snappy_heka_frame(payload: bytes) -> bytes:
    """A frame whose message is compressed, as in Mozilla's archives: heka.md §5."""
    packed = bytes(cramjam.snappy.compress_raw(heka_frame(payload)[5:]))
    return b"\x1e\x02\x08" + bytes([len(packed)]) + b"\x1f" + packed


def nested_claims() -> bytes:
    """Heka headers that each claim 60 000 bytes, over and over, until the scan stops looking inside them."""
    claim = b"\x1e\x04\x08\xe0\xd4\x03\x1f"
    return heka_frame(b"first") + claim * 9000 + bytes(70000) + heka_frame(b"second") + heka_frame(b"third")


def of_fixtures() -> list[tuple[str, StreamFraming, Case, bytes]]:
    """The bytes of every fixture that is a stream, or an entry of one."""
    framings = {"kafka.batch": KAFKA, "kafka.log": KAFKA, "heka.stream": HEKA}
    found = []
    for case in load().cases:
        framing = IGGY.get(case.revision) if case.format == "iggy.log" else framings.get(case.format)
        match case.input:
            case Data(data) if framing:
                found.append((case.id, framing, case, data))
            case Chunks(chunks) if framing:
                found.append((case.id, framing, case, b"".join(chunks)))
    return found


def write(folder: Path, **files: bytes) -> Path:
    """The files, by stem, as `<stem>.log`."""
    folder.mkdir(parents=True, exist_ok=True)
    for stem, data in files.items():
        (folder / f"{stem}.log").write_bytes(data)
    return folder

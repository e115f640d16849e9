"""What Kafka's own tool says of segments, and what the reference says, in one form: fields by name.

`DumpLogSegments --deep-iteration --print-data-log` prints a line a batch and a line a record (format document
kafka.md §11). It prints of headers the keys only; keys and values as text.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from struct import unpack_from
from typing import Any

import ground

TIMES = ("CreateTime", "LogAppendTime")
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
MARKERS = {0: "ABORT", 1: "COMMIT"}

APPEND_TIME, TRANSACTIONAL, CONTROL, HORIZON = 8, 16, 32, 64
"""Attribute bits: kafka.md §1.2."""

Line = dict[str, str]

PAIR = re.compile(r"(\w+): (OptionalLong\S*|\[[^\]]*\]|\S+)")
_TEXT = re.compile(r"(?: key: (?P<key>\S*))?(?: payload: (?P<payload>\S*))?$")


def printed(segments: Sequence[Path]) -> dict[str, list[Line]]:
    """The tool's lines, by the name of the segment; raises `CalledProcessError`."""
    found = ground.dumped(segments, "--deep-iteration", "--print-data-log")
    return {named(path): list(_read(lines)) for path, lines in found.items()}


def named(segment: Path) -> str:
    """A segment by topic and base offset; its file has to be named by the offset alone."""
    return f"{segment.parent.name}/{segment.name}"


def parsed(output: str) -> dict[str, list[Line]]:
    """The lines that the tool printed; an unknown line is kept as `unread`."""
    return {named(path): list(_read(lines)) for path, lines in ground.by_file(output).items()}


def _read(lines: Sequence[str]) -> Iterator[Line]:
    for text in lines:
        if text.startswith("baseOffset: "):
            yield dict(PAIR.findall(text))
        elif text.startswith("| offset: "):
            yield _record_line(text.removeprefix("|"))
        elif not text.startswith(("Starting offset: ", "Log starting offset: ")):
            yield {"unread": text}


def _record_line(text: str) -> Line:
    """Key and value are last, and only if they are not null; for a control record, the marker."""
    told = _TEXT.search(text)
    assert told is not None, "it matches nothing at least"
    line = dict(PAIR.findall(text[: told.start()]))
    return line | {name: part for name, part in told.groupdict().items() if part is not None}


def expected(data: bytes, value: Any) -> list[Line]:
    """The same lines, of the reference's value of a segment of v2 batches and of its bytes."""
    return list(_lines(data, value))


def _lines(data: bytes, value: Any) -> Iterator[Line]:
    at = 0
    for batch in value["batches"]:
        size = unpack_from(">i", data, at + 8)[0] + 12
        yield _batch(batch, data, at, size)
        yield from (_record(batch, record) for record in batch["records"])
        at += size


def _batch(batch: Any, data: bytes, at: int, size: int) -> Line:
    bits, base = int(batch["attributes"]), int(batch["baseOffset"])
    horizon = batch["baseTimestamp"]
    delta, sequence = int(batch["lastOffsetDelta"]), int(batch["baseSequence"])
    return {
        "baseOffset": str(base),
        "lastOffset": str(base + delta),
        "count": str(len(batch["records"])),
        "baseSequence": str(sequence),
        "lastSequence": str(_later(sequence, delta)),
        "producerId": batch["producerId"],
        "producerEpoch": batch["producerEpoch"],
        "partitionLeaderEpoch": batch["partitionLeaderEpoch"],
        "isTransactional": str(bool(bits & TRANSACTIONAL)).lower(),
        "isControl": str(bool(bits & CONTROL)).lower(),
        "deleteHorizonMs": f"OptionalLong[{horizon}]" if bits & HORIZON else "OptionalLong.empty",
        "position": str(at),
        _time(bits): batch["maxTimestamp"],
        "size": str(size),
        "magic": batch["magic"],
        "compresscodec": CODECS[bits & 7],
        "crc": str(unpack_from(">I", data, at + 17)[0]),
        "isvalid": "true",
    }


def _record(batch: Any, record: Any) -> Line:
    bits = int(batch["attributes"])
    key, value = _raw(record["key"]), _raw(record["value"])
    line = {
        "offset": record["offset"],
        _time(bits): record["timestamp"],
        "keySize": str(-1 if key is None else len(key)),
        "valueSize": str(-1 if value is None else len(value)),
        "sequence": str(_later(int(batch["baseSequence"]), int(record["offsetDelta"]))),
        "headerKeys": f"[{','.join(bytes.fromhex(name).decode() for name, _ in record['headers'])}]",
    }
    if bits & CONTROL:
        return line | _marker(key or b"", value or b"")
    texts = {"key": key, "payload": value}
    return line | {name: text.decode() for name, text in texts.items() if text is not None}


def _marker(key: bytes, value: bytes) -> Line:
    """A transaction's end: kafka.md §1.9."""
    marker, epoch = unpack_from(">h", key, 2)[0], unpack_from(">i", value, 2)[0]
    return {"endTxnMarker": MARKERS[marker], "coordinatorEpoch": str(epoch)}


def _later(sequence: int, delta: int) -> int:
    """Sequences go on modulo 2^31: kafka.md §1.10."""
    return sequence if sequence < 0 else (sequence + delta) % (1 << 31)


def _time(bits: int) -> str:
    return TIMES[bool(bits & APPEND_TIME)]


def _raw(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)

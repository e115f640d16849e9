"""Sizes of Heka messages and streams: payloads around 64 KiB, of 1.5 MiB, 1,000 frames: heka.md §1, §2.

A message alone has no limit; a frame has one of 65,536 bytes, unless a caller allows more.
"""

from collections.abc import Iterator
from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.generated import KIB, MIB, add_generated

MESSAGE, STREAM = "heka.message/0.10", "heka.stream/0.10"
RAISED = {"max_message": 2 * MIB}
"""A limit of a caller, for messages above the default."""

AROUND = 20 + 4
"""Bytes of a message around a payload of 64 KiB less these: uuid, timestamp, and the tag and length of the payload."""

PAYLOAD, FRAMES, LIMIT = ("heka.size.payload",), ("heka.size.frames",), ("heka.stream.length.limit", "heka.size.payload")
EDGE = "A buffer of 64 KiB, or a length of 16 bits, ends here."
OVER = "The limit is configuration: a daemon with a higher one writes such messages."
BUFFER = "The frames of one read of a socket, or of a file, are many."


def write(writer: FixtureWriter) -> None:
    for name, title, row, rules, why, options in _rows():
        for op, topic in (("decode", "size"), ("encode", "size-encode")):
            add_generated(writer, f"{topic}/{name}", title, row, rules=rules, why=why, doc="heka.md §1, §2", op=op, options=options)
    packed = {"kind": MESSAGE, "value": 65537, "fill": "text", "codec": "snappy-raw"}
    add_generated(writer, "size/snappy-65537", "A payload of 65,537 bytes in a raw snappy block", packed, rules=PAYLOAD, why="Blocks of snappy are often cut at 64 KiB; here one has more.", doc="heka.md §5", options={"compression": "snappy"}, needs=("codec:snappy",))


def _rows() -> Iterator[tuple[str, str, dict[str, Any], tuple[str, ...], str, dict[str, Any] | None]]:
    for size in (65535, 65536, 65537, 1536 * KIB):
        text = "1.5 MiB" if size > MIB else f"{size:,} bytes"
        name = "1536k" if size > MIB else str(size)
        yield f"payload-{name}", f"A payload of {text}", {"kind": MESSAGE, "value": size, "fill": "text"}, PAYLOAD, EDGE, None
    for size in (65535, 65536):
        row = {"kind": STREAM, "value": size - AROUND, "fill": "text"}
        yield f"message-{size}", f"A message of {size:,} bytes", row, LIMIT, "The limit is inclusive.", None
    yield "message-65537-allowed", "A message of 65,537 bytes where 2 MiB are allowed", {"kind": STREAM, "value": 65537 - AROUND, "fill": "text"}, LIMIT, OVER, RAISED
    yield "payload-1536k-allowed", "A payload of 1.5 MiB where 2 MiB are allowed", {"kind": STREAM, "value": 1536 * KIB, "fill": "text"}, LIMIT, OVER, RAISED
    yield "frames-1000", "1,000 frames", {"kind": STREAM, "records": 1000, "value": 10, "fill": "text"}, FRAMES, BUFFER, None

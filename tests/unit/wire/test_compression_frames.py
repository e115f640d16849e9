"""The frames around compressed blocks, where no golden case has them."""

import gzip
from typing import Any

from each import each

from wireproof.wire.compression import decompress_prefix
from wireproof.wire.reader import Reader

TWO = bytes.fromhex("100000000261023100100002020262023200")
"""The two records of kafka.md §6 E05 to E09."""

GZIP, SNAPPY, ZSTD = 1, 2, 4


def block(data: bytes, *, last: bool = True, kind: int = 0) -> bytes:
    return (len(data) << 3 | kind << 1 | last).to_bytes(3, "little") + data


def zstd(*blocks: bytes, head: str = "2012") -> bytes:
    return bytes.fromhex("28b52ffd" + head) + b"".join(blocks)


@each(
    "codec, data, wanted, said",
    [
        (GZIP, gzip.compress(TWO) + b"\x1f\x8b\x08\x08" + b"n" * 30, TWO, ["gzip-trailing-garbage"]),
        (ZSTD, zstd(block(b"", kind=2), head="0058"), b"", ["zstd-empty-packed-block"]),
        (SNAPPY, b"", b"", ("snappy", 0)),
        (ZSTD, zstd(block(TWO, kind=3)), b"", ("zstd[0].blocks[0].header", 6)),
        (ZSTD, zstd(block(TWO[:9], last=False), block(b"")), b"", ("zstd[0].contentSize", 5)),
    ],
)
def test_a_frame_is_taken_with_its_remark_or_refused_at_its_field(
    codec: int, data: bytes, wanted: bytes, said: Any
) -> None:
    reader = Reader(data)
    inner, torn = decompress_prefix(reader, "records", codec)
    found = (torn.path.removeprefix("records."), torn.at) if torn else [one.cls for one in reader.remarks]
    assert (bytes(inner.data), found) == (wanted, said)

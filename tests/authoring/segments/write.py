"""Write the segments of `tests/support/segments`: logs built here, index files by Apache Kafka 4.3.0 itself.

`python tests/authoring/segments/write.py FOLDER` wants Java and the jars of `tests/benchmarks/kafka-tools`.
"""

import gzip
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from google_crc32c import value as crc32c

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "benchmarks"))

from dumping import jars  # noqa: E402 - the folder of the benchmarks is no package

BASE = 1000
NOW = 1_700_000_000_000


def varint(number):
    number = (number << 1) ^ (number >> 63)
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def batch(base, stamps, producer=-1, sequence=-1, flags=0, bodies=None):
    """A v2 batch: kafka.md §1.1, §1.3."""
    records = b""
    for index, stamp in enumerate(stamps):
        key, value = bodies[index] if bodies else (b"k%d" % index, b"v" * 60)
        body = b"\0" + varint(stamp - stamps[0]) + varint(index)
        body += varint(len(key)) + key + varint(len(value)) + value + varint(0)
        records += varint(len(body)) + body
    sealed = (
        struct.pack(
            ">hiqqqhii",
            flags,
            len(stamps) - 1,
            stamps[0],
            max(stamps),
            producer,
            0 if producer >= 0 else -1,
            sequence,
            len(stamps),
        )
        + records
    )
    return struct.pack(">qiibI", base, len(sealed) + 9, 0, 2, crc32c(sealed)) + sealed


def marker(base, stamp, producer, kind):
    """A control batch: §1.9."""
    body = struct.pack(">hh", 0, kind), struct.pack(">hi", 0, 1)
    return batch(base, [stamp], producer, -1, 0x30, [body])


def message(offset, magic, stamp, value, flags=0):
    """A v0 or v1 message: §2.1."""
    time = struct.pack(">q", stamp) if magic else b""
    sealed = struct.pack(">bb", magic, flags) + time + struct.pack(">ii", -1, len(value)) + value
    return struct.pack(">qiI", offset, len(sealed) + 4, zlib.crc32(sealed)) + sealed


class Log:
    """Batches one after another, with the offsets and sequences that a broker would give them."""

    def __init__(self):
        self.parts, self.offset, self.sequences = [], BASE, {}

    def data(self, count, stamp, producer=-1, flags=0):
        sequence = self.sequences.get(producer, 0)
        stamps = [stamp + index * 10 for index in range(count)]
        self.parts.append(batch(self.offset, stamps, producer, sequence if producer >= 0 else -1, flags))
        self.sequences[producer] = sequence + count
        self.offset += count

    def end(self, producer, stamp, kind):
        self.parts.append(marker(self.offset, stamp, producer, kind))
        self.offset += 1


def transactions():
    """Three aborted transactions, one while another is open, one committed, one without any record."""
    log = Log()
    log.data(2, NOW)
    log.data(1, NOW + 500, 7, 0x10)
    log.data(3, NOW + 100, 8, 0x10)
    log.data(1, NOW + 90)
    log.end(7, NOW + 600, 0)
    log.data(1, NOW + 700, 9, 0x10)
    log.end(8, NOW + 700, 1)
    log.data(2, NOW + 650)
    log.end(9, NOW + 800, 0)
    log.end(9, NOW + 810, 0)
    log.data(3, NOW + 5000, 7, 0x10)
    log.data(1, NOW + 10)
    log.end(7, NOW + 5100, 0)
    log.data(2, NOW + 4000)
    return log.parts


def legacy():
    """v0, v1 and wrappers of v1; a wrapper has the offset of its last message: §2.2."""
    parts, offset = [], BASE
    for number in range(4):
        parts.append(message(offset, 0, 0, b"v" * 70))
        offset += 1
        parts.append(message(offset, 1, NOW + number * 100, b"w" * 70))
        offset += 1
        inner = b"".join(
            message(index, 1, NOW + number * 100 + 50 + index, bytes(range(60))) for index in range(3)
        )
        packed = gzip.compress(inner, mtime=0)
        offset += 2
        parts.append(message(offset, 1, NOW + number * 100 + 52, packed, 1))
        offset += 1
    return parts


SEGMENTS = {
    "closed": ("recover", transactions),
    "open": ("append", transactions),
    "legacy": ("recover", legacy),
}


def main(out):
    words = []
    for name, (how, made) in SEGMENTS.items():
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        (folder / f"{BASE:020}.log").write_bytes(b"".join(made()))
        words += [how, str(folder)]
    with tempfile.TemporaryDirectory() as built:
        path = f"{jars()}/*"
        subprocess.run(["javac", "-cp", path, "-d", built, HERE / "Segments.java"], check=True)
        subprocess.run(["java", "-cp", f"{built}:{path}", "Segments", *words], check=True)
    for name in SEGMENTS:
        for path in sorted((out / name).iterdir()):
            if path.suffix not in (".log", ".index", ".timeindex", ".txnindex"):
                path.unlink()
            else:
                print(f"{name}/{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Packed bytes in other frames: what is right is read as before, what is odd is refused or remarked on."""

from random import Random

from each import each

from wireproof.derive.mutate.compression_variants import FRAME_FAULTS, FRAME_WRITERS, compress_variant
from wireproof.wire.compression import COMPRESSION_CODECS, decompress_prefix, snappy
from wireproof.wire.reader import Reader, TracingReader

DATA = b"hello world, hello world"
NUMBERS = {codec.name: number for number, codec in COMPRESSION_CODECS.items()}
EACH = [(codec, odd) for codec in sorted(FRAME_FAULTS) for odd in FRAME_FAULTS[codec]]

REFUSED = {
    "gzip": {"header crc", "crc", "size", "method"},
    "lz4": {"linked", "block checksum", "header checksum", "kip57", "no end"},
    "snappy": {"empty chunk"},
    "zstd": {"checksum"},
}
"""kafka.md §7: X09, Z60, Z61, X08; Z20, Z29, Z21, Z22, Z36; X13; Z51."""


def read(codec: str, frame: bytes) -> tuple[bytes, bool]:
    """Return the decompressed bytes, and True if they are complete."""
    inner, torn = decompress_prefix(Reader(frame), "records", NUMBERS[codec])
    return bytes(inner.data[inner.pos : inner.end]), torn is None


@each("codec", sorted(FRAME_WRITERS))
def test_a_frame_without_an_odd_part_gives_what_was_packed(codec: str) -> None:
    for seed in range(200):
        assert read(codec, FRAME_WRITERS[codec](DATA, Random(seed), "", ())) == (DATA, True)


@each("codec, odd", [(codec, odd) for codec in REFUSED for odd in sorted(REFUSED[codec])])
def test_a_part_that_kafka_refuses_is_refused(codec: str, odd: str) -> None:
    for seed in range(50):
        assert not read(codec, FRAME_WRITERS[codec](DATA, Random(seed), odd, ()))[1]


@each("codec, odd", EACH)
def test_each_odd_part_is_made_of_any_data(codec: str, odd: str) -> None:
    for seed in range(100):
        rng = Random(seed)
        read(codec, FRAME_WRITERS[codec](DATA[: seed % 25], rng, odd, ()))


def test_every_codec_of_the_format_has_frames() -> None:
    assert set(FRAME_WRITERS) == set(FRAME_FAULTS) == set(NUMBERS)


def test_an_empty_stored_block_ends_the_frame_for_kafka_alone() -> None:
    """kafka.md §7 X10: bytes after it are not read."""
    found = {read("lz4", FRAME_WRITERS["lz4"](DATA, Random(seed), "empty block", ())) for seed in range(50)}
    assert any(got != DATA and DATA.startswith(got) for got, _ in found)


def test_frames_are_drawn_of_two_kinds_and_remarks_are_reported() -> None:
    remarks: set[str] = set()
    framed: set[bool] = set()
    for seed in range(400):
        reader = TracingReader(compress_variant("snappy", DATA, Random(seed)))
        framed.add(reader.data.startswith(snappy.MAGIC))
        decompress_prefix(reader, "records", NUMBERS["snappy"])
        remarks |= {remark.cls for remark in reader.remarks}
    assert framed == {True, False}
    assert {"snappy-concatenated", "snappy-version", "snappy-trailing-bytes"} <= remarks

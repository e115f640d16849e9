"""The fast decoders never accept what the reference refuses, and never differ in value."""

from collections.abc import Iterator
from struct import pack
from zlib import crc32

import pytest
from agreement import assert_agrees
from goldens import load
from google_crc32c import value as crc32c
from hypothesis import given
from hypothesis import strategies as st
from subjects import each, nearly, valued, written

from wireproof.cases.case import Case
from wireproof.formats import FORMATS, Format
from wireproof.inspect.hexdump import data_of
from wireproof.kafka import columnar
from wireproof.kafka.values import Message, Record, RecordBatch
from wireproof.wire.compression import compress
from wireproof.wire.options import Options

ROWS = [row for row in FORMATS.values() if row.name.startswith("kafka.")]
T = 1_700_000_000_000
LEFT_TO_THE_REFERENCE = (
    *(f"kafka.batch/v2/control/{kind}" for kind in ("kraft-", "leader-change", "snapshot-", "unknown-type")),
    *(f"kafka.log/mixed/transactions/control-{kind}" for kind in ("leader-change", "type-99")),
    *(f"kafka.batch/v2/states/control-{kind}" for kind in ("kraft-", "leader-change", "snapshot-", "type-")),
    *(
        f"kafka.batch/{magic}/states/inner-{what}-least"
        for magic in ("v0", "v1")
        for what in ("attributes", "offset")
    ),
    "kafka.batch/v1/states/inner-timestamps",
)
"""Clean frames that the kernels do not judge: control records other than ABORT and COMMIT, and wrappers whose
messages have numbers that no writer gives them."""

RECORDS = (
    Record(0, 0, 0, b"k", b"v" * 70, ()),
    Record(0, 5, 1, None, None, ((b"h", b"x"), ("ü€😀".encode(), None))),
    Record(0, 300, 200, b"", b"", ((b"", b""),)),
)
BATCH = RecordBatch(9, 0, 2, 0, 200, T, T + 300, 7, 1, 0, RECORDS)
MARKER = RecordBatch(
    9, 0, 2, 0x30, 0, T, T, 7, 1, -1, (Record(0, 0, 0, pack(">hh", 0, 1), pack(">hi", 0, 3), ()),)
)


def message(magic: int, offset: int, messages: tuple[Message, ...] | None = None) -> Message:
    codec, stamp = (1 if messages else 0), (T if magic else -1)
    key, value = (None, None) if messages else (b"k", b"value")
    return Message(offset, magic, codec, stamp, key, value, messages)


def packed(row: str, value: RecordBatch | Message) -> bytes:
    return written(FORMATS[f"kafka.batch/{row}"], value)


SEEDS = {
    "v2": packed("v2", BATCH),
    "marker": packed("v2", MARKER),
    "v1": packed("v1", message(1, 5)),
    "v0": packed("v0", message(0, 5)),
    "wrapper-v1": packed("v1", message(1, 7, (message(1, 6), message(1, 7)))),
    "wrapper-v0": packed("v0", message(0, 7, (message(0, 6), message(0, 7)))),
}


def sealed(data: bytes) -> bytes:
    """The entry with its CRC repaired: kafka.md §1.1, §2.1."""
    if data[16] == 2:
        return data[:17] + pack(">I", crc32c(data[21:])) + data[21:]
    return data[:12] + pack(">I", crc32(data[16:])) + data[16:]


def edits(data: bytes) -> Iterator[bytes]:
    """Every byte but magic and CRC at its edges and one off, one inserted, one removed; with a valid CRC."""
    for at in range(len(data)):
        old = data[at]
        for new in {0, 1, 2, 0x7F, 0x80, 0xFF, old ^ 0x80, (old + 1) & 0xFF, (old - 1) & 0xFF} - {old}:
            edited = data[:at] + bytes((new,)) + data[at + 1 :]
            if edited[16] <= 2 and at not in range(8, 12):
                yield sealed(edited)
        if at >= 21:
            for edited in (data[:at] + data[at + 1 :], data[:at] + b"\x80" + data[at:]):
                yield sealed(edited[:8] + pack(">i", len(edited) - 12) + edited[12:])


def fixtures() -> list[tuple[str, bytes]]:
    """Id and bytes of every Kafka case that is read."""
    return [
        (case.id, octets(case)) for case in load().cases if case.format.startswith("kafka.") and octets(case)
    ]


def octets(case: Case) -> bytes:
    return data_of(case) or b""


def test_every_fixture_is_read_alike_and_the_clean_ones_by_the_kernels() -> None:
    clean = handed = 0
    for name, data in fixtures():
        plain, asked = assert_agrees(data)
        assert bool(asked) is (plain > 0 and name.startswith(LEFT_TO_THE_REFERENCE)), name
        clean, handed = clean + plain, handed + asked
    assert clean > 100
    assert 0 < handed < clean


def test_all_fixtures_in_one_buffer_are_read_alike() -> None:
    assert_agrees(b"".join(data for _, data in fixtures()))


@pytest.mark.parametrize("seed", SEEDS.values(), ids=SEEDS)
def test_the_seeds_are_clean(seed: bytes) -> None:
    assert assert_agrees(seed) == (1, 0)


@pytest.mark.parametrize("seed", SEEDS.values(), ids=SEEDS)
def test_every_edited_byte_under_a_right_checksum_is_read_alike(seed: bytes) -> None:
    assert_agrees(b"".join(edits(seed)))  # the sizes hold, so that each edit is an entry of one buffer


@pytest.mark.parametrize("seed", SEEDS.values(), ids=SEEDS)
def test_every_cut_and_every_prefix_of_garbage_is_read_alike(seed: bytes) -> None:
    for at in range(len(seed)):
        assert_agrees(seed[:at])
        assert_agrees(seed[at:] + seed)


def batch_of_raw(record: bytes) -> bytes:
    """One uncompressed batch of one record, its body as given: kafka.md §1.1, §1.3."""
    body = bytes((len(record) << 1,)) + record
    head = pack(">qiiBIhiqqqhii", 0, 49 + len(body), 0, 2, 0, 0, 0, T, T, -1, -1, -1, 1)
    return sealed(head + body)


@pytest.mark.parametrize("field", range(6))
def test_a_number_that_is_longer_than_it_must_be_is_the_references(field: int) -> None:
    """Attributes, timestampDelta, offsetDelta, key, value, headerCount, with lengths that are right: §4."""
    parts = [b"\0", b"\0", b"\0", b"\x02k", b"\x02v", b"\0"]
    plain = batch_of_raw(b"".join(parts))
    assert assert_agrees(plain * 2) == (2, 0)
    long = bytes((parts[field][0] | 0x80, 0)) + parts[field][1:] if field else b"\1"
    data = batch_of_raw(b"".join((*parts[:field], long, *parts[field + 1 :])))
    frames = columnar.scan(data + plain)  # so that bytes follow, as in a segment
    assert frames.by_reference.tolist() == [True, False]
    assert_agrees(data + plain)


@pytest.mark.parametrize(
    ("base", "deltas", "handed"),
    [
        (-1, (0, 0), 0),
        (-1, (0, -4), 1),
        (5, (-7, 0), 1),
        ((1 << 63) - 1, (1, 0), 1),
        (-(1 << 63), (-1, 0), 1),
    ],
)
def test_timestamps_below_none_and_over_the_edge_are_the_references(
    base: int, deltas: tuple[int, int], handed: int
) -> None:
    rows = tuple(Record(0, delta, at, None, b"value", ()) for at, delta in enumerate(deltas))
    data = packed("v2", RecordBatch(0, 0, 2, 0, 1, base, base, -1, -1, -1, rows)) + SEEDS["v2"]
    assert columnar.scan(data).by_reference.sum() == handed
    assert_agrees(data)


def batch_of_region(codec: int, region: bytes, last: int = 200, count: int = 3) -> bytes:
    """The seed of v2 with another compressed region: §1.1."""
    head = bytearray(SEEDS["v2"][:61])
    head[8:12] = pack(">i", 49 + len(region))
    head[22] |= codec
    head[23:27], head[57:61] = pack(">i", last), pack(">i", count)
    return sealed(bytes(head) + region)


@pytest.mark.parametrize("codec", range(1, 5))
def test_every_edited_byte_inside_a_compressed_batch_is_read_alike(codec: int) -> None:
    """The records are edited before they are compressed, so that the kernels see the edit."""
    regions = (compress(codec, edited[61:]) for edited in edits(SEEDS["v2"]))
    assert_agrees(b"".join(batch_of_region(codec, region) for region in regions))


@pytest.mark.parametrize("codec", range(1, 5))
def test_every_edited_byte_of_a_compressed_region_is_read_alike(codec: int) -> None:
    seed = batch_of_region(codec, compress(codec, SEEDS["v2"][61:]))
    assert assert_agrees(seed) == (1, 0)
    assert_agrees(b"".join(edits(seed)))


@pytest.mark.parametrize("codec", range(1, 5))
def test_whatever_follows_a_compressed_stream_is_read_alike(codec: int) -> None:
    """Zeros, the stream again, its beginning, its last bytes, a stream of nothing on either side."""
    region, nothing = compress(codec, SEEDS["v2"][61:]), compress(codec, b"")
    more = [*(bytes(size) for size in range(1, 9)), region, region[:10], region[-4:], region[-8:], nothing]
    regions = [nothing + region, *(region + one for one in more)]
    assert_agrees(b"".join(batch_of_region(codec, one) for one in regions))


@pytest.mark.parametrize("size", [0, 1, 143, 1000, 65536, 65537, (1 << 31) - 1, 1 << 31])
def test_a_block_of_lz4_that_begins_with_a_size_is_none(size: int) -> None:
    """Some libraries read a block that fails once more, as if its size stood before it."""
    region = compress(3, SEEDS["v2"][61:])
    block = pack("<I", size) + region[11:-4]
    assert_agrees(batch_of_region(3, region[:7] + pack("<I", len(block)) + block + region[-4:]))


def test_more_records_than_memory_has_room_for_are_the_references() -> None:
    """A count whose product with the least record's size wraps to 3 in 32 bits."""
    count = (1 << 32) // 7 + 1
    data = batch_of_region(0, SEEDS["v2"][61:], count - 1, count)
    assert_agrees(data)
    assert_agrees(batch_of_region(2, compress(2, SEEDS["v2"][61:]), count - 1, count))


@each(ROWS)
def test_nearly_valid_bytes_are_read_alike(row: Format) -> None:
    @given(st.lists(st.one_of(st.binary(max_size=40), nearly(row)), max_size=3).map(b"".join))
    def holds(data: bytes) -> None:
        assert_agrees(data)

    holds()


@each(ROWS)
def test_what_is_valid_is_read_alike_under_small_limits(row: Format) -> None:
    @given(valued(row), st.integers(0, 200), st.integers(14, 300))
    def holds(value: object, most: int, longest: int) -> None:
        assert_agrees(written(row, value), Options(max_output=most, max_message=longest))

    holds()

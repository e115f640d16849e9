"""The mutators: deterministic, within their size, for every row; and what they repair is right."""

import hmac
from random import Random
from zlib import crc32

import pytest
from each import each
from goldens import golden_bytes, stored_cases
from google_crc32c import value as crc32c
from one_of_a_kind import each_format

from wireproof import formats
from wireproof.cases.case import Accept, Data
from wireproof.derive.mutate import crossover, mutate, repair, seed
from wireproof.derive.mutate.decode_trace import cached_trace
from wireproof.derive.mutate.encodings import mended, sample, written
from wireproof.derive.mutate.splice import Splice, apply_splices
from wireproof.derive.mutate.value_mutations import mutate_value
from wireproof.derive.mutate.values_of_type import edit_sites, integer_field, replace_part
from wireproof.formats import FORMATS, Format
from wireproof.heka.stream import HEKA_HEADER
from wireproof.iggy.message import POLLED
from wireproof.kafka.values import Record, RecordBatch
from wireproof.wire.compression import compress
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected

ROWS = list(FORMATS.values())
BATCH = FORMATS["kafka.batch/v2"]
STREAM = FORMATS["heka.stream/0.10"]
WRAPPER = FORMATS["kafka.batch/v0"]


def _family(row: Format, number: int, count: int = 60) -> list[bytes]:
    rng, corpus = Random(number), [seed(row)]
    for _ in range(count):
        corpus.append(mutate(row, rng.choice(corpus), rng, 512))
    return corpus


@pytest.mark.parametrize("row", each_format(ROWS, lambda row: row.format_id))
def test_the_least_encoding_of_every_row_is_accepted(row: Format) -> None:
    assert cached_trace(row, seed(row)).rejected is None


@pytest.mark.parametrize("row", each_format(ROWS, lambda row: row.format_id))
def test_the_fullest_encoding_is_accepted_without_a_remark_and_holds_more_than_the_least(row: Format) -> None:
    seen = formats.decode(row, sample(row))
    assert not seen.remarks
    assert len(cached_trace(row, sample(row)).spans) >= len(cached_trace(row, seed(row)).spans)
    if hasattr(seen.value, "messages") and row.name != "kafka.batch":
        assert seen.value.messages[0].headers


def fitted(owner: type, name: str, value: int) -> int:
    field = integer_field(owner, name)
    return value if field is None else field.wrapped(value)


@each(
    "owner, name, value, held",
    [
        (RecordBatch, "base_offset", 1 << 63, -(1 << 63)),
        (RecordBatch, "attributes", 0x8000, -0x8000),
        (Record, "attributes", 128, -128),
        (POLLED.at("0.0.40").type, "offset", -1, (1 << 64) - 1),
        (POLLED.at("0.0.40").type, "id", 1 << 128, 0),
        (HEKA_HEADER.type, "hmac_key_version", (1 << 32) + 7, 7),
        (POLLED.at("0.0.40").type, "of no field", 1 << 200, 1 << 200),
    ],
)
def test_a_number_wraps_around_at_the_width_of_its_field(
    owner: type, name: str, value: int, held: int
) -> None:
    assert fitted(owner, name, value) == held


@pytest.mark.parametrize("row", each_format(ROWS, lambda row: row.format_id))
def test_every_integer_of_a_value_can_be_written_at_both_of_its_ends(row: Format) -> None:
    """An edge that a writer refused would be an edit that is lost."""
    value = formats.decode(row, sample(row)).value
    for site in edit_sites(value):
        if site.kind.holds != "int" or site.name == "magic":
            continue
        for edge in (-1, (1 << 63) - 1, 1 << 63, (1 << 128) - 1):
            new = fitted(site.owner, site.name, edge)
            written(row, mended(replace_part(value, site.steps, new)))


@pytest.mark.parametrize("row", each_format(ROWS, lambda row: row.format_id))
def test_one_seed_gives_one_family_and_another_seed_another(row: Format) -> None:
    first = _family(row, 1)
    cached_trace.cache_clear()
    assert _family(row, 1) == first
    assert _family(row, 2) != first


@pytest.mark.parametrize("row", each_format(ROWS, lambda row: row.format_id))
def test_any_bytes_are_mutated_crossed_and_repaired_without_an_error_and_within_the_size(row: Format) -> None:
    rng = Random(5)
    noise = [b"", b"\0", b"\xff" * 40, bytes(range(256)), b"{" * 30, *_family(row, 3, 20)]
    for data in noise:
        assert len(mutate(row, data, rng, 100)) <= 100
        assert len(crossover(row, data, rng.choice(noise), rng, 100)) <= 100
        repair(row, data)


@pytest.mark.parametrize("row", each_format(ROWS, lambda row: row.format_id))
def test_a_good_share_of_children_passes_the_checks_of_the_frame(row: Format) -> None:
    rng, parents = Random(7), [data for data in _family(row, 7) if cached_trace(row, data).rejected is None]
    made = [mutate(row, rng.choice(parents), rng, 512, aware=100) for _ in range(150)]
    accepted = sum(cached_trace(row, data).rejected is None for data in made)
    assert accepted > 20  # raw bytes: none of a record batch


def test_every_bit_of_a_batch_is_repaired_to_a_batch_with_the_right_checksum() -> None:
    data = golden_bytes("kafka.batch/v2/headers/five")
    for at in range(21, len(data)):
        flipped = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        made = repair(BATCH, flipped)
        assert int.from_bytes(made[17:21], "big") == crc32c(made[21:])


def test_a_record_that_was_made_longer_has_the_lengths_of_all_that_hold_it_follow() -> None:
    data = golden_bytes("kafka.batch/v2/headers/five")
    made = cached_trace(BATCH, data)
    key = next(span for span in made.octets if span.path == "records[0].key")
    longer = apply_splices(made, [Splice("", key.start, key.end, b"k" * 200)])
    value = formats.decode(BATCH, longer).value
    assert value.records[0].key == b"k" * 200
    assert value.records[0].headers == made.value.records[0].headers
    assert int.from_bytes(longer[8:12], "big") == len(longer) - 12


def test_what_is_damaged_inside_a_wrapper_is_packed_again_with_both_checksums_right() -> None:
    inner = b"".join(_message(offset, b"value") for offset in (0, 1))
    for codec in ("gzip", "snappy", "lz4"):
        number = ("gzip", "snappy", "lz4").index(codec) + 1
        made = cached_trace(WRAPPER, _wrapper(number, inner))
        space = next(space for space in made.spaces if space)
        value = next(span for span in made.octets if span.path == "messages[1].value")
        longer = apply_splices(made, [Splice(space, value.start, value.end, b"longer than it was")])
        seen = formats.decode(WRAPPER, longer)
        assert [one.value for one in seen.value.messages] == [b"value", b"longer than it was"]
        assert not seen.remarks  # the wrapper's own checksum would be remarked


def test_a_checksum_inside_a_wrapper_is_repaired_too() -> None:
    broken = bytearray(_message(0, b"value"))
    broken[-1] ^= 1
    data = _wrapper(1, bytes(broken))
    assert cached_trace(WRAPPER, data).rejected is not None
    assert cached_trace(WRAPPER, repair(WRAPPER, data)).rejected is None


def test_a_length_and_a_count_that_lie_are_repaired() -> None:
    data = golden_bytes("kafka.batch/v2/headers/five")
    for at, new in ((8, b"\0\0\0\x10"), (8, b"\0\1\0\0"), (57, b"\0\0\0\x09"), (57, b"\0\0\0\0")):
        lying = data[:at] + new + data[at + 4 :]
        assert formats.decode(BATCH, repair(BATCH, lying)).value is not None


def test_crossover_takes_parts_of_both() -> None:
    one, two = golden_bytes("kafka.batch/v2/headers/five"), seed(BATCH)
    rng, found = Random(1), set[int]()
    for _ in range(200):
        try:
            found.add(len(formats.decode(BATCH, crossover(BATCH, one, two, rng, 1024)).value.records))
        except Rejected:
            continue
    assert {1, 2} <= found


def test_no_fixture_that_is_accepted_is_changed_by_a_repair() -> None:
    for case in stored_cases():
        if (
            case.op != "decode"
            or not isinstance(case.input, Data)
            or not isinstance(case.expect, Accept)
            or case.expect.remarks
            or case.options.keys
        ):
            continue
        if (
            case.profile == "reader"
            and case.options.compression == "none"
            and case.options.max_message is None
        ):
            row = FORMATS[case.format_id]
            if cached_trace(row, case.input.data).rejected is None:
                assert repair(row, case.input.data) == case.input.data, case.id


def test_a_signed_frame_that_was_damaged_is_signed_again_where_its_key_is_known() -> None:
    """heka.md, section 3, A01: signer `test`, version 1, key `testkey`, MD5; the digest is Python's own."""
    data, keys = golden_bytes("heka.stream/0.10/hmac/md5"), {"test_1": b"testkey"}
    assert repair(STREAM, data, keys) == data
    made = cached_trace(STREAM, data)
    payload = next(span for span in made.integers if span.path.endswith("message.timestamp"))
    damaged = apply_splices(made, [Splice("", payload.start, payload.end, b"\x11")])
    with pytest.raises(Rejected, match="auth"):
        formats.decode(STREAM, damaged, Options(keys=keys))
    again = repair(STREAM, damaged, keys)
    frame = formats.decode(STREAM, again, Options(keys=keys)).value.frames[0]
    assert frame.signer == b"test"
    assert frame.header.hmac == hmac.digest(b"testkey", again[-frame.header.message_length :], "md5")


def _message(offset: int, value: bytes) -> bytes:
    """kafka.md §2.1, magic 0."""
    body = b"\0\0" + b"\xff\xff\xff\xff" + len(value).to_bytes(4, "big") + value
    return _framed(offset, body)


def _framed(offset: int, body: bytes) -> bytes:
    sealed = crc32(body).to_bytes(4, "big") + body
    return offset.to_bytes(8, "big") + len(sealed).to_bytes(4, "big") + sealed


def _wrapper(codec: int, inner: bytes) -> bytes:
    """kafka.md §2.2; the compression is the reference's, which other tests check against other libraries."""
    packed = compress(codec, inner, kip57=True)
    return _framed(1, bytes((0, codec)) + b"\xff\xff\xff\xff" + len(packed).to_bytes(4, "big") + packed)


@each("number", range(12))
def test_content_of_a_frame_stays_a_message_where_no_option_asks_for_bytes(number: int) -> None:
    """An encoder without the option refuses bytes, so that an edit which made some would be lost."""
    parent = cached_trace(STREAM, sample(STREAM))
    (*_, content) = [site for site in edit_sites(parent.value) if site.name == "message"]
    assert (content.kind.holds, content.kind.others) == ("value", ())
    assert mutate_value(parent, Random(number), (24,)) is not None

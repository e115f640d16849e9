"""Field-aware damage and its repair. The bytes are kafka.md, section 6, E01 (W01)."""

import struct
from zlib import crc32

import google_crc32c
import pytest
from goldens import golden_bytes

from wireproof import formats
from wireproof.derive.edit_bytes import EditedBytes, encode_field, fix_up, replace_field
from wireproof.formats import FORMATS, TracedDecode, decode_with_trace
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import FieldSpan

V2 = FORMATS["kafka.batch/v2"]
CRC_AT = 17


def golden(name: str) -> tuple[bytes, TracedDecode]:
    data = golden_bytes(name)
    return data, decode_with_trace(FORMATS["/".join(name.split("/")[:2])], data)


def span(found: TracedDecode, path: str) -> FieldSpan:
    return next(one for one in found.spans if one.path == path and not one.space)


def field(path: str, new: bytes) -> EditedBytes:
    data, found = golden("kafka.batch/v2/crc/leader-epoch-outside")
    return replace_field(data, found.spans, span(found, path), new)


def stored_crc(data: bytes) -> int:
    crc: int = struct.unpack_from(">I", data, CRC_AT)[0]
    return crc


def test_an_edit_of_the_same_length_moves_nothing() -> None:
    data, found = golden("kafka.batch/v2/crc/leader-epoch-outside")
    edited = replace_field(data, found.spans, span(found, "baseOffset"), bytes(7) + b"\x09")
    assert edited.data == bytes(7) + b"\x09" + data[8:]
    assert [(one.start, one.end) for one in edited.spans] == [
        (one.start, one.end) for one in found.spans if not one.space
    ]


def test_a_longer_field_moves_what_follows_and_grows_what_covers_it() -> None:
    data, found = golden("kafka.batch/v2/crc/leader-epoch-outside")
    old = span(found, "records[0].key")
    edited = replace_field(data, found.spans, old, data[old.start : old.end] + b"!!!")
    assert len(edited.data) == len(data) + 3
    for one in found.spans:
        moved = next(other for other in edited.spans if other.path == one.path and other.type == one.type)
        assert moved.start == one.start + (3 if one.start >= old.end else 0), one.path
    cover = span(TracedDecode(edited.spans, None, None), "crc").cover
    assert cover is not None
    assert (cover.start, cover.end) == (21, len(data) + 3)


def test_a_resealed_checksum_is_the_one_that_another_library_computes() -> None:
    edited = field("maxTimestamp", bytes(8))
    assert stored_crc(edited.data) != google_crc32c.value(edited.data[21:])
    again = fix_up(edited, lengths=False).data
    assert stored_crc(again) == google_crc32c.value(again[21:])
    assert formats.decode(V2, again).value.max_timestamp == 0
    with pytest.raises(Rejected) as refused:
        formats.decode(V2, edited.data)
    assert refused.value.cls == "crc-mismatch"


def test_a_resealed_length_is_that_of_what_is_there() -> None:
    data = fix_up(field("records[1].value", b"three")).data
    assert struct.unpack_from(">i", data, 8)[0] == len(data) - 12 == 67 + 4
    assert stored_crc(data) == google_crc32c.value(data[21:])
    sound, _ = golden("kafka.batch/v2/crc/leader-epoch-outside")
    assert fix_up(field("batchLength", bytes(4))).data == sound


def test_the_field_that_was_damaged_is_spared() -> None:
    edited = field("crc", bytes(4))
    assert stored_crc(fix_up(edited, spare="crc").data) == 0
    assert stored_crc(fix_up(edited).data) != 0


def test_a_legacy_checksum_is_the_other_polynomial() -> None:
    data, found = golden("kafka.batch/v0/message/null-null")
    offset = span(found, "crc")
    edited = replace_field(data, found.spans, offset, bytes(4))
    again = fix_up(edited).data
    assert struct.unpack_from(">I", again, offset.start)[0] == crc32(again[offset.end :])
    assert again == data


@pytest.mark.parametrize(
    "name", ["kafka.batch/v2/crc/leader-epoch-outside", "kafka.batch/v0/message/null-null"]
)
def test_resealing_sound_bytes_changes_nothing(name: str) -> None:
    data, found = golden(name)
    assert fix_up(EditedBytes(data, tuple(one for one in found.spans if not one.space))).data == data


def test_a_value_is_written_in_the_type_of_its_field_or_not_at_all() -> None:
    def typed(kind: str) -> FieldSpan:
        return FieldSpan("f", "", 0, 1, kind, 0)

    assert encode_field(typed("int16"), -2) == b"\xff\xfe"
    assert encode_field(typed("uint32le"), 1) == b"\x01\0\0\0"
    assert encode_field(typed("varint"), 64) == b"\x80\x01"
    assert encode_field(typed("uvarint"), 64) == b"\x40"
    assert encode_field(typed("int8"), 128) is None
    assert encode_field(typed("varint"), 1 << 31) is None
    assert encode_field(typed("bytes"), 1) is None

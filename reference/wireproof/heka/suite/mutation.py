"""Mutations of Heka's messages and streams, signatures of mutated frames, and words for fuzzers."""

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final, get_type_hints

from attrs import evolve

from wireproof.derive.mutate.decode_trace import DecodeTrace
from wireproof.derive.mutate.dictionary import INVALID_VARINTS, VARLONG_BOUNDARIES, varint
from wireproof.derive.mutate.draws import FILLS, below, boundary_bytes, pick
from wireproof.derive.mutate.encodings import wrapped, written
from wireproof.derive.mutate.mutation_rules import Keys, MutationRules, Signing
from wireproof.derive.mutate.splice import Splice, apply_splices
from wireproof.derive.mutate.values_of_type import MAX_ELEMENTS, edit_sites, part_type, random_part, smallest
from wireproof.family import Format
from wireproof.heka.message import (
    HEKA_FIELD,
    HEKA_MESSAGE,
    UUID_SIZE,
    VALUE_ARRAYS,
    VALUE_TYPES,
    DynamicField,
    HekaMessage,
    array_of,
)
from wireproof.heka.stream import (
    HASH_FUNCTIONS,
    HEKA_HEADER,
    RECORD_SEPARATOR,
    UNIT_SEPARATOR,
    FrameStream,
    HekaFrame,
    hmac_digest,
    key_name,
)
from wireproof.schema.layout import proto_fields
from wireproof.wire.compression import snappy
from wireproof.wire.rejection import Rejected

_FIELD: Final[Any] = HEKA_FIELD.type

# --- edited values that the encoder accepts ---


def _field(field: DynamicField) -> DynamicField:
    """Keep values only in the array of the field's type, and use 64 bits for numbers: heka.md, section 4."""
    held = [name for name in VALUE_ARRAYS if getattr(field, name)]
    wanted = array_of(field.value_type)
    changes: dict[str, Any] = {}
    if field.value_double:
        changes["value_double"] = tuple(bits[:8].ljust(8, b"\0") for bits in field.value_double)
    if field.value_integer:
        changes["value_integer"] = tuple(wrapped(number, 64) for number in field.value_integer)
    if len(held) == 1 and held[0] != wanted:
        return evolve(field, **{**changes, "value_type": VALUE_TYPES[VALUE_ARRAYS.index(held[0])]})
    emptied: dict[str, Any] = {name: () for name in held if name != wanted}
    return evolve(field, **{**changes, **emptied}) if changes or emptied else field


def _message(message: HekaMessage) -> HekaMessage:
    """Make the uuid 16 bytes, and wrap severity and pid to 32 bits: heka.md, section 4."""
    cut: dict[str, Any] = {
        name: None if number is None else wrapped(number, 32)
        for name, number in (("severity", message.severity), ("pid", message.pid))
    }
    uuid = message.uuid[:16].ljust(16, b"\0")
    return evolve(message, uuid=uuid, timestamp=wrapped(message.timestamp, 64), **cut)


NORMALISERS: Final[dict[type, Callable[[Any], Any]]] = {_FIELD: _field, HEKA_MESSAGE.type: _message}
"""Class to the function that normalises its instances."""

# --- mutations ---

UUID: Final = bytes(range(16))
"""The uuid of a message: heka.md, section 4, M05."""

_HELD: Final[tuple[tuple[Any, ...], ...]] = (
    (b"v", b"w"), (b"v", b"w"), (1, -1), (b"\x3f\xf0" + bytes(6), bytes(8)), (True, False)
)  # fmt: skip
"""Two values of each type of a Heka Field, in the order of the types."""


def _elements() -> dict[Any, tuple[Any, ...]]:
    """Return a field of each type: heka.md, section 4."""
    return {
        _FIELD: tuple(
            evolve(smallest(_FIELD), name=b"f", representation=b"r", value_type=kind, **{array: held})
            for kind, array, held in zip(VALUE_TYPES, VALUE_ARRAYS, _HELD, strict=True)
        )
    }


# --- special edits ---


def _with_all_fields(message: HekaMessage, rng: Random) -> HekaMessage:
    """Set all absent optional fields."""
    absent = [site for site in edit_sites(message) if site.now is None and len(site.steps) == 1]
    given: dict[str, Any] = {site.name: random_part(site.kind, rng, site.name) for site in absent}
    return evolve(message, **given)


def _with_long_string(message: HekaMessage, rng: Random) -> HekaMessage:
    """Give a string of the message a length that takes two bytes: heka.md, section 4."""
    texts = [site for site in edit_sites(message) if site.kind.holds == "bytes" and len(site.steps) == 1]
    site = pick(rng, [one for one in texts if one.name != "uuid"])
    longer: dict[str, Any] = {site.name: pick(rng, FILLS) * pick(rng, (128, 129, 300))}
    return evolve(message, **longer)


def _with_field(message: HekaMessage, rng: Random) -> HekaMessage:
    """Add a Field of any type with up to three values: heka.md, section 4; several values are packed."""
    at = below(rng, len(VALUE_TYPES))
    kind = part_type(get_type_hints(_FIELD)[VALUE_ARRAYS[at]])
    values = tuple(
        random_part(part_type(kind.of[0]), rng, VALUE_ARRAYS[at]) for _ in range(pick(rng, (0, 1, 2, 3)))
    )
    empty = smallest(_FIELD)
    field = evolve(
        empty, name=boundary_bytes(rng, b"f"), value_type=VALUE_TYPES[at], **{VALUE_ARRAYS[at]: values}
    )
    return evolve(message, fields=(*message.fields[: MAX_ELEMENTS // 4], field))


def _in_frame(frame: HekaFrame, rng: Random) -> HekaFrame:
    """Apply an edit of `EDITS` to the message of a frame."""
    _, change = pick(rng, EDITS[HEKA_MESSAGE.type])
    return evolve(frame, message=change(frame.message, rng))


def _with_signer(frame: HekaFrame, rng: Random) -> HekaFrame:
    """Give a frame a header with a signer, a hash function and an HMAC: heka.md, section 1."""
    header = HEKA_HEADER.type(
        hmac_hash_function=pick(rng, ("MD5", "SHA1")),
        hmac_signer=boundary_bytes(rng, b"s")[:64],
        hmac_key_version=pick(rng, (None, 0, 1)),
        hmac=boundary_bytes(rng, b"h")[:64],
    )
    return evolve(frame, header=header)


def _in_stream(
    change: Callable[[HekaFrame, Random], HekaFrame],
) -> Callable[[FrameStream, Random], FrameStream]:
    """Return an edit of any frame of a stream."""

    def edit(stream: FrameStream, rng: Random) -> FrameStream:
        if not stream.frames:
            return FrameStream((smallest(HekaFrame),))
        at = below(rng, len(stream.frames))
        return FrameStream((*stream.frames[:at], change(stream.frames[at], rng), *stream.frames[at + 1 :]))

    return edit


EDITS: Final[dict[type, tuple[tuple[str, Callable[[Any, Random], Any]], ...]]] = {
    HEKA_MESSAGE.type: (
        ("all optional fields", _with_all_fields),
        ("added field", _with_field),
        ("long string", _with_long_string),
    ),
    FrameStream: (("signed header", _in_stream(_with_signer)), ("message", _in_stream(_in_frame))),
}
"""Class to the names and functions of its edits."""

# --- signatures: section 3 ---

_FRAME: Final = re.compile(r"frames\[(\d+)\]\.header\.hmac")


def sign_again(trace: DecodeTrace, keys: Keys) -> bytes:
    """Return the bytes with a valid HMAC in each signed frame whose signer has a key."""
    if not isinstance(trace.value, FrameStream):
        return trace.data
    splices, frames = [], trace.value.frames
    for span in trace.spans:
        signature = (
            _FRAME.fullmatch(span.path) if span.cover is not None and span.cover.kind == "hmac" else None
        )
        if span.cover is None or signature is None or int(signature[1]) >= len(frames):
            continue
        header = frames[int(signature[1])].header
        if (key := keys.get(key_name(header))) is not None:
            message = trace.data[span.cover.start : span.cover.end]
            splices.append(Splice("", span.start, span.end, hmac_digest(header, key, message)))
    return apply_splices(trace, splices, sums=True) if splices else trace.data


def name_signer(trace: DecodeTrace, keys: Keys, rng: Random) -> bytes:
    """Return the bytes with a signer that has a key in the header of one frame. Its HMAC is not computed."""
    if not isinstance(trace.value, FrameStream):
        return trace.data
    frames = trace.value.frames or (smallest(HekaFrame),)
    at = below(rng, len(frames))
    signer, _, version = pick(rng, sorted(keys)).rpartition("_")
    function = pick(rng, (None, *HASH_FUNCTIONS))
    header = HEKA_HEADER.type(
        hmac_hash_function=function,
        hmac_signer=signer.encode(errors="surrogateescape"),
        hmac_key_version=int(version) or pick(rng, (None, 0)),
        hmac=bytes(20 if function == "SHA1" else 16),
    )
    try:
        stream = FrameStream((*frames[:at], evolve(frames[at], header=header), *frames[at + 1 :]))
        return written(trace.row, stream)
    except Rejected:
        return trace.data


def damage_signature(trace: DecodeTrace, rng: Random) -> bytes:
    """Return the bytes with one HMAC changed, truncated, removed or too long: section 3, A04, A12, A15."""
    signatures = [span for span in trace.spans if span.path.endswith("header.hmac") and span.type == "bytes"]
    if not signatures:
        return trace.data
    signature = pick(rng, signatures)
    now = trace.data[signature.start : signature.end]
    size = below(rng, len(now) + 1)
    new = pick(rng, (now[:size], now[:size], now + b"\0", now[:-1] + bytes([(now[-1:] or b"\0")[0] ^ 1])))
    return apply_splices(trace, [Splice("", signature.start, signature.end, new)])


RULES: Final = MutationRules(
    named={"uuid": UUID},
    elements=_elements,
    normalise=NORMALISERS,
    edits=EDITS,
    # a header of no bytes: heka.md, section 2
    empty_frames={"heka.stream": bytes((RECORD_SEPARATOR, 0, UNIT_SEPARATOR))},
    # a configuration, not the bytes, declares a message as compressed: heka.md, section 5
    compress_bytes={"heka.message": snappy.compress_block},
    signing=Signing(sign_again, name_signer, damage_signature),
)

# --- the dictionary: sections are those of heka.md ---


def words(_: Format) -> Iterator[bytes]:
    """Yield separators, headers, keys of fields and varints: heka.md, sections 1 to 4."""
    head = bytes([RECORD_SEPARATOR])
    yield from (head, bytes([UNIT_SEPARATOR]), b"\x08", head + b"\x02\x08\x14\x1f", b"\x1e\x02\x08\x00\x1f")
    yield from (b"test", b"test_1", b"vic", b"trusted_signer", b"some_key", b"testkey")  # of section 3
    yield b"\x22\x04test\x28\x01\x32\x10"
    parts = (part for layout in (HEKA_MESSAGE, HEKA_FIELD, HEKA_HEADER) for part in proto_fields(layout))
    numbers = range(1, 2 + max(part.number for part in parts))  # the last one is of no field
    yield from (varint("uvarint", number << 3 | kind) for number in numbers for kind in (0, 1, 2, 5))
    yield bytes((1 << 3 | 2, UUID_SIZE)) + UUID
    yield from (varint("uvarint", step % (1 << 64)) for step in VARLONG_BOUNDARIES)
    yield from INVALID_VARINTS
    yield from (b"\xc0\x80", b"\xed\xa0\x80", b"\xff", b"\xc3\x9f")

"""The mix of mutations: 70 % edit bytes and fix up lengths and checksums, 30 % edit fields or values.

In measurements this mix reached all deep states of the codecs first. The result depends only on the parent's
bytes and the seed of the generator. The names of the edits are returned, for the report of a finding.
"""

from random import Random
from typing import Final

from attrs import frozen

from wireproof.derive.mutate import field_mutations, value_mutations
from wireproof.derive.mutate.compression_variants import (
    FRAME_WRITERS,
    compress_otherwise,
    compressed_regions,
    edit_stream,
)
from wireproof.derive.mutate.decode_trace import DecodeTrace, cached_trace, trace_of
from wireproof.derive.mutate.draws import below, pick
from wireproof.derive.mutate.encodings import samples, seed
from wireproof.derive.mutate.mutation_rules import Keys, rules_of
from wireproof.derive.mutate.splice import Splice, apply_splices, mutate_bytes, random_splice
from wireproof.formats import Format

FIELD_AWARE_PERCENT: Final = 30
"""The percentage of field-aware edits; the others are edits of bytes."""

FIELD_AWARE_PERCENT_TEXT: Final = 70
"""The percentage for JSON, whose fields no length or checksum protects from edits of bytes, and for protobuf,
in which most edits of bytes make unknown fields."""

FIELD_AWARE_PERCENT_FAVOURED: Final = 60
"""The percentage if most edits of bytes make a length impossible to fix up: `MutationRules.favour_fields`."""

VALUE_EDITS: Final = 3
"""How many of five field-aware edits change the value; the others change fields on the wire."""

FEWER_VALUE_EDITS: Final = 2
"""The number for protobuf, where a third of the edits of fields re-encodes one, and with `favour_fields`,
where encoders cannot write everything that readers must handle."""

RESTARTED: Final = 8
"""One in this many mutations of valid bytes starts from a generated encoding instead."""

REFUSED_PARENTS, REFUSED_TEXT_PARENTS = 2, 4
"""One in this many refused inputs is used as a parent, the second number for JSON: its parser stops at the
first fault, so that an edit after it has no effect."""

USEFUL_FIELDS: Final = 4
"""The number of fields that refused bytes must have before the refusal to be a useful parent."""

INSIDE, STREAM, COUNT, BROKEN = 15, 7, 5, 3
"""The percentages of re-encoded values that are then damaged: in decompressed content, in a compressed
stream, in a count, anywhere."""

NOT_FIXED_UP: Final = 8
"""One in this many edits is not fixed up, to test the checks of checksums."""


RECOMPRESSED: Final = 16
"""One in this many mutations only compresses in another frame, if the format has compression."""

FROM_MAXIMAL: Final = 16
"""One in this many mutations applies many edits to a maximal value instead of the parent."""

SIGNED, DAMAGED_SIGNATURE = 8, 8
"""With HMAC keys, one in this many mutations gets a signer, or a damaged signature."""


@frozen
class Mutation:
    """The mutated bytes, and the names of the edits that were applied to the parent."""

    data: bytes
    edits: tuple[str, ...]


def mutate_with_edits(
    fmt: Format,
    data: bytes,
    rng: Random,
    max_size: int,
    aware: int = FIELD_AWARE_PERCENT,
    *,
    keys: Keys | None = None,
) -> Mutation:
    """Return a mutation of `data`, with the names of its edits.

    Args:
        fmt: the format of the bytes.
        data: any bytes.
        rng: the source of all randomness.
        max_size: the largest size of the result, in bytes.
        aware: the percentage of field-aware edits.
        keys: HMAC keys; with them, most results are signed again.
    """
    edits: list[str] = []
    child = None if below(rng, FROM_MAXIMAL) else _mutated_sample(fmt, rng, edits)
    if child is None and not below(rng, RECOMPRESSED):
        child = _recompressed(fmt, data, rng, edits)
    if child is None:
        child = _single_edit(_parent(fmt, data, rng), data, rng, edits, aware)
    if not below(rng, 16):
        edits.append("frame")
        compress = rules_of(fmt).compress_bytes.get(fmt.name)
        child = (
            compress(child)
            if compress is not None and below(rng, 2)
            else mutate_frame(child, rng, rules_of(fmt).empty_frames.get(fmt.name, b"\0"))
        )
    if keys:
        child = _with_signature(trace_of(fmt, child), keys, rng, edits)
    return Mutation(child[:max_size], tuple(edits))


def _mutated_sample(fmt: Format, rng: Random, edits: list[str]) -> bytes | None:
    """Apply many edits to a maximal value, and maybe re-encode its protobuf fields.

    Return None if no edited value could be encoded.
    """
    data = value_mutations.mutate_value(
        cached_trace(fmt, pick(rng, samples(fmt))), rng, edits, value_mutations.MANY_EDITS
    )
    if data is None or below(rng, 2):
        return data
    trace = trace_of(fmt, data)
    return (
        apply_splices(trace, field_mutations.reencode_protobuf_fields(trace, rng)) if trace.fields else data
    )


def _recompressed(fmt: Format, data: bytes, rng: Random, edits: list[str]) -> bytes | None:
    """Compress the parent or a maximal value with any codec in any kind of frame.

    Return None if the format has no compression.
    """
    parent = cached_trace(fmt, data)
    compressed = value_mutations.compress_value(
        cached_trace(fmt, pick(rng, samples(fmt))) if parent.rejected else parent, rng
    )
    trace = None if compressed is None else trace_of(fmt, compressed)
    regions = [span for span in trace.spans if span.type in FRAME_WRITERS] if trace else []
    if trace is None or not regions:
        return compressed
    region = pick(rng, regions)
    frame = compress_otherwise(trace, region, rng)
    edits.append(f"frame of {region.type}")
    return (
        compressed
        if frame is None
        else apply_splices(trace, [Splice(region.space, region.start, region.end, frame)])
    )


def _single_edit(parent: DecodeTrace, data: bytes, rng: Random, edits: list[str], aware: int) -> bytes:
    """Apply a field-aware edit or an edit of bytes, with the percentages for the format."""
    if parent.data != data:
        edits.append("other parent")
    if parent.row.is_json or parent.fields:
        aware = max(aware, FIELD_AWARE_PERCENT_TEXT)
    elif rules_of(parent.row).favour_fields:
        aware = max(aware, FIELD_AWARE_PERCENT_FAVOURED)
    return _field_aware(parent, rng, edits) if below(rng, 100) < aware else _bytes_edited(parent, rng, edits)


def _with_signature(trace: DecodeTrace, keys: Keys, rng: Random, edits: list[str]) -> bytes:
    """Sign most mutations again; sometimes add a signer, sometimes damage a signature."""
    signing = rules_of(trace.row).signing
    if signing is None:
        return trace.data
    if not below(rng, SIGNED):
        edits.append("signer")
        trace = trace_of(trace.row, signing.name_signer(trace, keys, rng))
    if not below(rng, NOT_FIXED_UP):
        return trace.data
    edits.append("signed")
    data = signing.sign_again(trace, keys)
    if below(rng, DAMAGED_SIGNATURE):
        return data
    edits.append("signature")
    return signing.damage_signature(trace_of(trace.row, data), rng)


def _parent(fmt: Format, data: bytes, rng: Random) -> DecodeTrace:
    """Return the parent to edit: mostly the given bytes, else a generated encoding.

    Refused bytes are often replaced, and bytes that are refused within their first fields nearly always.
    """
    parent = cached_trace(fmt, data)
    if parent.value is not None:
        return parent if below(rng, RESTARTED) else _generated(fmt, rng)
    if len(parent.spans) >= USEFUL_FIELDS or not below(rng, 4):
        hopeless = REFUSED_TEXT_PARENTS if fmt.is_json else REFUSED_PARENTS
        return cached_trace(fmt, pick(rng, samples(fmt))) if below(rng, hopeless) else parent
    return _generated(fmt, rng)


def _generated(fmt: Format, rng: Random) -> DecodeTrace:
    """Return a maximal encoding, or a minimal one."""
    return cached_trace(fmt, pick(rng, samples(fmt)) if below(rng, 4) else seed(fmt))


def mutate_frame(data: bytes, rng: Random, hollow: bytes = b"\0") -> bytes:
    """Truncate or duplicate a frame, append bytes, or put an empty frame before it."""
    match below(rng, 4):
        case 0:
            return data[: below(rng, len(data) + 1)]
        case 1:
            return data + pick(rng, (b"\0", b"\n", b"\xff" * 4, data[:17], rng.randbytes(8), hollow))
        case 2:
            return hollow + data
        case _:
            return data * 2


def _field_aware(parent: DecodeTrace, rng: Random, edits: list[str]) -> bytes:
    """Edit JSON text, the value, a compressed stream or a field on the wire."""
    if parent.row.is_json and below(rng, 3):
        text = value_mutations.mutate_json(rng, parent.data)
        if text is not None:
            edits.append("json")
            return text
    valued_edits = FEWER_VALUE_EDITS if parent.fields or rules_of(parent.row).favour_fields else VALUE_EDITS
    if parent.value is not None and below(rng, 5) < valued_edits:
        data = value_mutations.mutate_value(parent, rng, edits)
        if data is not None:
            return _maybe_damaged(parent.row, data, rng, edits)
    regions = compressed_regions(parent)
    if parent.fields and not below(rng, 3):
        splices = field_mutations.reencode_protobuf_fields(parent, rng)
    else:
        splices = (
            edit_stream(parent, rng)
            if regions and not below(rng, 3)
            else field_mutations.edit_field(parent, rng)
        )
    edits.append(f"field {splices[0].spare or splices[0].start}" if splices else "bytes")
    if not splices:
        return mutate_bytes(rng, parent.data)
    return apply_splices(parent, splices, lengths=bool(below(rng, 8)), sums=bool(below(rng, NOT_FIXED_UP)))


def _maybe_damaged(fmt: Format, data: bytes, rng: Random, edits: list[str]) -> bytes:
    """Damage the encoding of an edited value, in three of ten cases."""
    percent = below(rng, 100)
    if percent >= INSIDE + STREAM + COUNT + BROKEN:
        return data
    if percent < BROKEN:
        edits.append("broken frame")
        return mutate_bytes(rng, data)
    trace = trace_of(fmt, data)
    if percent < BROKEN + COUNT:
        edits.append("count")
        return apply_splices(trace, field_mutations.replace_count(trace, rng))
    if percent < BROKEN + COUNT + STREAM:
        edits.append("stream")
        return apply_splices(trace, edit_stream(trace, rng))
    edits.append("inside")
    return apply_splices(trace, [_inner_edit(trace, rng)], lengths=bool(below(rng, 2)))


def _inner_edit(trace: DecodeTrace, rng: Random) -> Splice:
    """Return an edit of decompressed bytes; without compression, of the second half of the bytes."""
    inner = [space for space in trace.spaces if space]
    if inner:
        space = pick(rng, inner)
        return random_splice(rng, trace.spaces[space], space)
    return random_splice(rng, trace.data, "", len(trace.data) // 2)


def _bytes_edited(parent: DecodeTrace, rng: Random, edits: list[str]) -> bytes:
    """Edit bytes on the wire or inside a region, and fix up lengths and checksums."""
    spaces = tuple(parent.spaces)
    space = pick(rng, spaces) if len(spaces) > 1 and below(rng, 2) else ""
    data = parent.spaces[space]
    splices = [random_splice(rng, data, space) for _ in range(pick(rng, (1, 1, 1, 2, 3)))]
    edits += [f"bytes {space}{splice.start}" for splice in splices]
    return apply_splices(parent, splices, lengths=bool(below(rng, 4)), sums=bool(below(rng, NOT_FIXED_UP)))

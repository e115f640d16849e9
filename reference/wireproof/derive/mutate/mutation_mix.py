"""The mix of mutations: 70 % edit bytes and fix up lengths and checksums, 30 % edit fields or values.

In measurements this mix reached all deep states of the codecs first. The result depends only on the parent's
bytes and the seed of the generator.
"""

from random import Random
from typing import Final

from wireproof.derive.mutate import value_mutations
from wireproof.derive.mutate.compression_variants import (
    FRAME_WRITERS,
    compress_otherwise,
    compressed_regions,
    edit_stream,
)
from wireproof.derive.mutate.decode_trace import DecodeTrace, cached_trace, trace_of
from wireproof.derive.mutate.draws import below, pick
from wireproof.derive.mutate.encodings import samples, seed
from wireproof.derive.mutate.field_mutations import edit_field, reencode_protobuf_fields, replace_count
from wireproof.derive.mutate.mutation_rules import Keys, Signing, rules_of
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


def mutate(
    fmt: Format,
    data: bytes,
    rng: Random,
    max_size: int,
    aware: int = FIELD_AWARE_PERCENT,
    *,
    keys: Keys | None = None,
) -> bytes:
    """Return a mutation of `data`: a changed field, or changed bytes with fixed up lengths and checksums.

    Args:
        fmt: the format of the bytes.
        data: any bytes. Bytes that hardly decode are mostly replaced by a generated encoding of the format.
        rng: the source of all randomness.
        max_size: the largest size of the result, in bytes.
        aware: the percentage of field-aware edits.
        keys: HMAC keys, as in `Options.keys`; with them, most results are signed again.
    """
    rules = rules_of(fmt)
    child = None if below(rng, FROM_MAXIMAL) else _mutated_sample(fmt, rng)
    if child is None and not below(rng, RECOMPRESSED):
        child = _recompressed(fmt, data, rng)
    if child is None:
        child = _single_edit(_parent(fmt, data, rng), rng, aware)
    if not below(rng, 16):
        compress = rules.compress_bytes.get(fmt.name)
        if compress is not None and below(rng, 2):
            child = compress(child)
        else:
            child = mutate_frame(child, rng, rules.empty_frames.get(fmt.name, b"\0"))
    if keys and rules.signing is not None:
        child = _with_signature(trace_of(fmt, child), rules.signing, keys, rng)
    return child[:max_size]


def _mutated_sample(fmt: Format, rng: Random) -> bytes | None:
    """Apply many edits to a maximal value, and maybe re-encode its protobuf fields.

    Return None if no edited value could be encoded.
    """
    parent = cached_trace(fmt, pick(rng, samples(fmt)))
    data = value_mutations.mutate_value(parent, rng, value_mutations.MANY_EDITS)
    if data is None or below(rng, 2):
        return data
    trace = trace_of(fmt, data)
    return apply_splices(trace, reencode_protobuf_fields(trace, rng)) if trace.fields else data


def _recompressed(fmt: Format, data: bytes, rng: Random) -> bytes | None:
    """Compress the parent or a maximal value with any codec in any kind of frame.

    Return None if the format has no compression.
    """
    parent = cached_trace(fmt, data)
    if parent.rejected:
        parent = cached_trace(fmt, pick(rng, samples(fmt)))
    compressed = value_mutations.compress_value(parent, rng)
    trace = None if compressed is None else trace_of(fmt, compressed)
    regions = [span for span in trace.spans if span.type in FRAME_WRITERS] if trace else []
    if trace is None or not regions:
        return compressed
    region = pick(rng, regions)
    frame = compress_otherwise(trace, region, rng)
    if frame is None:
        return compressed
    return apply_splices(trace, [Splice(region.space, region.start, region.end, frame)])


def _single_edit(parent: DecodeTrace, rng: Random, aware: int) -> bytes:
    """Apply a field-aware edit, or edits of bytes on the wire or in a region, as often as fits the format."""
    if parent.row.is_json or parent.fields:
        aware = max(aware, FIELD_AWARE_PERCENT_TEXT)
    elif rules_of(parent.row).favour_fields:
        aware = max(aware, FIELD_AWARE_PERCENT_FAVOURED)
    if below(rng, 100) < aware:
        return _field_aware(parent, rng)
    spaces = tuple(parent.spaces)
    space = pick(rng, spaces) if len(spaces) > 1 and below(rng, 2) else ""
    data = parent.spaces[space]
    splices = [random_splice(rng, data, space) for _ in range(pick(rng, (1, 1, 1, 2, 3)))]
    return apply_splices(parent, splices, lengths=bool(below(rng, 4)), sums=bool(below(rng, NOT_FIXED_UP)))


def _with_signature(trace: DecodeTrace, signing: Signing, keys: Keys, rng: Random) -> bytes:
    """Sign most mutations again; sometimes add a signer, sometimes damage a signature."""
    if not below(rng, SIGNED):
        trace = trace_of(trace.row, signing.name_signer(trace, keys, rng))
    if not below(rng, NOT_FIXED_UP):
        return trace.data
    data = signing.sign_again(trace, keys)
    if below(rng, DAMAGED_SIGNATURE):
        return data
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


def _field_aware(parent: DecodeTrace, rng: Random) -> bytes:
    """Edit JSON text, the value, a compressed stream or a field on the wire."""
    if parent.row.is_json and below(rng, 3):
        text = value_mutations.mutate_json(rng, parent.data)
        if text is not None:
            return text
    valued_edits = FEWER_VALUE_EDITS if parent.fields or rules_of(parent.row).favour_fields else VALUE_EDITS
    if parent.value is not None and below(rng, 5) < valued_edits:
        data = value_mutations.mutate_value(parent, rng)
        if data is not None:
            return _maybe_damaged(parent.row, data, rng)
    if parent.fields and not below(rng, 3):
        splices = reencode_protobuf_fields(parent, rng)
    elif compressed_regions(parent) and not below(rng, 3):
        splices = edit_stream(parent, rng)
    else:
        splices = edit_field(parent, rng)
    if not splices:
        return mutate_bytes(rng, parent.data)
    return apply_splices(parent, splices, lengths=bool(below(rng, 8)), sums=bool(below(rng, NOT_FIXED_UP)))


def _maybe_damaged(fmt: Format, data: bytes, rng: Random) -> bytes:
    """Damage the encoding of an edited value, in three of ten cases."""
    percent = below(rng, 100)
    if percent >= INSIDE + STREAM + COUNT + BROKEN:
        return data
    if percent < BROKEN:
        return mutate_bytes(rng, data)
    trace = trace_of(fmt, data)
    if percent < BROKEN + COUNT:
        return apply_splices(trace, replace_count(trace, rng))
    if percent < BROKEN + COUNT + STREAM:
        return apply_splices(trace, edit_stream(trace, rng))
    inner = [space for space in trace.spaces if space]
    if inner:
        space = pick(rng, inner)
        splice = random_splice(rng, trace.spaces[space], space)
    else:  # the second half of the bytes
        splice = random_splice(rng, trace.data, "", len(trace.data) // 2)
    return apply_splices(trace, [splice], lengths=bool(below(rng, 2)))

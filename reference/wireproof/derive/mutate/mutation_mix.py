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
from wireproof.derive.mutate.mutation_rules import Keys, rules_of
from wireproof.derive.mutate.splice import Splice, apply_splices, mutate_bytes, random_splice
from wireproof.formats import Format

FIELD_AWARE_PERCENT: Final = 30
"""The percentage of field-aware edits; the others are edits of bytes."""

NOT_FIXED_UP: Final = 8
"""One in this many edits is not fixed up, to test the checks of checksums."""


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

    Bytes that hardly decode are mostly replaced by a generated encoding of the format. `aware` is the
    percentage of field-aware edits. With HMAC `keys`, as in `Options.keys`, most results are signed again.
    """
    rules = rules_of(fmt)
    child = None if below(rng, 16) else _mutated_sample(fmt, rng)
    if child is None and not below(rng, 16):
        child = _recompressed(fmt, data, rng)
    if child is None:
        child = _single_edit(_parent(fmt, data, rng), rng, aware)
    if not below(rng, 16):
        compress = rules.compress_bytes.get(fmt.name)
        if compress is not None and below(rng, 2):
            child = compress(child)
        else:
            child = mutate_frame(child, rng, rules.empty_frames.get(fmt.name, b"\0"))
    if keys and rules.signing is not None:  # most are signed again; some get a signer, or a damaged signature
        if not below(rng, 8):
            child = rules.signing.name_signer(trace_of(fmt, child), keys, rng)
        if below(rng, NOT_FIXED_UP):
            child = rules.signing.sign_again(trace_of(fmt, child), keys)
            if not below(rng, 8):
                child = rules.signing.damage_signature(trace_of(fmt, child), rng)
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
    if compressed is None:
        return None
    trace = trace_of(fmt, compressed)
    regions = [span for span in trace.spans if span.type in FRAME_WRITERS]
    region = pick(rng, regions) if regions else None
    frame = compress_otherwise(trace, region, rng) if region is not None else None
    if region is None or frame is None:
        return compressed
    return apply_splices(trace, [Splice(region.space, region.start, region.end, frame)])


def _single_edit(parent: DecodeTrace, rng: Random, aware: int) -> bytes:
    """Apply a field-aware edit, or edits of bytes on the wire or in a region, as often as fits the format.

    No length or checksum protects the fields of JSON from edits of bytes, and most of those of protobuf make
    unknown fields. With `favour_fields`, most make a length impossible to fix up.
    """
    if parent.row.is_json or parent.fields:
        aware = max(aware, 70)
    elif rules_of(parent.row).favour_fields:
        aware = max(aware, 60)
    if below(rng, 100) < aware:
        return _field_aware(parent, rng)
    spaces = tuple(parent.spaces)
    space = pick(rng, spaces) if len(spaces) > 1 and below(rng, 2) else ""
    data = parent.spaces[space]
    splices = [random_splice(rng, data, space) for _ in range(pick(rng, (1, 1, 1, 2, 3)))]
    return apply_splices(parent, splices, lengths=bool(below(rng, 4)), sums=bool(below(rng, NOT_FIXED_UP)))


def _parent(fmt: Format, data: bytes, rng: Random) -> DecodeTrace:
    """Return the parent to edit: mostly the given bytes, else a maximal encoding, or a minimal one.

    Refused bytes are often replaced, and bytes that are refused within their first fields nearly always. The
    parser of JSON stops at the first fault, so that an edit after it has no effect.
    """
    parent = cached_trace(fmt, data)
    if parent.value is not None:
        if below(rng, 8):
            return parent
    elif len(parent.spans) >= 4 or not below(rng, 4):
        return cached_trace(fmt, pick(rng, samples(fmt))) if below(rng, 4 if fmt.is_json else 2) else parent
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
    # Fewer for protobuf, where a third of the edits of fields re-encodes one, and with `favour_fields`, where
    # encoders cannot write everything that readers must handle.
    valued_edits = 2 if parent.fields or rules_of(parent.row).favour_fields else 3
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
    """Damage the encoding of an edited value: 3 % anywhere, 5 % in a count, 7 % in a stream, 15 % inside."""
    percent = below(rng, 100)
    if percent >= 30:
        return data
    if percent < 3:
        return mutate_bytes(rng, data)
    trace = trace_of(fmt, data)
    if percent < 8:
        return apply_splices(trace, replace_count(trace, rng))
    if percent < 15:
        return apply_splices(trace, edit_stream(trace, rng))
    inner = [space for space in trace.spaces if space]
    if inner:
        space = pick(rng, inner)
        splice = random_splice(rng, trace.spaces[space], space)
    else:  # the second half of the bytes
        splice = random_splice(rng, trace.data, "", len(trace.data) // 2)
    return apply_splices(trace, [splice], lengths=bool(below(rng, 2)))

"""What is done to a parent: 70 % edits of bytes with repair, 30 % edits that know the fields.

The shares are those that were measured to reach every deep state soonest. All is a function of the
parent's bytes and of the generator's seed; the names of the edits are told, for the record of a finding.
"""

from random import Random
from typing import Final

from attrs import frozen

from wireproof.cases.mutate import fielded, jsontext, raw, valued
from wireproof.cases.mutate.draft import PACKERS, Splice, drafted, repacked
from wireproof.cases.mutate.draws import below, pick
from wireproof.cases.mutate.fullest import samples
from wireproof.cases.mutate.least import seed
from wireproof.cases.mutate.parsed import Parsed, parsed, read
from wireproof.cases.mutate.reframed import FRAMES, reframed
from wireproof.cases.mutate.signing import Keys, nearly_signed, signed_again, signer_named
from wireproof.formats import Format
from wireproof.heka.frame import RECORD_SEPARATOR, UNIT_SEPARATOR
from wireproof.wire import snappy
from wireproof.wire.trace import Span

WHOLE: Final = {"heka.message": snappy.pack_block}
"""What is packed as a whole where a setting says so, of which the bytes tell nothing: heka.md, section 5."""

HOLLOW: Final = {
    "heka.stream": bytes((RECORD_SEPARATOR, 0, UNIT_SEPARATOR)),
    "kafka.log": bytes(12),
}
"""Frames of nothing: heka.md, section 2, a header of no bytes; kafka.md §1.1, an entry of size 0."""

AWARE: Final = 30
"""Per cent of edits that know the fields; the rest are edits of bytes."""

TEXT: Final = 70
"""The same for JSON, in which no length or checksum hides the fields from edits of bytes, and for protobuf,
in which most edits of bytes make fields that nobody knows."""

NARROW: Final = 60
"""The same for Iggy, whose lengths are all of a fixed width and lie in one another: most edits of bytes put
one of them out of reach of every repair."""

VALUED: Final = 3
"""Of five edits that know the fields, so many are edits of the value; the rest are of fields on the wire."""

SPELLED: Final = 2
"""The same for protobuf, where a third of the edits of fields spell one otherwise, and for Iggy, whose
encoders write less of what its readers meet."""

AFRESH: Final = 8
"""Of mutations of sound bytes, one in so many begins again from the fullest or least encoding."""

HOPELESS, TEXT_HOPELESS = 2, 4
"""Of refused bytes, one in so many is a parent: a JSON text is read as a whole, and no edit goes on behind a
fault of it."""

FEW: Final = 4
"""Fields; of bytes that are refused before so many were read, nothing is worth keeping."""

INSIDE, STREAM, COUNT, BROKEN = 15, 7, 5, 3
"""Per cent of values written again that are then damaged: the payload before it is packed, the packed
stream, a count, the finished frame."""

UNSEALED: Final = 8
"""Of edits of bytes, one in so many is not repaired, so that checksums themselves are looked at."""


REFRAMED: Final = 16
"""Of children of a format that packs, one in so many is sound but for the frame around what is packed."""

DRAWN: Final = 16
"""Of children, one in so many has no parent but the fullest encoding, and many edits."""

SIGNED, NEARLY = 8, 8
"""Of children, where keys are known, one in so many has a frame signed, or a signature damaged."""


@frozen
class Mutated:
    """Bytes, and the names of the edits that made them of their parent."""

    data: bytes
    edits: tuple[str, ...]


def mutated(
    row: Format, data: bytes, rng: Random, max_size: int, aware: int = AWARE, *, keys: Keys | None = None
) -> Mutated:
    """A child of `data`, of at most `max_size` bytes.

    Args:
        row: what the bytes are.
        data: any bytes.
        rng: all that is drawn.
        max_size: bytes of the child at most.
        aware: per cent of edits that know the fields.
        keys: of signers; with them most children are signed again.
    """
    edits: list[str] = []
    made = None if below(rng, DRAWN) else _drawn(row, rng, edits)
    if made is None and not below(rng, REFRAMED):
        made = _in_a_frame(row, data, rng, edits)
    if made is None:
        made = _child(_parent(row, data, rng), data, rng, edits, aware)
    if not below(rng, 16):
        edits.append("frame")
        made = (
            WHOLE[row.name](made)
            if row.name in WHOLE and below(rng, 2)
            else framed(made, rng, HOLLOW.get(row.name, b"\0"))
        )
    if keys:
        made = _signed(read(row, made), keys, rng, edits)
    return Mutated(made[:max_size], tuple(edits))


def _drawn(row: Format, rng: Random, edits: list[str]) -> bytes | None:
    """A value far from any other, perhaps strangely spelled; None where none could be written."""
    data = valued.edited(parsed(row, pick(rng, samples(row))), rng, edits, valued.MANY)
    if data is None or below(rng, 2):
        return data
    made = read(row, data)
    return drafted(made, fielded.respelling(made, rng)) if made.fields else data


def _in_a_frame(row: Format, data: bytes, rng: Random, edits: list[str]) -> bytes | None:
    """What was accepted, or the fullest encoding, packed in any frame of any codec; None if nothing packs."""
    given = parsed(row, data)
    packed = valued.packed(parsed(row, pick(rng, samples(row))) if given.rejected else given, rng)
    made = None if packed is None else read(row, packed)
    regions = [span for span in made.spans if span.type in FRAMES] if made else []
    if made is None or not regions:
        return packed
    region = pick(rng, regions)
    other = _in_another_frame(made, region, rng)
    edits.append(f"frame of {region.type}")
    return packed if other is None else drafted(made, [Splice(region.space, region.start, region.end, other)])


def _child(parent: Parsed, data: bytes, rng: Random, edits: list[str], aware: int) -> bytes:
    """One edit of the parent, or one of bytes, in the shares of the schedule."""
    if parent.data != data:
        edits.append("other parent")
    if ".json." in parent.row.name or parent.fields:
        aware = max(aware, TEXT)
    elif parent.row.name.startswith("iggy."):
        aware = max(aware, NARROW)
    return _aware(parent, rng, edits) if below(rng, 100) < aware else _repaired(parent, rng, edits)


def _signed(made: Parsed, keys: Keys, rng: Random, edits: list[str]) -> bytes:
    """The child, mostly signed again, and now and then by somebody who signed nothing before."""
    if not below(rng, SIGNED):
        edits.append("signer")
        made = read(made.row, signer_named(made, keys, rng))
    if not below(rng, UNSEALED):
        return made.data
    edits.append("signed")
    data = signed_again(made, keys)
    if below(rng, NEARLY):
        return data
    edits.append("signature")
    return nearly_signed(read(made.row, data), rng)


def _parent(row: Format, data: bytes, rng: Random) -> Parsed:
    """What is edited: mostly the bytes given; where they stand for nothing, as often the fullest encoding.

    Bytes of which not even the head was read are hopeless, and mostly left for the fullest or least one.
    """
    parent = parsed(row, data)
    if parent.value is not None:
        return parent if below(rng, AFRESH) else _afresh(row, rng)
    if len(parent.spans) >= FEW or not below(rng, 4):
        hopeless = TEXT_HOPELESS if ".json." in row.name else HOPELESS
        return parsed(row, pick(rng, samples(row))) if below(rng, hopeless) else parent
    return _afresh(row, rng)


def _afresh(row: Format, rng: Random) -> Parsed:
    """A fullest encoding, or the least, of which there is less to change."""
    return parsed(row, pick(rng, samples(row)) if below(rng, 4) else seed(row))


def framed(data: bytes, rng: Random, hollow: bytes = b"\0") -> bytes:
    """A frame cut, followed by more, behind a hollow one, or twice."""
    match below(rng, 4):
        case 0:
            return data[: below(rng, len(data) + 1)]
        case 1:
            return data + pick(rng, (b"\0", b"\n", b"\xff" * 4, data[:17], rng.randbytes(8), hollow))
        case 2:
            return hollow + data
        case _:
            return data * 2


def _aware(parent: Parsed, rng: Random, edits: list[str]) -> bytes:
    """An edit of the value, or of a field where it stands."""
    if ".json." in parent.row.name and below(rng, 3):
        text = jsontext.edited(rng, parent.data)
        if text is not None:
            edits.append("json")
            return text
    valued_edits = SPELLED if parent.fields or parent.row.name.startswith("iggy.") else VALUED
    if parent.value is not None and below(rng, 5) < valued_edits:
        data = valued.edited(parent, rng, edits)
        if data is not None:
            return _damaged(parent.row, data, rng, edits)
    regions = [span for span in parent.spans if span.type in PACKERS]
    if parent.fields and not below(rng, 3):
        splices = fielded.respelling(parent, rng)
    else:
        splices = _in_stream(parent, rng) if regions and not below(rng, 3) else fielded.edit(parent, rng)
    edits.append(f"field {splices[0].spare or splices[0].start}" if splices else "bytes")
    if not splices:
        return raw.edited(rng, parent.data)
    return drafted(parent, splices, lengths=bool(below(rng, 8)), sums=bool(below(rng, UNSEALED)))


def _damaged(row: Format, data: bytes, rng: Random, edits: list[str]) -> bytes:
    """What was written, in three of ten cases damaged; checksums are right but in the last."""
    drawn = below(rng, 100)
    if drawn >= INSIDE + STREAM + COUNT + BROKEN:
        return data
    if drawn < BROKEN:
        edits.append("broken frame")
        return raw.edited(rng, data)
    made = read(row, data)
    if drawn < BROKEN + COUNT:
        edits.append("count")
        return drafted(made, fielded.count(made, rng))
    if drawn < BROKEN + COUNT + STREAM:
        edits.append("stream")
        return drafted(made, _in_stream(made, rng))
    edits.append("inside")
    return drafted(made, [_inside(made, rng)], lengths=bool(below(rng, 2)))


def _in_stream(made: Parsed, rng: Random) -> list[Splice]:
    """Damage in what is packed, as it stands on the wire."""
    regions = [span for span in made.spans if span.type in PACKERS]
    if not regions:
        return [raw.edit(rng, made.data)]
    one = pick(rng, regions)
    other = _in_another_frame(made, one, rng) if below(rng, 2) else None
    if other is not None:
        return [Splice(one.space, one.start, one.end, other)]
    return [raw.edit(rng, made.spaces[one.space], one.space, one.start, one.end)]


def _in_another_frame(made: Parsed, region: Span, rng: Random) -> bytes | None:
    """What lies in a region, packed otherwise; None where it was not unpacked, or nothing packs it."""
    data = made.spaces.get(f"{region.space}{region.start}>")
    if data is None or region.type not in FRAMES:
        return None
    other = repacked(made, region) if not below(rng, 4) else None
    if other is not None:
        return other
    space = f"{region.space}{region.start}>"
    ends = [one.end for one in made.elements if one.space == space and one.end < len(data)]
    return reframed(region.type, data, rng, ends)


def _inside(made: Parsed, rng: Random) -> Splice:
    """Damage in what was unpacked; in the second half of the bytes where nothing is packed."""
    inner = [space for space in made.spaces if space]
    if inner:
        space = pick(rng, inner)
        return raw.edit(rng, made.spaces[space], space)
    return raw.edit(rng, made.data, "", len(made.data) // 2)


def _repaired(parent: Parsed, rng: Random, edits: list[str]) -> bytes:
    """Edits of bytes, on the wire or inside, with what speaks of them made right again."""
    spaces = tuple(parent.spaces)
    space = pick(rng, spaces) if len(spaces) > 1 and below(rng, 2) else ""
    data = parent.spaces[space]
    splices = [raw.edit(rng, data, space) for _ in range(pick(rng, (1, 1, 1, 2, 3)))]
    edits += [f"bytes {space}{splice.start}" for splice in splices]
    return drafted(parent, splices, lengths=bool(below(rng, 4)), sums=bool(below(rng, UNSEALED)))

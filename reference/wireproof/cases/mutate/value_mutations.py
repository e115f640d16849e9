"""Mutations of values: change parts of a decoded value and encode it again.

The encoder computes lengths, counts, checksums and frames.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import eq
from random import Random
from typing import Any, Final, get_type_hints

from attrs import evolve

from wireproof.cases.mutate.boundary_values import FILLS, boundary_bytes, boundary_integer
from wireproof.cases.mutate.codes import CODES
from wireproof.cases.mutate.control_records import random_control_record
from wireproof.cases.mutate.decode_trace import DecodeTrace
from wireproof.cases.mutate.edit_sites import (
    EditSite,
    PartType,
    PathStep,
    edit_sites,
    part_type,
    replace_part,
)
from wireproof.cases.mutate.fullest import full
from wireproof.cases.mutate.least import least, written
from wireproof.cases.mutate.mended import mended
from wireproof.cases.mutate.random_draws import below, pick
from wireproof.cases.mutate.widths import fitted
from wireproof.formats import Format
from wireproof.heka.frame import HekaFrame
from wireproof.heka.header import HekaHeader
from wireproof.heka.message import VALUE_ARRAYS, VALUE_TYPES, DynamicField, HekaMessage
from wireproof.heka.stream import FrameStream
from wireproof.kafka.attribute_bits import CONTROL, TRANSACTIONAL
from wireproof.kafka.values import Log, Message, Record, RecordBatch
from wireproof.wire.rejection import Rejected

MAX_TRIES: Final = 4
"""The most attempts to find edits whose result can be encoded."""

FEW_EDITS: Final = (1, 1, 2, 3)
"""Numbers of edits to draw from."""

MANY_EDITS: Final = (3, 6, 10)
"""Numbers of edits for a generated value, which is the same for every mutation."""

SPECIAL: Final = 5
"""One in this many edits is one of `FORMAT_EDITS`, if the format has any."""

MAX_ELEMENTS: Final = 48
"""The most elements that an edit gives a list."""

CODECS_TO_DRAW: Final = (1, 2, 3, 3, 4)
"""Compression codecs to draw from; LZ4 is listed twice, because its frame has the most parts."""

FLIPS: Final = (*(1 << bit for bit in range(8)), 0x48, 0x30)
"""The bits to flip in attributes: one bit, or two that belong together or are unusual together."""


ALTERNATIVE: Final = 3
"""One in this many edits of a union draws another alternative."""

CODED_FIELD: Final = 3
"""One in this many edits of a number with known codes draws one of the codes."""


@lru_cache(maxsize=512)
def sites_of_value(parent: DecodeTrace) -> tuple[EditSite, ...]:
    """Return the parts of the parent's value, without the value itself."""
    return tuple(site for site in edit_sites(parent.value) if site.steps)


@lru_cache(maxsize=512)
def editable_sites(parent: DecodeTrace) -> tuple[EditSite, ...]:
    """Return the parts that an edit can change directly; the others change through their parts."""
    return tuple(filter(_changeable, sites_of_value(parent)))


def _changeable(site: EditSite) -> bool:
    return site.kind.holds in _CHANGES or site.kind.null or bool(site.kind.others)


def mutate_value(
    parent: DecodeTrace, rng: Random, edits: list[str], many: Sequence[int] = FEW_EDITS
) -> bytes | None:
    """Change parts of the parent's value and encode it again; return None if no result could be encoded.

    Args:
        parent: the bytes to edit.
        rng: the source of all randomness.
        edits: a list to which the names of the edits are added.
        many: the numbers of edits to draw from.
    """
    for _ in range(MAX_TRIES):
        value, names = _changed(parent, rng, pick(rng, many))
        try:
            data = written(parent.row, mended(value))
        except Rejected:
            continue
        edits += names
        return data
    return None


def _changed(parent: DecodeTrace, rng: Random, count: int) -> tuple[Any, list[str]]:
    """Apply that many edits to the parent's value, and return it with their names."""
    value, editable = parent.value, editable_sites(parent)
    names: list[str] = []
    touched: list[tuple[PathStep, ...]] = []
    extra = FORMAT_EDITS.get(type(value))
    for _ in range(count):
        if extra is not None and not below(rng, SPECIAL):
            name, change = pick(rng, extra)
            value = change(value, rng)
            editable, touched = (
                tuple(site for site in edit_sites(value) if site.steps and _changeable(site)),
                [],
            )
            names.append(name)
        elif editable:
            site = choose_site(editable, rng)
            if not any(_overlap(site.steps, steps) for steps in touched):
                value, name = _edited(value, site, rng, editable)
                touched.append(site.steps)
                names.append(name)
    return value, names


def _overlap(one: tuple[PathStep, ...], two: tuple[PathStep, ...]) -> bool:
    """Return whether one part contains the other: after an edit of one, the site of the other is outdated."""
    return all(map(eq, one, two))


def _edited(value: Any, site: EditSite, rng: Random, sites_found: tuple[EditSite, ...]) -> tuple[Any, str]:  # noqa: ANN401 - a value
    try:
        return replace_part(
            value, site.steps, replacement_for(site, rng, sites_found)
        ), f"{site.kind.holds} {site.name}"
    except Rejected:  # the validator of the class refuses the value
        return value, "none"


def choose_site(found: tuple[EditSite, ...], rng: Random) -> EditSite:
    """Draw a site; prefer lists, enumerations and flags, because they lead to more code paths."""
    site = found[below(rng, len(found))]
    if below(rng, 3) and site.kind.holds not in ("list", "word") and site.name != "attributes":
        site = found[below(rng, len(found))]
    return site


def replacement_for(site: EditSite, rng: Random, found: tuple[EditSite, ...]) -> Any:  # noqa: ANN401 - a part of a value
    """Return a replacement for the part at a site."""
    if site.kind.null and (site.now is None or not below(rng, 4)):
        return new_part(site.kind, rng, site.name) if site.now is None else None
    if site.kind.others and not below(rng, ALTERNATIVE):
        return _alternative(site.kind.others, site.name, rng)
    if site.kind.holds in ("int", "bytes") and not below(rng, 6):
        return _sibling(site, rng, found)
    change = _CHANGES.get(site.kind.holds)
    return change(site, rng) if change else site.now


def _alternative(types: Sequence[Any], name: str, rng: Random) -> Any:  # noqa: ANN401 - a part of a value
    """Return a value of one of several types; for a class, a maximal one or a small one."""
    drawn = pick(rng, types)
    kind = part_type(drawn)
    return full(drawn, name) if kind.holds == "value" and below(rng, 2) else new_part(kind, rng, name)


def _integer(site: EditSite, rng: Random) -> int:
    """Return another number that fits the field; for attributes, flip bits."""
    now: int = site.now
    known = CODES.get((site.owner, site.name))
    if known and not below(rng, CODED_FIELD):
        return pick(rng, known)
    new = now ^ pick(rng, FLIPS) if site.name == "attributes" else boundary_integer(rng, now)
    return fitted(site.owner, site.name, new)


def _sibling(site: EditSite, rng: Random, found: tuple[EditSite, ...]) -> Any:  # noqa: ANN401 - a part of a value
    """Return the value of another part of the same type."""
    values = [one.now for one in found if one.kind.holds == site.kind.holds and one.now is not None]
    return pick(rng, values) if values else site.now


def _list(now: tuple[Any, ...], kind: PartType, rng: Random, name: str) -> tuple[Any, ...]:
    """Return the list with an element added, removed or duplicated, reordered, doubled or truncated."""
    at = below(rng, len(now) + 1)
    match below(rng, 6):
        case 0 if now:
            at %= len(now)
            return now[:at] + now[at + 1 :]
        case 1 if now and len(now) < MAX_ELEMENTS:
            at %= len(now)
            return now[: at + 1] + now[at:]
        case 2 if len(now) > 1:
            return tuple(rng.sample(now, len(now)))
        case 3 if now and len(now) < MAX_ELEMENTS // 2:
            return now * 2
        case _ if len(now) < MAX_ELEMENTS:
            return (*now[:at], new_part(part_type(kind.of[0]), rng, name), *now[at:])
    return now[: below(rng, len(now) + 1)]


def new_part(kind: PartType, rng: Random, name: str) -> Any:  # noqa: ANN401 - a part of a value
    """Return a value for a part that was None or did not exist."""
    if kind.holds == "value":
        return _fresh_value(least(pick(rng, kind.of)), rng)
    if kind.holds == "pair":
        return tuple(new_part(part_type(hint), rng, name) for hint in kind.of)
    if kind.holds == "list":
        return () if below(rng, 2) else (new_part(part_type(kind.of[0]), rng, name),)
    return _SCALARS[kind.holds](kind, rng)


_SCALARS: Final[dict[str, Callable[[PartType, Random], Any]]] = {
    "int": lambda _, rng: boundary_integer(rng, 0),
    "bytes": lambda _, rng: boundary_bytes(rng, b"k"),
    "bool": lambda _, rng: bool(below(rng, 2)),
    "word": lambda kind, rng: pick(rng, kind.of),
}
"""Scalar type to a function that returns a new value."""

_CHANGES: Final[dict[str, Callable[[EditSite, Random], Any]]] = {
    "int": _integer,
    "bytes": lambda site, rng: boundary_bytes(rng, site.now),
    "bool": lambda site, _: not site.now,
    "word": lambda site, rng: pick(rng, site.kind.of),
    "list": lambda site, rng: _list(site.now, site.kind, rng, site.name),
}
"""Type to a function that returns a replacement; pairs and values change through their parts."""


def _fresh_value(value: Any, rng: Random) -> Any:  # noqa: ANN401 - an instance of a value class
    """Return the value with one part changed."""
    parts = tuple(site for site in edit_sites(value) if site.steps)
    site = pick(rng, parts)
    try:
        return replace_part(value, site.steps, replacement_for(site, rng, parts))
    except Rejected:
        return value


# --- edits for one format ---


def _as_control_batch(batch: RecordBatch, rng: Random) -> RecordBatch:
    """Make the batch a control batch with one control record: kafka.md §1.9."""
    flags = CONTROL | pick(rng, (0, TRANSACTIONAL))
    return evolve(
        batch,
        attributes=batch.attributes | flags,
        producer_id=7,
        producer_epoch=0,
        records=(random_control_record(rng),),
    )


def _with_wrapping_sequence(batch: RecordBatch, rng: Random) -> RecordBatch:
    """Give the batch sequences that wrap around after 2147483647: kafka.md §1.10."""
    base_sequence = (1 << 31) - 1 - below(rng, 2)
    last_offset_delta = max(batch.last_offset_delta, 2)
    return evolve(
        batch,
        base_sequence=base_sequence,
        last_offset_delta=last_offset_delta,
        producer_id=7,
        producer_epoch=0,
    )


def _with_overflow(batch: RecordBatch, rng: Random) -> RecordBatch:
    """Give the batch offsets or timestamps that overflow: kafka.md §1.10."""
    limit = (1 << 63) - 1
    field = pick(rng, ("base_offset", "base_timestamp"))
    records = tuple(
        evolve(record, timestamp_delta=pick(rng, (record.timestamp_delta, limit, -limit)), offset_delta=at)
        for at, record in enumerate(batch.records, below(rng, 2))
    )
    changes: dict[str, Any] = {field: limit - below(rng, 2), "records": records}
    return evolve(batch, **changes)


def _compressed(batch: RecordBatch, rng: Random) -> RecordBatch:
    """Compress the batch with another codec, and give its first record a header: kafka.md §1.2, §1.3."""
    records = batch.records or (least(Record),)
    first = evolve(records[0], headers=((boundary_bytes(rng, b"h"), pick(rng, (None, b"", b"x"))),))
    attributes = batch.attributes & ~7 | pick(rng, CODECS_TO_DRAW)
    others = records[1:] or records * below(rng, 2)
    return evolve(batch, attributes=attributes, records=(first, *others))


def _renumbered(batch: RecordBatch, _: Random) -> RecordBatch:
    """Renumber the offset deltas from 0, as a producer does."""
    records = tuple(evolve(record, offset_delta=at) for at, record in enumerate(batch.records))
    return evolve(batch, last_offset_delta=max(len(records) - 1, 0), records=records)


def _as_wrapper(message: Message, rng: Random) -> Message:
    """Make the message a compressed wrapper around one or more messages: kafka.md §2.2."""
    inner = message.messages or (message,)
    count = pick(rng, (1, 2, 3))
    first = pick(rng, (0, 5))
    messages = tuple(evolve(one, offset=first + at) for at, one in enumerate((inner * count)[:MAX_ELEMENTS]))
    codec = pick(rng, (1, 2, 3))
    offset = pick(rng, (0, messages[-1].offset))
    return evolve(
        message, offset=offset, attributes=message.attributes & ~7 | codec, value=None, messages=messages
    )


def _with_all_fields(message: HekaMessage, rng: Random) -> HekaMessage:
    """Set all absent optional fields."""
    absent = [site for site in edit_sites(message) if site.now is None and len(site.steps) == 1]
    given: dict[str, Any] = {site.name: new_part(site.kind, rng, site.name) for site in absent}
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
    kind = part_type(get_type_hints(DynamicField)[VALUE_ARRAYS[at]])
    values = tuple(
        new_part(part_type(kind.of[0]), rng, VALUE_ARRAYS[at]) for _ in range(pick(rng, (0, 1, 2, 3)))
    )
    empty = least(DynamicField)
    field = evolve(
        empty, name=boundary_bytes(rng, b"f"), value_type=VALUE_TYPES[at], **{VALUE_ARRAYS[at]: values}
    )
    return evolve(message, fields=(*message.fields[: MAX_ELEMENTS // 4], field))


def _in_frame(stream: FrameStream, rng: Random) -> FrameStream:
    """Apply an edit of `FORMAT_EDITS` to the message of a frame."""
    if not stream.frames:
        return FrameStream((least(HekaFrame),))
    at = below(rng, len(stream.frames))
    _, change = pick(rng, FORMAT_EDITS[HekaMessage])
    frame = stream.frames[at]
    changed = evolve(frame, message=change(frame.message, rng))
    return FrameStream((*stream.frames[:at], changed, *stream.frames[at + 1 :]))


def _with_signer(stream: FrameStream, rng: Random) -> FrameStream:
    """Give a frame a header with a signer, a hash function and an HMAC: heka.md, section 1."""
    if not stream.frames:
        return FrameStream((least(HekaFrame),))
    at = below(rng, len(stream.frames))
    header = HekaHeader(
        hmac_hash_function=pick(rng, ("MD5", "SHA1")),
        hmac_signer=boundary_bytes(rng, b"s")[:64],
        hmac_key_version=pick(rng, (None, 0, 1)),
        hmac=boundary_bytes(rng, b"h")[:64],
    )
    frame = evolve(stream.frames[at], header=header)
    return FrameStream((*stream.frames[:at], frame, *stream.frames[at + 1 :]))


def _transaction(log: Log, rng: Random) -> Log:
    """Append batches of two producers and a transaction marker of one of them to the log: kafka.md §1.9."""
    last = log.batches[-1] if log.batches else least(RecordBatch)
    next_offset = (
        last.base_offset + last.last_offset_delta if isinstance(last, RecordBatch) else last.offset
    ) + 1
    producer, other = pick(rng, ((7, 8), (1000, 1001), (0, -1)))
    marker_batch = _as_control_batch(least(RecordBatch), rng)
    own_batch = evolve(least(RecordBatch), attributes=TRANSACTIONAL, producer_id=producer, producer_epoch=0)
    other_batch = evolve(own_batch, producer_id=other)
    marker_batch = evolve(marker_batch, producer_id=pick(rng, (producer, other)))
    batches = (own_batch, other_batch, marker_batch, *(own_batch, other_batch)[below(rng, 3) :])
    appended = tuple(evolve(batch, base_offset=next_offset + at) for at, batch in enumerate(batches))
    return Log((*log.batches[: MAX_ELEMENTS // 4], *appended))


def _in_log(log: Log, rng: Random) -> Log:
    """Apply an edit of `FORMAT_EDITS` to an entry of the log."""
    if not log.batches:
        kind: type = pick(rng, (RecordBatch, Message))
        return Log((least(kind),))
    at = below(rng, len(log.batches))
    edits = FORMAT_EDITS[type(log.batches[at])]
    _, change = edits[below(rng, len(edits))]
    return Log((*log.batches[:at], change(log.batches[at], rng), *log.batches[at + 1 :]))


FORMAT_EDITS: Final[dict[type, tuple[tuple[str, Callable[[Any, Random], Any]], ...]]] = {
    RecordBatch: (
        ("control batch", _as_control_batch),
        ("overflow", _with_overflow),
        ("compressed", _compressed),
        ("wrapping sequence", _with_wrapping_sequence),
        ("renumbered", _renumbered),
    ),
    Message: (("wrapper", _as_wrapper),),
    Log: (("entry", _in_log), ("transaction", _transaction)),
    HekaMessage: (
        ("all optional fields", _with_all_fields),
        ("added field", _with_field),
        ("long string", _with_long_string),
    ),
    FrameStream: (("signed header", _with_signer), ("message", _in_frame)),
}
"""Class to the names and functions of its edits."""


COMPRESSING_EDITS: Final[dict[type, Callable[[Any, Random], Any]]] = {
    RecordBatch: _compressed,
    Message: _as_wrapper,
}
"""Class to the function that compresses a value."""


def compress_value(parent: DecodeTrace, rng: Random) -> bytes | None:
    """Compress the value, or one entry of a log, and encode it. Without compression return None."""
    value = parent.value
    entries = value.batches if isinstance(value, Log) else (value,)
    at = below(rng, len(entries))
    change = COMPRESSING_EDITS.get(type(entries[at])) if entries else None
    if change is None:
        return None
    try:
        entry = change(entries[at], rng)
        whole = Log((*entries[:at], entry, *entries[at + 1 :])) if isinstance(value, Log) else entry
        return written(parent.row, mended(whole))
    except Rejected:
        return None


def cross_values(fmt: Format, one: DecodeTrace, two: DecodeTrace, rng: Random) -> bytes | None:
    """Replace or extend a part of `one` by a part of `two` of the same type; return None if no part fits."""
    candidates = [
        site for site in sites_of_value(one) if site.kind.holds in ("list", "pair", "value", "bytes", "int")
    ]
    if not candidates:
        return None
    lists = [site for site in candidates if site.kind.holds == "list"]
    target = pick(rng, lists if lists and below(rng, 2) else candidates)
    others = [site.now for site in sites_of_value(two) if site.kind == target.kind]
    if not others:
        return None
    new = pick(rng, others)
    if target.kind.holds == "list" and target.now and new and below(rng, 2):
        new = (*target.now[: below(rng, len(target.now) + 1)], *new[below(rng, len(new)) :])[:MAX_ELEMENTS]
    try:
        return written(fmt, mended(replace_part(one.value, target.steps, new)))
    except Rejected:
        return None

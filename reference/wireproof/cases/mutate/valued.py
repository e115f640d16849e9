"""Edits of values: decode, change a part, write again. Lengths, counts, checksums and frames follow."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import eq
from random import Random
from typing import Any, Final, get_type_hints

from attrs import evolve

from wireproof.cases.mutate.codes import CODES
from wireproof.cases.mutate.draws import below, pick
from wireproof.cases.mutate.fullest import full
from wireproof.cases.mutate.least import least, written
from wireproof.cases.mutate.markers import marker
from wireproof.cases.mutate.mended import mended
from wireproof.cases.mutate.numbers import FILLS, integer, octets
from wireproof.cases.mutate.parsed import Parsed
from wireproof.cases.mutate.sites import Kind, Site, Step, kind_of, put, sites
from wireproof.cases.mutate.widths import fitted
from wireproof.formats import Format
from wireproof.heka.frame import Frame
from wireproof.heka.header import Header
from wireproof.heka.message import ARRAYS, TYPES, Field
from wireproof.heka.message import Message as HekaMessage
from wireproof.heka.stream import Stream
from wireproof.kafka.arithmetic import CONTROL, TRANSACTIONAL
from wireproof.kafka.values import Log, Message, Record, RecordBatch
from wireproof.wire.rejected import Rejected

TRIES: Final = 4
"""Edits that are tried before one is found that the format can write."""

FEW: Final = (1, 1, 2, 3)
"""Edits of a value that is known."""

MANY: Final = (3, 6, 10)
"""Edits of one that every child would else begin with."""

SPECIAL: Final = 5
"""Of edits, one in so many is one that a format alone knows of, where it has such."""

MOST: Final = 48
"""Elements that a list may grow to."""

CODED: Final = (1, 2, 3, 3, 4)
"""Codecs; the frame of LZ4 has twice as many parts as any other."""

FLIPS: Final = (*(1 << bit for bit in range(8)), 0x48, 0x30)
"""What is flipped in attributes: a bit, or two that are strange together or belong together."""


ALTERNATIVE: Final = 3
"""Of edits of what may be of one type or another, one in so many makes it of another."""

CODED_FIELD: Final = 3
"""Of edits of a number of which some are known, one in so many is one of these."""


@lru_cache(maxsize=512)
def sites_of(parent: Parsed) -> tuple[Site, ...]:
    """The parts of the value of a parent."""
    return tuple(site for site in sites(parent.value) if site.steps)


@lru_cache(maxsize=512)
def changing(parent: Parsed) -> tuple[Site, ...]:
    """Those of them that an edit can change; others change by their parts."""
    return tuple(filter(_changeable, sites_of(parent)))


def _changeable(site: Site) -> bool:
    return site.kind.holds in _CHANGES or site.kind.null or bool(site.kind.others)


def edited(parent: Parsed, rng: Random, edits: list[str], many: Sequence[int] = FEW) -> bytes | None:
    """The parent's value with parts of it changed, written again; None if nothing could be written.

    Args:
        parent: what is edited.
        rng: all that is drawn.
        edits: the names of the edits are added to it.
        many: how many edits, one of these.
    """
    for _ in range(TRIES):
        value, names = _changed(parent, rng, pick(rng, many))
        try:
            data = written(parent.row, mended(value))
        except Rejected:
            continue
        edits += names
        return data
    return None


def _changed(parent: Parsed, rng: Random, many: int) -> tuple[Any, list[str]]:
    """The value after as many edits, and their names."""
    value, found = parent.value, changing(parent)
    names: list[str] = []
    touched: list[tuple[Step, ...]] = []
    extra = EXTRA.get(type(value))
    for _ in range(many):
        if extra is not None and not below(rng, SPECIAL):
            name, change = pick(rng, extra)
            value = change(value, rng)
            found, touched = tuple(site for site in sites(value) if site.steps and _changeable(site)), []
            names.append(name)
        elif found:
            site = chosen(found, rng)
            if not any(_meet(site.steps, steps) for steps in touched):
                value, name = _edited(value, site, rng, found)
                touched.append(site.steps)
                names.append(name)
    return value, names


def _meet(one: tuple[Step, ...], two: tuple[Step, ...]) -> bool:
    """Whether one part lies in the other: what is known of it is no longer so after an edit of that."""
    return all(map(eq, one, two))


def _edited(value: Any, site: Site, rng: Random, found: tuple[Site, ...]) -> tuple[Any, str]:  # noqa: ANN401 - a value
    try:
        return put(value, site.steps, another(site, rng, found)), f"{site.kind.holds} {site.name}"
    except Rejected:  # a class that holds no such value
        return value, "none"


def chosen(found: tuple[Site, ...], rng: Random) -> Site:
    """A site; lists and flags are worth more than their number, for they open other code."""
    site = found[below(rng, len(found))]
    if below(rng, 3) and site.kind.holds not in ("list", "word") and site.name != "attributes":
        site = found[below(rng, len(found))]
    return site


def another(site: Site, rng: Random, found: tuple[Site, ...]) -> Any:  # noqa: ANN401 - a part of a value
    """Something else that may stand at a site."""
    if site.kind.null and (site.now is None or not below(rng, 4)):
        return fresh(site.kind, rng, site.name) if site.now is None else None
    if site.kind.others and not below(rng, ALTERNATIVE):
        return _alternative(site.kind.others, site.name, rng)
    if site.kind.holds in ("int", "bytes") and not below(rng, 6):
        return _sibling(site, rng, found)
    change = _CHANGES.get(site.kind.holds)
    return change(site, rng) if change else site.now


def _alternative(hints: Sequence[Any], name: str, rng: Random) -> Any:  # noqa: ANN401 - a part of a value
    """Something of one of several types, the fullest of a class as often as one with little in it."""
    hint = pick(rng, hints)
    kind = kind_of(hint)
    return full(hint, name) if kind.holds == "value" and below(rng, 2) else fresh(kind, rng, name)


def _integer(site: Site, rng: Random) -> int:
    """A number, as wide as its field is; attributes are flags."""
    now: int = site.now
    known = CODES.get((site.owner, site.name))
    if known and not below(rng, CODED_FIELD):
        return pick(rng, known)
    new = now ^ pick(rng, FLIPS) if site.name == "attributes" else integer(rng, now)
    return fitted(site.owner, site.name, new)


def _sibling(site: Site, rng: Random, found: tuple[Site, ...]) -> Any:  # noqa: ANN401 - a part of a value
    """What stands in another part of the same kind."""
    alike = [one.now for one in found if one.kind.holds == site.kind.holds and one.now is not None]
    return pick(rng, alike) if alike else site.now


def _list(now: tuple[Any, ...], kind: Kind, rng: Random, name: str) -> tuple[Any, ...]:
    """The list with an element more or less, one twice, or in another order."""
    at = below(rng, len(now) + 1)
    match below(rng, 6):
        case 0 if now:
            at %= len(now)
            return now[:at] + now[at + 1 :]
        case 1 if now and len(now) < MOST:
            at %= len(now)
            return now[: at + 1] + now[at:]
        case 2 if len(now) > 1:
            return tuple(rng.sample(now, len(now)))
        case 3 if now and len(now) < MOST // 2:
            return now * 2
        case _ if len(now) < MOST:
            return (*now[:at], fresh(kind_of(kind.of[0]), rng, name), *now[at:])
    return now[: below(rng, len(now) + 1)]


def fresh(kind: Kind, rng: Random, name: str) -> Any:  # noqa: ANN401 - a part of a value
    """Something that may stand where nothing stood."""
    if kind.holds == "value":
        return _fresh_value(least(pick(rng, kind.of)), rng)
    if kind.holds == "pair":
        return tuple(fresh(kind_of(hint), rng, name) for hint in kind.of)
    if kind.holds == "list":
        return () if below(rng, 2) else (fresh(kind_of(kind.of[0]), rng, name),)
    return _SCALARS[kind.holds](kind, rng)


_SCALARS: Final[dict[str, Callable[[Kind, Random], Any]]] = {
    "int": lambda _, rng: integer(rng, 0),
    "bytes": lambda _, rng: octets(rng, b"k"),
    "bool": lambda _, rng: bool(below(rng, 2)),
    "word": lambda kind, rng: pick(rng, kind.of),
}
"""Something of a kind without parts."""

_CHANGES: Final[dict[str, Callable[[Site, Random], Any]]] = {
    "int": _integer,
    "bytes": lambda site, rng: octets(rng, site.now),
    "bool": lambda site, _: not site.now,
    "word": lambda site, rng: pick(rng, site.kind.of),
    "list": lambda site, rng: _list(site.now, site.kind, rng, site.name),
}
"""Something else of a kind; pairs and values change by their parts."""


def _fresh_value(value: Any, rng: Random) -> Any:  # noqa: ANN401 - an instance of a value class
    """The least value with a part of it changed."""
    found = tuple(site for site in sites(value) if site.steps)
    site = pick(rng, found)
    try:
        return put(value, site.steps, another(site, rng, found))
    except Rejected:
        return value


# --- edits that a format alone knows of ---


def _control(batch: RecordBatch, rng: Random) -> RecordBatch:
    """A control batch of one marker: kafka.md §1.9."""
    flags = CONTROL | pick(rng, (0, TRANSACTIONAL))
    return evolve(
        batch, attributes=batch.attributes | flags, producer_id=7, producer_epoch=0, records=(marker(rng),)
    )


def _wrapping_sequence(batch: RecordBatch, rng: Random) -> RecordBatch:
    """A sequence that ends behind 2147483647: kafka.md §1.10."""
    last = (1 << 31) - 1 - below(rng, 2)
    delta = max(batch.last_offset_delta, 2)
    return evolve(batch, base_sequence=last, last_offset_delta=delta, producer_id=7, producer_epoch=0)


def _at_the_end(batch: RecordBatch, rng: Random) -> RecordBatch:
    """Offsets and times that wrap around: kafka.md §1.10."""
    end = (1 << 63) - 1
    field = pick(rng, ("base_offset", "base_timestamp"))
    records = tuple(
        evolve(record, timestamp_delta=pick(rng, (record.timestamp_delta, end, -end)), offset_delta=at)
        for at, record in enumerate(batch.records, below(rng, 2))
    )
    changes: dict[str, Any] = {field: end - below(rng, 2), "records": records}
    return evolve(batch, **changes)


def _compressed(batch: RecordBatch, rng: Random) -> RecordBatch:
    """Another codec, and a header to be packed: kafka.md §1.2, §1.3."""
    records = batch.records or (least(Record),)
    headed = evolve(records[0], headers=((octets(rng, b"h"), pick(rng, (None, b"", b"x"))),))
    attributes = batch.attributes & ~7 | pick(rng, CODED)
    rest = records[1:] or records * below(rng, 2)
    return evolve(batch, attributes=attributes, records=(headed, *rest))


def _counting(batch: RecordBatch, _: Random) -> RecordBatch:
    """Deltas that count up, as a producer has them."""
    records = tuple(evolve(record, offset_delta=at) for at, record in enumerate(batch.records))
    return evolve(batch, last_offset_delta=max(len(records) - 1, 0), records=records)


def _wrapper(message: Message, rng: Random) -> Message:
    """The message in a wrapper, or a wrapper of more; kafka.md §2.2."""
    inner = message.messages or (message,)
    count = pick(rng, (1, 2, 3))
    first = pick(rng, (0, 5))
    rows = tuple(evolve(row, offset=first + at) for at, row in enumerate((inner * count)[:MOST]))
    codec = pick(rng, (1, 2, 3))
    offset = pick(rng, (0, rows[-1].offset))
    return evolve(
        message, offset=offset, attributes=message.attributes & ~7 | codec, value=None, messages=rows
    )


def _filled(message: HekaMessage, rng: Random) -> HekaMessage:
    """Every scalar that is absent, there."""
    absent = [site for site in sites(message) if site.now is None and len(site.steps) == 1]
    given: dict[str, Any] = {site.name: fresh(site.kind, rng, site.name) for site in absent}
    return evolve(message, **given)


def _lengthened(message: HekaMessage, rng: Random) -> HekaMessage:
    """A text whose length takes two bytes: heka.md, section 4."""
    texts = [site for site in sites(message) if site.kind.holds == "bytes" and len(site.steps) == 1]
    site = pick(rng, [one for one in texts if one.name != "uuid"])
    longer: dict[str, Any] = {site.name: pick(rng, FILLS) * pick(rng, (128, 129, 300))}
    return evolve(message, **longer)


def _typed(message: HekaMessage, rng: Random) -> HekaMessage:
    """A field of any type with none, one or more values: heka.md, section 4; more are packed."""
    at = below(rng, len(TYPES))
    kind = kind_of(get_type_hints(Field)[ARRAYS[at]])
    values = tuple(fresh(kind_of(kind.of[0]), rng, ARRAYS[at]) for _ in range(pick(rng, (0, 1, 2, 3))))
    bare = least(Field)
    made = evolve(bare, name=octets(rng, b"f"), value_type=TYPES[at], **{ARRAYS[at]: values})
    return evolve(message, fields=(*message.fields[: MOST // 4], made))


def _in_frame(stream: Stream, rng: Random) -> Stream:
    """The same for the message of a frame."""
    if not stream.frames:
        return Stream((least(Frame),))
    at = below(rng, len(stream.frames))
    _, change = pick(rng, EXTRA[HekaMessage])
    frame = stream.frames[at]
    changed = evolve(frame, message=change(frame.message, rng))
    return Stream((*stream.frames[:at], changed, *stream.frames[at + 1 :]))


def _signed(stream: Stream, rng: Random) -> Stream:
    """A frame whose header names a signer, a hash and an hmac: heka.md, section 1."""
    if not stream.frames:
        return Stream((least(Frame),))
    at = below(rng, len(stream.frames))
    header = Header(
        hmac_hash_function=pick(rng, ("MD5", "SHA1")),
        hmac_signer=octets(rng, b"s")[:64],
        hmac_key_version=pick(rng, (None, 0, 1)),
        hmac=octets(rng, b"h")[:64],
    )
    frame = evolve(stream.frames[at], header=header)
    return Stream((*stream.frames[:at], frame, *stream.frames[at + 1 :]))


def _transaction(log: Log, rng: Random) -> Log:
    """A producer's batch and its marker behind the log, another producer's batch between: kafka.md §1.9."""
    last = log.batches[-1] if log.batches else least(RecordBatch)
    after = (last.base_offset + last.last_offset_delta if isinstance(last, RecordBatch) else last.offset) + 1
    ours, other = pick(rng, ((7, 8), (1000, 1001), (0, -1)))
    closing = _control(least(RecordBatch), rng)
    data = evolve(least(RecordBatch), attributes=TRANSACTIONAL, producer_id=ours, producer_epoch=0)
    theirs = evolve(data, producer_id=other)
    closing = evolve(closing, producer_id=pick(rng, (ours, other)))
    rows = (data, theirs, closing, *(data, theirs)[below(rng, 3) :])
    made = tuple(evolve(row, base_offset=after + at) for at, row in enumerate(rows))
    return Log((*log.batches[: MOST // 4], *made))


def _in_log(log: Log, rng: Random) -> Log:
    """The same for an entry of a log."""
    if not log.batches:
        kind: type = pick(rng, (RecordBatch, Message))
        return Log((least(kind),))
    at = below(rng, len(log.batches))
    rows = EXTRA[type(log.batches[at])]
    _, change = rows[below(rng, len(rows))]
    return Log((*log.batches[:at], change(log.batches[at], rng), *log.batches[at + 1 :]))


EXTRA: Final[dict[type, tuple[tuple[str, Callable[[Any, Random], Any]], ...]]] = {
    RecordBatch: (
        ("control batch", _control),
        ("at the end of the numbers", _at_the_end),
        ("packed header", _compressed),
        ("sequence at its end", _wrapping_sequence),
        ("deltas count up", _counting),
    ),
    Message: (("wrapper", _wrapper),),
    Log: (("entry", _in_log), ("transaction", _transaction)),
    HekaMessage: (("every scalar", _filled), ("field of a type", _typed), ("long text", _lengthened)),
    Stream: (("signed header", _signed), ("message", _in_frame)),
}
"""By class: name and edit."""


PACKING: Final[dict[type, Callable[[Any, Random], Any]]] = {RecordBatch: _compressed, Message: _wrapper}


def packed(parent: Parsed, rng: Random) -> bytes | None:
    """The value with what it can pack packed, in a log an entry; None where there is nothing of the sort."""
    value = parent.value
    entries = value.batches if isinstance(value, Log) else (value,)
    at = below(rng, len(entries))
    change = PACKING.get(type(entries[at])) if entries else None
    if change is None:
        return None
    try:
        one = change(entries[at], rng)
        whole = Log((*entries[:at], one, *entries[at + 1 :])) if isinstance(value, Log) else one
        return written(parent.row, mended(whole))
    except Rejected:
        return None


def crossed(row: Format, one: Parsed, two: Parsed, rng: Random) -> bytes | None:
    """A part of `two` in the place of one of the same kind in `one`, or beside it; None if none fits."""
    places = [site for site in sites_of(one) if site.kind.holds in ("list", "pair", "value", "bytes", "int")]
    if not places:
        return None
    lists = [site for site in places if site.kind.holds == "list"]
    place = pick(rng, lists if lists and below(rng, 2) else places)
    others = [site.now for site in sites_of(two) if site.kind == place.kind]
    if not others:
        return None
    new = pick(rng, others)
    if place.kind.holds == "list" and place.now and new and below(rng, 2):
        new = (*place.now[: below(rng, len(place.now) + 1)], *new[below(rng, len(new)) :])[:MOST]
    try:
        return written(row, mended(put(one.value, place.steps, new)))
    except Rejected:
        return None

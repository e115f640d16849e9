"""What the kernels found, as the JSON of the values: what `to_json` makes of those that `values` builds.

Design, section 3, "Values". Adapters are asked about every entry of an archive, and what is expected of them
is this JSON. Made from the columns it takes a part of the time that the reference and `to_json` take.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from attrs import field, frozen

from wireproof.columnar import column_kernels
from wireproof.columnar.extra import np
from wireproof.columnar.frames import Run
from wireproof.columnar.kernels import CODEC, CONTROL
from wireproof.columnar.values import marker
from wireproof.columnar.wave import Wave
from wireproof.wire.items import Item
from wireproof.wire.values import Json, to_json

Texts: TypeAlias = "list[str]"

NUMBERS = ("offset", "timestamp", "delta", "attributes")


def trees(run: Run) -> Iterator[Item]:
    """The items of a run that was judged with its slots; the value of a clean frame is its JSON."""
    if run.wave is None:
        yield run.answers[0]
        return
    told, first = Told.of(run.wave), 0
    for index, count in enumerate(run.wave.records.tolist()):
        yield run.answers[index] if index in run.answers else _item(told, index, first, first + count)
        first += count


@frozen
class Told:
    """The columns of a wave as texts.

    Attributes:
        wave: what was judged.
        numbers: the fields of the records that are integers, by name.
        keys, values: hex, or None.
        headers: of those records that have some, by the number of the record.
    """

    wave: Wave
    numbers: dict[str, Texts]
    keys: list[str | None]
    values: list[str | None]
    headers: dict[int, list[Json]] = field(factory=dict)

    @classmethod
    def of(cls, wave: Wave) -> "Told":
        """All of the wave's records."""
        slots, space = wave.slots, _Space.of(wave)
        numbers = {name: list(map(str, slots[name].tolist())) for name in NUMBERS}
        keys, values = (
            space.texts(slots[f"{name}_at"], slots[f"{name}_length"]) for name in ("key", "value")
        )
        return cls(wave, numbers, keys, values, _headers(wave, space))


@frozen
class _Space:
    """The bytes that slots point into, in hex: those of the entries, and behind the buffer those unpacked."""

    base: int
    size: int
    wire: str
    arena: str

    @classmethod
    def of(cls, wave: Wave) -> "_Space":
        entries = wave.entries
        base = int(entries.position[0])
        data = entries.view[base : int(entries.end[-1])]
        return cls(base, entries.wire.size, data.hex(), wave.arena.tobytes().hex())

    def texts(self, at: Any, length: Any) -> list[str | None]:  # noqa: ANN401 - arrays
        """Runs of bytes; None for a negative length."""
        if not self.arena:  # nearly always: nothing is packed
            return [
                None if size < 0 else self.wire[start : start + size + size]
                for start, size in zip(
                    (2 * (at.astype(np.int64) - self.base)).tolist(), length.tolist(), strict=True
                )
            ]
        pairs = zip(at.tolist(), length.tolist(), strict=True)
        return [None if size < 0 else self._text(start, size) for start, size in pairs]

    def _text(self, start: int, size: int) -> str:
        text, first = (self.wire, start - self.base) if start < self.size else (self.arena, start - self.size)
        return text[2 * first : 2 * (first + size)]


def _headers(wave: Wave, space: _Space) -> dict[int, list[Json]]:
    counts = wave.slots["headers"]
    total = int(counts.sum(dtype=np.int64))
    if not total:
        return {}
    at, length = np.empty((2, total), np.uint64), np.empty((2, total), np.int32)
    column_kernels.read_headers(wave.entries.wire, wave.arena, wave.slots["headers_at"], counts, at, length)
    keys, values = (space.texts(at[row], length[row]) for row in (0, 1))
    found: dict[int, list[Json]] = {}
    first = 0
    for number in np.flatnonzero(counts).tolist():
        stop = first + int(counts[number])
        found[number] = [
            [key, value] for key, value in zip(keys[first:stop], values[first:stop], strict=True)
        ]
        first = stop
    return found


def _item(told: Told, index: int, first: int, stop: int) -> Item:
    entries = told.wave.entries
    return Item(
        "frame", int(entries.position[index]), int(entries.length[index]), _entry(told, index, first, stop)
    )


def _entry(told: Told, index: int, first: int, stop: int) -> Json:
    head, magic = told.wave.heads[index], int(told.wave.entries.magic[index])
    if magic == 2:
        return _batch(told, head, first, stop)
    messages: list[Json] = [_message(told, at, str(magic)) for at in range(first, stop)]
    if not int(head["attributes"]) & CODEC:
        return messages[0]
    return {
        "offset": str(head["offset"]),
        "magic": str(magic),
        "attributes": str(head["attributes"]),
        "timestamp": str(head["max_time"]),
        "key": None,
        "value": None,
        "messages": messages,
    }


def _message(told: Told, at: int, magic: str) -> dict[str, Json]:
    return {
        "offset": told.numbers["offset"][at],
        "magic": magic,
        "attributes": told.numbers["attributes"][at],
        "timestamp": told.numbers["timestamp"][at],
        "key": told.keys[at],
        "value": told.values[at],
        "messages": None,
    }


def _batch(told: Told, head: Any, first: int, stop: int) -> Json:  # noqa: ANN401 - a row of `HEAD`
    base = int(head["offset"])
    return {
        "baseOffset": str(base),
        "partitionLeaderEpoch": str(head["leader_epoch"]),
        "magic": "2",
        "attributes": str(head["attributes"]),
        "lastOffsetDelta": str(head["last"]),
        "baseTimestamp": str(head["base_time"]),
        "maxTimestamp": str(head["max_time"]),
        "producerId": str(head["producer"]),
        "producerEpoch": str(head["producer_epoch"]),
        "baseSequence": str(head["sequence"]),
        "records": _records(told, base, first, stop, control=bool(int(head["attributes"]) & CONTROL)),
    }


def _records(told: Told, base: int, first: int, stop: int, *, control: bool) -> list[Json]:
    offsets = told.wave.slots["offset"][first:stop]
    numbers = told.numbers
    rows = zip(
        range(first, stop),
        numbers["attributes"][first:stop],
        numbers["delta"][first:stop],
        map(str, (offsets - base).tolist()),
        told.keys[first:stop],
        told.values[first:stop],
        numbers["offset"][first:stop],
        numbers["timestamp"][first:stop],
        strict=True,
    )
    return [
        {
            "attributes": attributes,
            "timestampDelta": delta,
            "offsetDelta": offset_delta,
            "key": key,
            "value": value,
            "headers": told.headers.get(at, []),
            "offset": offset,
            "timestamp": timestamp,
            "control": _control(key, value) if control else None,
        }
        for at, attributes, delta, offset_delta, key, value, offset, timestamp in rows
    ]


def _control(key: str | None, value: str | None) -> Json:
    return to_json(marker(bytes.fromhex(key or ""), bytes.fromhex(value or "")))

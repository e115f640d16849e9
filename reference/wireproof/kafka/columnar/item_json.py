"""Items of a scan with their values as JSON: the same JSON that `to_json` makes of the value objects.

Adapters are asked about every entry of an archive, and their answers are compared with this JSON. To make it
from the columns takes a fraction of the time that the reference and `to_json` take.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from attrs import field, frozen

from wireproof.columnar.optional_deps import np
from wireproof.kafka.columnar import record_header_kernels
from wireproof.kafka.columnar.entry_kernels import CODEC, CONTROL
from wireproof.kafka.columnar.entry_scan import ScanStep
from wireproof.kafka.columnar.item_values import batch_numbers, read_marker
from wireproof.kafka.columnar.judged_block import JudgedBlock
from wireproof.kafka.layouts import BATCH
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.scan_items import Item

Texts: TypeAlias = "list[str]"

_NAMES: Final = tuple(part.name for part in BATCH.numbers)

NUMBER_FIELDS = ("offset", "timestamp", "timestamp_delta", "attributes")


def json_items(step: ScanStep) -> Iterator[Item]:
    """Yield the items of a step, whose block must have slots; the value of a clean frame is its JSON."""
    if step.block is None:
        yield step.answers[0]
        return
    texts, first = RecordTexts.of(step.block), 0
    for index, count in enumerate(step.block.records.tolist()):
        yield step.answers[index] if index in step.answers else _item(texts, index, first, first + count)
        first += count


@frozen
class RecordTexts:
    """The records of a block as texts.

    Attributes:
        block: the judged entries.
        numbers: the integer fields of the records, by name.
        keys, values: in hex; None for null.
        headers: the headers of the records that have some, by number of the record.
    """

    block: JudgedBlock
    numbers: dict[str, Texts]
    keys: list[str | None]
    values: list[str | None]
    headers: dict[int, list[Json]] = field(factory=dict)

    @classmethod
    def of(cls, block: JudgedBlock) -> "RecordTexts":
        """Convert all records of the block."""
        slots, space = block.slots, _Space.of(block)
        numbers = {name: list(map(str, slots[name].tolist())) for name in NUMBER_FIELDS}
        keys, values = (
            space.texts(slots[f"{name}_at"], slots[f"{name}_length"]) for name in ("key", "value")
        )
        return cls(block, numbers, keys, values, _headers(block, space))


@frozen
class _Space:
    """The bytes that slots refer to, in hex: those of the entries, and after the buffer the arena."""

    base: int
    size: int
    wire: str
    arena: str

    @classmethod
    def of(cls, block: JudgedBlock) -> "_Space":
        entries = block.entries
        base = int(entries.position[0])
        data = entries.view[base : int(entries.end[-1])]
        return cls(base, entries.wire.size, data.hex(), block.arena.tobytes().hex())

    def texts(self, at: Any, length: Any) -> list[str | None]:  # noqa: ANN401 - arrays
        """Return runs of bytes as hex; None for a negative length."""
        if not self.arena:  # nearly always: nothing is compressed
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


def _headers(block: JudgedBlock, space: _Space) -> dict[int, list[Json]]:
    counts = block.slots["headers"]
    total = int(counts.sum(dtype=np.int64))
    if not total:
        return {}
    at, length = np.empty((2, total), np.uint64), np.empty((2, total), np.int32)
    record_header_kernels.locate_headers(
        block.entries.wire, block.arena, block.slots["headers_at"], counts, at, length
    )
    keys, values = (space.texts(at[row], length[row]) for row in (0, 1))
    pairs: dict[int, list[Json]] = {}
    first = 0
    for number in np.flatnonzero(counts).tolist():
        stop = first + int(counts[number])
        pairs[number] = [
            [key, value] for key, value in zip(keys[first:stop], values[first:stop], strict=True)
        ]
        first = stop
    return pairs


def _item(texts: RecordTexts, index: int, first: int, stop: int) -> Item:
    entries = texts.block.entries
    return Item(
        "frame", int(entries.position[index]), int(entries.length[index]), _entry(texts, index, first, stop)
    )


def _entry(texts: RecordTexts, index: int, first: int, stop: int) -> Json:
    header, magic = texts.block.entry_headers[index], int(texts.block.entries.magic[index])
    if magic == 2:
        return _batch(texts, header, first, stop)
    messages: list[Json] = [_message(texts, at, str(magic)) for at in range(first, stop)]
    if not int(header["attributes"]) & CODEC:
        return messages[0]
    return {
        "offset": str(header["base_offset"]),
        "magic": str(magic),
        "attributes": str(header["attributes"]),
        "timestamp": str(header["max_timestamp"]),
        "key": None,
        "value": None,
        "messages": messages,
    }


def _message(texts: RecordTexts, at: int, magic: str) -> dict[str, Json]:
    return {
        "offset": texts.numbers["offset"][at],
        "magic": magic,
        "attributes": texts.numbers["attributes"][at],
        "timestamp": texts.numbers["timestamp"][at],
        "key": texts.keys[at],
        "value": texts.values[at],
        "messages": None,
    }


def _batch(texts: RecordTexts, header: Any, first: int, stop: int) -> Json:  # noqa: ANN401 - a row of `HEADER`
    batch: dict[str, Json] = dict(zip(_NAMES, map(str, batch_numbers(header)), strict=True))
    control = bool(int(header["attributes"]) & CONTROL)
    batch["records"] = _records(texts, int(header["base_offset"]), first, stop, control=control)
    return batch


def _records(texts: RecordTexts, base: int, first: int, stop: int, *, control: bool) -> list[Json]:
    offsets = texts.block.slots["offset"][first:stop]
    numbers = texts.numbers
    rows = zip(
        range(first, stop),
        numbers["attributes"][first:stop],
        numbers["timestamp_delta"][first:stop],
        map(str, (offsets - base).tolist()),
        texts.keys[first:stop],
        texts.values[first:stop],
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
            "headers": texts.headers.get(at, []),
            "offset": offset,
            "timestamp": timestamp,
            "control": _control(key, value) if control else None,
        }
        for at, attributes, delta, offset_delta, key, value, offset, timestamp in rows
    ]


def _control(key: str | None, value: str | None) -> Json:
    return to_json(read_marker(bytes.fromhex(key or ""), bytes.fromhex(value or "")))

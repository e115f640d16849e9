"""The digest of the values that an adapter shows of an entry, computed from columns.

Adapters are asked for digests about every entry of an archive. The canonical JSON of an entry is written
straight to bytes and hashed, without Python objects for its fields. The result equals `wire.values.digest` of
the JSON from `item_json`. Nearly all answers are right, so the objects are not needed. The tables below have
the order of the fields.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Final, TypeAlias

from attrs import evolve, frozen

from wireproof.columnar.basic_kernels import Array
from wireproof.columnar.optional_deps import np
from wireproof.kafka.columnar import canonical_json_kernels, record_header_kernels
from wireproof.kafka.columnar.canonical_json_kernels import (
    DIGITS,
    ENTRY,
    HEADERS,
    KEY,
    RECORD,
    TEXT,
    VALUE,
    JsonPrograms,
    RecordArrays,
)
from wireproof.kafka.columnar.entry_kernels import CODEC, CONTROL
from wireproof.kafka.columnar.entry_scan import ScanStep, scan_steps
from wireproof.kafka.columnar.item_json import json_items
from wireproof.kafka.columnar.judged_block import JudgedBlock
from wireproof.kafka.layouts import BATCH
from wireproof.wire.json_values import DIGEST_SIZE, Json
from wireproof.wire.layout import attribute_of
from wireproof.wire.observed_fields import FieldTree
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.scan_items import Item

ENTRY_NUMBERS: Final = tuple(attribute_of(part.name) for part in BATCH.numbers if part.const is None)
"""The fields of `HEADER` that are written; the magic follows as one more column."""

RECORD_NUMBERS: Final = ("offset", "timestamp", "timestamp_delta", "attributes")
"""The fields of `SLOT` that are written; offsetDelta follows as one more column."""

NULL_CHARACTERS: Final = 4
"""Characters of null; the quotes around bytes take fewer."""

OFFSET_DELTA: Final = len(RECORD_NUMBERS)


@frozen
class _Op:
    """A text and the value that is written after it: see `canonical_json_kernels`."""

    text: str
    kind: int = TEXT
    column: int = 0


def _entry(name: str) -> _Op:
    return _Op("", ENTRY, (*ENTRY_NUMBERS, "magic").index(name))


def _record(name: str) -> _Op:
    return _Op("", RECORD, RECORD_NUMBERS.index(name))


Fields: TypeAlias = "dict[str, _Op | Fields]"
"""A JSON object in the order of its canonical form; an inner dict is the element of a list."""

RECORDS: Final[Fields] = {
    "attributes": _record("attributes"),
    "control": _Op("null"),
    "headers": _Op("", HEADERS),
    "key": _Op("", KEY),
    "offset": _record("offset"),
    "offsetDelta": _Op("", RECORD, OFFSET_DELTA),
    "timestamp": _record("timestamp"),
    "timestampDelta": _record("timestamp_delta"),
    "value": _Op("", VALUE),
}
BATCH_FIELDS: Final[Fields] = dict(
    sorted([*((part.name, _entry(attribute_of(part.name))) for part in BATCH.numbers), ("records", RECORDS)])
)
MESSAGE: Final[Fields] = {
    "attributes": _record("attributes"),
    "key": _Op("", KEY),
    "magic": _entry("magic"),
    "messages": _Op("null"),
    "offset": _record("offset"),
    "timestamp": _record("timestamp"),
    "value": _Op("", VALUE),
}
WRAPPER: Final[Fields] = {
    "attributes": _entry("attributes"),
    "key": _Op("null"),
    "magic": _entry("magic"),
    "messages": MESSAGE,
    "offset": _entry("base_offset"),
    "timestamp": _entry("max_timestamp"),
    "value": _Op("null"),
}
"""kafka.md §2.2: key and value of a wrapper are null, because its value is the compressed messages."""

Program: TypeAlias = "list[_Op]"


@frozen
class EntryView:
    """The fields that an adapter shows of the entries of one magic.

    Attributes:
        wanted: the fields of the entry, or of the stream that it is wrapped in.
        entries: the field of that stream that lists its entries; empty if nothing is wrapped.
    """

    wanted: FieldTree
    entries: str = ""

    def around(self) -> tuple[bytes, bytes]:
        """Return the JSON before and after an entry."""
        if not self.entries:
            return b"", b""
        return (f'{{"{self.entries}":['.encode(), b"]}") if self.shown else (b"{}", b"")

    @property
    def shown(self) -> bool:
        """Return True if a field of an entry is shown."""
        return not self.entries or not self.wanted or self.entries in self.wanted

    def of_entry(self) -> FieldTree:
        """Return the wanted fields of the entry itself."""
        return _inner(self.wanted, self.entries) if self.entries else self.wanted


def _inner(wanted: FieldTree, name: str) -> FieldTree:
    """Return the wanted fields of the elements of the list `name`.

    As in `observe.project`, no pattern for the elements means all their fields.
    """
    return wanted.get(name, {}).get("[]", {})


def _programs(fields: Fields, wanted: FieldTree) -> tuple[Program, Program, Program]:
    """Return the programs of an object with a list: before the elements, one element, after the elements."""
    parts: tuple[Program, Program, Program] = ([_Op("{")], [], [])
    here, comma = 0, ""
    for name, field in fields.items():
        if wanted and name not in wanted:
            continue
        parts[here].append(_Op(f'{comma}"{name}":'))
        comma = ","
        if isinstance(field, dict):
            parts[0].append(_Op("["))
            parts[1].extend(_programs(field, _inner(wanted, name))[0])
            here = 2
            parts[2].append(_Op("]"))
        else:
            parts[here].extend(_quote(field))
    parts[here].append(_Op("}"))
    return parts


def _quote(op: _Op) -> Program:
    return [_Op('"'), op, _Op('"')] if op.kind in (ENTRY, RECORD) else [op]


def _join_texts(program: Program) -> Iterator[_Op]:
    """Join consecutive texts."""
    text = ""
    for op in program:
        text += op.text
        if op.kind != TEXT:
            yield evolve(op, text=text)
            text = ""
    if text:
        yield _Op(text)


# --- the fields that an adapter shows ---

SHAPES: Final = 2
"""Shapes for each magic: not compressed and compressed. A batch has the same JSON in both."""


@frozen
class CanonicalForm:
    """The canonical form of entries for one adapter.

    Attributes:
        views: by magic; entries of other magics are left out.
        programs: for the kernels.
        around: by magic, the JSON before and after an entry.
    """

    views: Mapping[int, EntryView]
    programs: JsonPrograms
    around: Mapping[int, tuple[bytes, bytes]]

    @classmethod
    def of(cls, views: Mapping[int, EntryView]) -> "CanonicalForm":
        """Return the canonical form that shows `views`."""
        return cls(views, _compile(views), {magic: view.around() for magic, view in views.items()})


def _compile(views: Mapping[int, EntryView]) -> JsonPrograms:
    text, ops = "", list[tuple[int, int, int, int]]()
    parts = np.zeros((3 * SHAPES, 4), np.int64)
    for magic, view in views.items():
        for compressed in range(SHAPES):
            row = parts[SHAPES * magic + compressed]
            row[0] = len(ops)
            for number, program in enumerate(_programs_of_shape(view, magic, compressed=bool(compressed))):
                for op in _join_texts(program):
                    ops.append((op.kind, op.column, len(text), len(text) + len(op.text)))
                    text += op.text
                row[number + 1] = len(ops)
    rows = np.array(ops, np.int64).reshape(len(ops), 4)
    return JsonPrograms(np.frombuffer(text.encode() or b" ", np.uint8), rows, parts)


def _programs_of_shape(view: EntryView, magic: int, *, compressed: bool) -> tuple[Program, Program, Program]:
    if not view.shown:
        return [], [], []
    wanted = view.of_entry()
    if magic == 2:
        return _programs(BATCH_FIELDS, wanted)
    if compressed:
        return _programs(WRAPPER, wanted)
    return [], _programs(MESSAGE, wanted)[0], []


@frozen
class EntryDigests:
    """The value of a clean entry of which only digests are known.

    Attributes:
        digests: of the fields that each adapter shows; empty if it shows none for this magic.
        headers: whether a record has headers.
    """

    digests: tuple[str, ...]
    headers: bool


def digest_items(
    step: ScanStep, spellings: Sequence[CanonicalForm], options: Options = DEFAULT_OPTIONS
) -> Iterator[Item]:
    """Yield the items of a step, whose block must have slots; clean frames have `EntryDigests` as values.

    A batch of control records has its JSON as value, because such batches are few. The items are otherwise
    the same as those of `json_items`.
    """
    if step.block is None:
        yield step.answers[0]
        return
    entries, controls, headers = step.block.entries, _is_control(step.block), _has_headers(step.block)
    digests_by_form = [entry_digests(step.block, form) for form in spellings]
    rows = zip(entries.position.tolist(), entries.length.tolist(), strict=True)
    for index, (at, length) in enumerate(rows):
        if index in step.answers:
            yield step.answers[index]
        elif controls[index]:
            yield Item("frame", at, length, entry_json(bytes(entries.view[at : at + length]), options))
        else:
            yield Item(
                "frame",
                at,
                length,
                EntryDigests(tuple(column[index] for column in digests_by_form), headers[index]),
            )


def entry_json(data: bytes, options: Options = DEFAULT_OPTIONS) -> Json:
    """Return the JSON of one entry that the kernels found clean."""
    (item,) = (item for step in scan_steps(data, options, keep="slots") for item in json_items(step))
    value: Json = item.value
    return value


def _is_control(block: JudgedBlock) -> list[bool]:
    is_control: list[bool] = (
        (block.entries.magic == 2) & (block.entry_headers["attributes"] & CONTROL != 0)
    ).tolist()
    return is_control


def _has_headers(block: JudgedBlock) -> list[bool]:
    """Return for each entry whether one of its records has headers."""
    total = np.concatenate((np.zeros(1, np.int64), np.cumsum(block.slots["headers"], dtype=np.int64)))
    stops = np.cumsum(block.records)
    has_headers: list[bool] = (total[stops] > total[stops - block.records]).tolist()
    return has_headers


def entry_digests(block: JudgedBlock, form: CanonicalForm) -> list[str]:
    """Return the digest of each entry; empty if the entry is not shown, not clean, or a control batch."""
    shapes, records, stops = _shapes(block, form), _records(block), np.cumsum(block.records)
    out = np.empty(_max_size(shapes, records, form.programs), np.uint8)
    ends = np.zeros(shapes.size, np.int64)
    canonical_json_kernels.write_entries(records, _numbers(block), shapes, stops, form.programs, out, ends)
    view, digests_found, first = out.data, list[str](), 0
    for shape, end in zip(shapes.tolist(), ends.tolist(), strict=True):
        digests_found.append(_digest(*form.around[shape // SHAPES], view[first:end]) if shape >= 0 else "")
        first = end
    return digests_found


def _digest(before: bytes, after: bytes, data: memoryview) -> str:
    """Return the same as `values.digest` of the parsed JSON."""
    state = blake2b(before, digest_size=DIGEST_SIZE)
    state.update(data)
    state.update(after)
    return state.hexdigest()


def _shapes(block: JudgedBlock, form: CanonicalForm) -> Array:
    shown = block.clean & np.isin(block.entries.magic, list(form.views)) & ~np.array(_is_control(block))
    compressed = block.entry_headers["attributes"] & CODEC != 0
    shapes: Array = np.where(shown, SHAPES * block.entries.magic.astype(np.int64) + compressed, -1)
    return shapes


def _numbers(block: JudgedBlock) -> Array:
    columns = [block.entry_headers[name] for name in ENTRY_NUMBERS]
    return np.stack([*columns, block.entries.magic], axis=1, dtype=np.int64)


def _records(block: JudgedBlock) -> RecordArrays:
    slots = block.slots
    base = np.repeat(block.entry_headers["base_offset"], block.records)
    columns = [slots[name] for name in RECORD_NUMBERS]
    numbers = np.stack([*columns, slots["offset"] - base], axis=1, dtype=np.int64)
    ends = np.cumsum(slots["headers"], dtype=np.int64)
    total = int(ends[-1]) if ends.size else 0
    at, length = np.empty((2, total), np.uint64), np.empty((2, total), np.int32)
    if total:
        record_header_kernels.locate_headers(
            block.entries.wire, block.arena, slots["headers_at"], slots["headers"], at, length
        )
    return RecordArrays(block.entries.wire, block.arena, slots, numbers, at, length, ends)


def _max_size(shapes: Array, records: RecordArrays, programs: JsonPrograms) -> int:
    """Return an upper limit for the bytes of the JSON of a block."""
    ops, parts = programs.ops, programs.parts
    lengths = ops[:, 3] - ops[:, 2] + np.where(ops[:, 0] == HEADERS, 2, max(DIGITS, NULL_CHARACTERS))
    total = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    of_entry = total[parts[:, 3]] - total[parts[:, 2]] + total[parts[:, 1]] - total[parts[:, 0]]
    of_record = total[parts[:, 2]] - total[parts[:, 1]] + 1
    slots, pairs = records.slots, records.header_length
    runs_of = (slots["key_length"], slots["value_length"], pairs)
    octets = sum(2 * int(np.maximum(length, 0).sum(dtype=np.int64)) for length in runs_of)
    around = (2 * NULL_CHARACTERS + 4) * pairs.shape[1]
    return int(shapes.size * of_entry.max() + slots.size * of_record.max() + octets + around) + 1

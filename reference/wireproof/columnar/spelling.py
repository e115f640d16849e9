"""The digest of what an adapter shows of an entry, from columns: no JSON is made, only its canonical bytes.

Design, section 3, "Values". Adapters are asked for digests about every entry of an archive. `trees` and
`wire.values.digest` say the same, an object a field; nearly all entries are right, and nobody looks at those
objects. Which fields stand where is told by two tables, which are those of `trees`.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Final, TypeAlias

from attrs import evolve, frozen

from wireproof.columnar import column_kernels, spelling_kernels
from wireproof.columnar.extra import np
from wireproof.columnar.frames import Run, runs
from wireproof.columnar.kernels import CODEC, CONTROL, Array
from wireproof.columnar.spelling_kernels import (
    DIGITS,
    ENTRY,
    HEADERS,
    KEY,
    RECORD,
    TEXT,
    VALUE,
    Programs,
    Records,
)
from wireproof.columnar.trees import trees
from wireproof.columnar.wave import Wave
from wireproof.wire.items import Item
from wireproof.wire.observe import Wanted
from wireproof.wire.options import DEFAULT, Options
from wireproof.wire.values import DIGEST, Json

ENTRY_NUMBERS: Final = (
    *("offset", "leader_epoch", "attributes", "last", "base_time", "max_time"),
    *("producer", "producer_epoch", "sequence"),
)
"""Columns of `HEAD`; the magic is one more behind them."""

RECORD_NUMBERS: Final = ("offset", "timestamp", "delta", "attributes")
"""Columns of `SLOT`; the delta of the offset is one more behind them."""

LEAST_OCTETS: Final = 4
"""Characters of null; of the quotes around bytes, fewer."""

OFFSET_DELTA: Final = len(RECORD_NUMBERS)


@frozen
class _Op:
    """A text, and what is put behind it: see `spelling_kernels`."""

    text: str
    kind: int = TEXT
    column: int = 0


def _entry(name: str) -> _Op:
    return _Op("", ENTRY, (*ENTRY_NUMBERS, "magic").index(name))


def _record(name: str) -> _Op:
    return _Op("", RECORD, RECORD_NUMBERS.index(name))


Fields: TypeAlias = "dict[str, _Op | Fields]"
"""A JSON object, in the order of its canonical spelling; inner ones are the elements of a list."""

RECORDS: Final[Fields] = {
    "attributes": _record("attributes"),
    "control": _Op("null"),
    "headers": _Op("", HEADERS),
    "key": _Op("", KEY),
    "offset": _record("offset"),
    "offsetDelta": _Op("", RECORD, OFFSET_DELTA),
    "timestamp": _record("timestamp"),
    "timestampDelta": _record("delta"),
    "value": _Op("", VALUE),
}
BATCH: Final[Fields] = {
    "attributes": _entry("attributes"),
    "baseOffset": _entry("offset"),
    "baseSequence": _entry("sequence"),
    "baseTimestamp": _entry("base_time"),
    "lastOffsetDelta": _entry("last"),
    "magic": _entry("magic"),
    "maxTimestamp": _entry("max_time"),
    "partitionLeaderEpoch": _entry("leader_epoch"),
    "producerEpoch": _entry("producer_epoch"),
    "producerId": _entry("producer"),
    "records": RECORDS,
}
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
    "offset": _entry("offset"),
    "timestamp": _entry("max_time"),
    "value": _Op("null"),
}
"""kafka.md §2.2: what it holds is compressed, of which no value speaks."""

Program: TypeAlias = "list[_Op]"


@frozen
class View:
    """What is shown of the entries of one magic.

    Attributes:
        wanted: of the value of an entry, or of the stream that it is lifted to.
        entries: the field of that stream which lists its entries; empty: nothing is lifted.
    """

    wanted: Wanted
    entries: str = ""

    def around(self) -> tuple[bytes, bytes]:
        """What stands before and behind the spelling of an entry."""
        if not self.entries:
            return b"", b""
        return (f'{{"{self.entries}":['.encode(), b"]}") if self.shown else (b"{}", b"")

    @property
    def shown(self) -> bool:
        """Whether anything of an entry is."""
        return not self.entries or not self.wanted or self.entries in self.wanted

    def of_entry(self) -> Wanted:
        """What is wanted of the entry itself."""
        return _inner(self.wanted, self.entries) if self.entries else self.wanted


def _inner(wanted: Wanted, name: str) -> Wanted:
    """Of the elements of the list `name`, as `observe.project` has it: no pattern of elements wants all."""
    return wanted.get(name, {}).get("[]", {})


def _programs(fields: Fields, wanted: Wanted) -> tuple[Program, Program, Program]:
    """Of an object with a list in it: what is before the elements, an element, what is behind them."""
    parts: tuple[Program, Program, Program] = ([_Op("{")], [], [])
    here, comma = 0, ""
    for name, what in fields.items():
        if wanted and name not in wanted:
            continue
        parts[here].append(_Op(f'{comma}"{name}":'))
        comma = ","
        if isinstance(what, dict):
            parts[0].append(_Op("["))
            parts[1].extend(_programs(what, _inner(wanted, name))[0])
            here = 2
            parts[2].append(_Op("]"))
        else:
            parts[here].extend(_quoted(what))
    parts[here].append(_Op("}"))
    return parts


def _quoted(what: _Op) -> Program:
    return [_Op('"'), what, _Op('"')] if what.kind in (ENTRY, RECORD) else [what]


def _joined(program: Program) -> Iterator[_Op]:
    """Texts that follow one another put together."""
    text = ""
    for one in program:
        text += one.text
        if one.kind != TEXT:
            yield evolve(one, text=text)
            text = ""
    if text:
        yield _Op(text)


# --- all that an adapter shows ---

SHAPES: Final = 2
"""Of each magic: plain, and compressed; a batch is of one shape either way."""


@frozen
class Spelling:
    """How the entries are spelled for an adapter.

    Attributes:
        views: by magic; what is missing is not spelled.
        programs: for the kernels.
        around: by magic, what stands before and behind.
    """

    views: Mapping[int, View]
    programs: Programs
    around: Mapping[int, tuple[bytes, bytes]]

    @classmethod
    def of(cls, views: Mapping[int, View]) -> "Spelling":
        """The spelling that shows `views`."""
        return cls(views, _compiled(views), {magic: view.around() for magic, view in views.items()})


def _compiled(views: Mapping[int, View]) -> Programs:
    text, ops = "", list[tuple[int, int, int, int]]()
    parts = np.zeros((3 * SHAPES, 4), np.int64)
    for magic, view in views.items():
        for packed in range(SHAPES):
            row = parts[SHAPES * magic + packed]
            row[0] = len(ops)
            for number, program in enumerate(_of_shape(view, magic, packed=bool(packed))):
                for one in _joined(program):
                    ops.append((one.kind, one.column, len(text), len(text) + len(one.text)))
                    text += one.text
                row[number + 1] = len(ops)
    rows = np.array(ops, np.int64).reshape(len(ops), 4)
    return Programs(np.frombuffer(text.encode() or b" ", np.uint8), rows, parts)


def _of_shape(view: View, magic: int, *, packed: bool) -> tuple[Program, Program, Program]:
    if not view.shown:
        return [], [], []
    wanted = view.of_entry()
    if magic == 2:
        return _programs(BATCH, wanted)
    if packed:
        return _programs(WRAPPER, wanted)
    return [], _programs(MESSAGE, wanted)[0], []


@frozen
class Spelt:
    """A clean entry, spelled and not told.

    Attributes:
        digests: of what each adapter shows; empty where it shows nothing of this magic.
        headers: whether a record has some.
    """

    digests: tuple[str, ...]
    headers: bool


def spelt(run: Run, spellings: Sequence[Spelling], options: Options = DEFAULT) -> Iterator[Item]:
    """The items of a run that was judged with its slots, as `trees` gives them but for the values.

    The value of a clean frame is `Spelt`; that of a batch of control markers is its JSON, for they are few.
    """
    if run.wave is None:
        yield run.answers[0]
        return
    entries, controls, headers = run.wave.entries, _controls(run.wave), _headers(run.wave)
    found = [digests(run.wave, one) for one in spellings]
    rows = zip(entries.position.tolist(), entries.length.tolist(), strict=True)
    for index, (at, length) in enumerate(rows):
        if index in run.answers:
            yield run.answers[index]
        elif controls[index]:
            yield Item("frame", at, length, tree(bytes(entries.view[at : at + length]), options))
        else:
            yield Item("frame", at, length, Spelt(tuple(each[index] for each in found), headers[index]))


def tree(data: bytes, options: Options = DEFAULT) -> Json:
    """The JSON of one entry that the kernels found clean."""
    (item,) = (item for run in runs(data, options, keep="slots") for item in trees(run))
    value: Json = item.value
    return value


def _controls(wave: Wave) -> list[bool]:
    found: list[bool] = ((wave.entries.magic == 2) & (wave.heads["attributes"] & CONTROL != 0)).tolist()
    return found


def _headers(wave: Wave) -> list[bool]:
    """Whether a record of each entry has headers."""
    total = np.concatenate((np.zeros(1, np.int64), np.cumsum(wave.slots["headers"], dtype=np.int64)))
    stops = np.cumsum(wave.records)
    found: list[bool] = (total[stops] > total[stops - wave.records]).tolist()
    return found


def digests(wave: Wave, spelling: Spelling) -> list[str]:
    """The digest of each entry; empty for what is not shown, not clean, or a control batch."""
    shapes, records, stops = _shapes(wave, spelling), _records(wave), np.cumsum(wave.records)
    out = np.empty(_room(shapes, records, spelling.programs), np.uint8)
    ends = np.zeros(shapes.size, np.int64)
    spelling_kernels.spell(records, _numbers(wave), shapes, stops, spelling.programs, out, ends)
    view, found, first = out.data, list[str](), 0
    for shape, end in zip(shapes.tolist(), ends.tolist(), strict=True):
        found.append(_digest(*spelling.around[shape // SHAPES], view[first:end]) if shape >= 0 else "")
        first = end
    return found


def _digest(before: bytes, behind: bytes, data: memoryview) -> str:
    """As `values.digest` of the JSON that is spelled so."""
    state = blake2b(before, digest_size=DIGEST)
    state.update(data)
    state.update(behind)
    return state.hexdigest()


def _shapes(wave: Wave, spelling: Spelling) -> Array:
    shown = wave.clean & np.isin(wave.entries.magic, list(spelling.views)) & ~np.array(_controls(wave))
    packed = wave.heads["attributes"] & CODEC != 0
    shapes: Array = np.where(shown, SHAPES * wave.entries.magic.astype(np.int64) + packed, -1)
    return shapes


def _numbers(wave: Wave) -> Array:
    columns = [wave.heads[name] for name in ENTRY_NUMBERS]
    return np.stack([*columns, wave.entries.magic], axis=1, dtype=np.int64)


def _records(wave: Wave) -> Records:
    slots = wave.slots
    base = np.repeat(wave.heads["offset"], wave.records)
    columns = [slots[name] for name in RECORD_NUMBERS]
    numbers = np.stack([*columns, slots["offset"] - base], axis=1, dtype=np.int64)
    ends = np.cumsum(slots["headers"], dtype=np.int64)
    total = int(ends[-1]) if ends.size else 0
    at, length = np.empty((2, total), np.uint64), np.empty((2, total), np.int32)
    if total:
        column_kernels.read_headers(
            wave.entries.wire, wave.arena, slots["headers_at"], slots["headers"], at, length
        )
    return Records(wave.entries.wire, wave.arena, slots, numbers, at, length, ends)


def _room(shapes: Array, records: Records, programs: Programs) -> int:
    """Bytes that the spelling of a wave is not longer than."""
    ops, parts = programs.ops, programs.parts
    lengths = ops[:, 3] - ops[:, 2] + np.where(ops[:, 0] == HEADERS, 2, max(DIGITS, LEAST_OCTETS))
    total = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    of_entry = total[parts[:, 3]] - total[parts[:, 2]] + total[parts[:, 1]] - total[parts[:, 0]]
    of_record = total[parts[:, 2]] - total[parts[:, 1]] + 1
    slots, pairs = records.slots, records.header_length
    runs_of = (slots["key_length"], slots["value_length"], pairs)
    octets = sum(2 * int(np.maximum(length, 0).sum(dtype=np.int64)) for length in runs_of)
    around = (2 * LEAST_OCTETS + 4) * pairs.shape[1]
    return int(shapes.size * of_entry.max() + slots.size * of_record.max() + octets + around) + 1

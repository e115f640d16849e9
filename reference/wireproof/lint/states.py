"""The table of states: for each field of each format its edge values, and the golden cases that have them.

The fields and their types come from the traces of the golden cases, so that a field that a layout gains
has its cells at once. A cell is one edge value of one field, to read or to write. `states.toml` of the
fixtures has the types that a trace does not tell, the parts that are another format's, and the reason of each
cell that no case can fill.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, TypeAlias

from attrs import evolve, frozen

from wireproof.cases.case import Accept, Case, Chunks, Data, Reject, Value
from wireproof.cases.case_json import FixtureError
from wireproof.cases.fixtures import Suite
from wireproof.cases.outcome import Accepted
from wireproof.cases.reference_answers import reference_answer
from wireproof.cases.rules import resolve_all
from wireproof.derive.mutate.values_of_type import computed_fields
from wireproof.files import read_limited_text
from wireproof.formats import FORMATS, decode_with_trace
from wireproof.judge.signature import without_indices
from wireproof.lint.sources import Problem
from wireproof.schema.layout import all_layouts
from wireproof.strict_parsing import MAX_TOML_SIZE, parse_toml, structure
from wireproof.wire.json_values import Json
from wireproof.wire.text import counted
from wireproof.wire.trace import FieldSpan

STATES_FILE: Final = "states.toml"

Direction: TypeAlias = Literal["read", "write"]


@frozen
class NumberType:
    """The type of a number on the wire: bits, sign, and where a value takes a further byte (0: nowhere)."""

    bits: int
    signed: bool
    wide: int = 0

    def edges(self) -> dict[str, int]:
        """Return its edge values by their names."""
        if self.signed:
            most = (1 << self.bits - 1) - 1
            return {"zero": 0, "minus-one": -1, "least": -most - 1, "greatest": most}
        return {"zero": 0, "greatest": (1 << self.bits) - 1}


NUMBERS: Final[Mapping[str, NumberType]] = {
    **{f"int{bits}": NumberType(bits, signed=True) for bits in (8, 16, 32, 64)},
    **{
        f"uint{bits}{order}": NumberType(bits, signed=False)
        for bits in (8, 16, 32, 64, 128)
        for order in ("", "le")
    },
    **{f"uint{bits}": NumberType(bits, signed=False) for bits in (15, 31, 63)},
    "varint": NumberType(32, signed=True, wide=64),
    "varlong": NumberType(64, signed=True, wide=64),
    "uvarint": NumberType(32, signed=False, wide=128),
    "uvarint64": NumberType(64, signed=False, wide=128),
}
"""The types of numbers that have edge values, by the name that a trace gives them.

No layout has those of 15, 31 and 63 bits: in their fields the last bit is never set.
"""


@frozen(order=True)
class Cell:
    """One edge value of one field of a format, to read or to write."""

    format_id: str
    direction: str
    path: str
    state: str


@frozen
class FieldType:
    """The type of fields that a trace does not tell: of a JSON number, or `none` for no number.

    `computed` is true for a number that a reader makes of several fields: it has no edges of its own.
    `value` is true for a path of values that a trace names otherwise, such as the elements of a packed array.
    """

    formats: tuple[str, ...]
    paths: tuple[str, ...]
    type: str
    reason: str = ""
    computed: bool = False
    value: bool = False


@frozen
class SamePart:
    """Parts of a format whose cells are those of another one, which the same reader reads."""

    formats: tuple[str, ...]
    paths: tuple[str, ...]
    part_of: str


@frozen
class Unfilled:
    """The reason why cells of one field have no case."""

    formats: tuple[str, ...]
    directions: tuple[Direction, ...]
    path: str
    states: tuple[str, ...]
    reason: str
    cites: tuple[str, ...] = ()


@frozen
class StateNotes:
    """What `states.toml` says."""

    types: tuple[FieldType, ...] = ()
    same: tuple[SamePart, ...] = ()
    unfilled: tuple[Unfilled, ...] = ()


def read_notes(paths: Iterable[Path]) -> StateNotes:
    """Return the notes of some files; raise `FixtureError` with the file and the fault."""
    found = StateNotes()
    for path in paths:
        try:
            page = parse_toml(read_limited_text(path, MAX_TOML_SIZE))
            notes = structure(page, StateNotes, "the file")
        except (OSError, ValueError) as error:
            raise FixtureError(f"{path}: {error}") from None
        found = StateNotes(
            found.types + notes.types, found.same + notes.same, found.unfilled + notes.unfilled
        )
    return found


def note_files(suite: Suite) -> list[Path]:
    """Return the files of notes in the folders of the fixtures; none where nobody wants the table."""
    return [path for root in suite.roots if (path := root / STATES_FILE).exists()]


@frozen
class Occurrence:
    """What one golden case shows of a number: its type and value, and what it measures.

    `measures` is `bytes` for the length of one text, whose path is `text`; `length` or `count` of other
    bytes; else empty. `type` is empty for a number of a value to write.
    """

    format_id: str
    direction: Direction
    path: str
    type: str
    value: int
    measures: str = ""
    text: str = ""


def _occurrences(case: Case) -> Iterator[Occurrence]:
    """Yield the numbers of a case: those of its bytes, and of a value to write those of the value."""
    row = FORMATS[case.format_id]
    match case.input:
        case Data(data):
            direction: Direction = "read"
            if isinstance(case.expect, Accept):
                for path, number in numbers_of(case.expect.value):
                    yield Occurrence(case.format_id, direction, path, "", number)
        case Chunks(chunks):
            direction, data = "read", b"".join(chunks)
        case Value(value):
            direction, data = "write", b""
            for path, number in numbers_of(value):
                yield Occurrence(case.format_id, direction, path, "", number)
            outcome = reference_answer(case).outcome
            if isinstance(outcome, Accepted) and outcome.data is not None:
                data = outcome.data
        case _:  # made from a recipe, or sent in steps
            return
    spans = decode_with_trace(row, data, case.effective_options).spans
    texts = {(span.space, span.start, span.end): span.path for span in spans if isinstance(span.value, bytes)}
    for span in spans:
        if isinstance(span.value, int):
            measures, text = _measures(span, texts)
            path = without_indices(span.path)
            yield Occurrence(
                case.format_id, direction, path, span.type, span.value, measures, without_indices(text)
            )


def _measures(span: FieldSpan, texts: Mapping[tuple[str, int, int], str]) -> tuple[str, str]:
    """Return what a number measures, and the path of the text if it is the length of one."""
    if span.cover is None or span.cover.kind not in ("length", "count"):
        return "", ""
    text = texts.get((span.space, span.cover.start, span.cover.end))
    return ("bytes", text) if text is not None and not span.cover.bias else (span.cover.kind, "")


def numbers_of(value: Json, path: str = "") -> Iterator[tuple[str, int]]:
    """Yield the path and the number of each leaf of a value that is one."""
    match value:
        case dict():
            for key, part in value.items():
                yield from numbers_of(part, f"{path}.{key}" if path else key)
        case list():
            for part in value:
                yield from numbers_of(part, f"{path}[]")
        # The greatest number of 128 bits has so many digits with its sign; a longer text is a payload.
        case str() if len(value) <= 40 and re.fullmatch("-?[0-9]+", value):
            yield path, int(value)


def text_sizes(value: Json, path: str = "") -> Iterator[tuple[str, int]]:
    """Yield the path and the bytes of each hex text of a value.

    A list in a list is a row of a map: a trace calls its two parts `key` and `value`.
    """
    match value:
        case dict():
            for key, part in value.items():
                yield from text_sizes(part, f"{path}.{key}" if path else key)
        case [key, part] if path.endswith("[]"):
            yield from ((f"{path}.key", size) for _, size in text_sizes(key))
            yield from ((f"{path}.value", size) for _, size in text_sizes(part))
        case list():
            for part in value:
                yield from text_sizes(part, f"{path}[]")
        case str() if re.fullmatch("(?:[0-9a-f]{2})*", value):
            yield path, len(value) // 2


@frozen
class StateTable:
    """The cells of some formats, each with the ids of its cases, and with its reason if it has one."""

    filled: Mapping[Cell, tuple[str, ...]]
    reasons: Mapping[Cell, Unfilled]
    types: Mapping[tuple[str, str], NumberType]

    def open(self) -> list[Cell]:
        """Return the cells with neither a case nor a reason, in order."""
        return sorted(cell for cell, ids in self.filled.items() if not ids and cell not in self.reasons)


def state_table(suite: Suite) -> StateTable:
    """Return the table of the golden cases of a suite; raise `FixtureError` for a wrong `states.toml`."""
    notes = read_notes(note_files(suite))
    occurrences = [
        (case, number) for case in suite.cases if case.format_id in FORMATS for number in _occurrences(case)
    ]
    types, measures = _types([number for _, number in occurrences], notes)
    written = {
        (number.format_id, number.path)
        for _, number in occurrences
        if not number.type and number.direction == "write" and not is_computed(number.format_id, number.path)
    }
    encoded = {format_id for format_id, _ in written}
    filled: dict[Cell, list[str]] = {}
    for key, kind in types.items():
        for direction, states in _states(kind, measures.get(key, ""), key in written, key[0] in encoded):
            filled |= {Cell(key[0], direction, key[1], state): [] for state in states}
    lengths = {
        (number.format_id, number.text): number for _, number in occurrences if number.measures == "bytes"
    }
    occurrences += [  # a text that is refused for its size, empty or too long
        (case, evolve(lengths[case.format_id, path], direction="write", value=size))
        for case in suite.cases
        if isinstance(case.input, Value) and isinstance(case.expect, Reject)
        for path, size in text_sizes(case.input.value)
        if size != 1 and (case.format_id, path) in lengths
    ]
    for case, number in occurrences:
        number_type = types.get((number.format_id, number.path))
        accepted = isinstance(case.expect, Accept)
        for state in _states_of(number.value, number_type, accepted=accepted) if number_type else ():
            cell = Cell(number.format_id, number.direction, number.path, state)
            if cell in filled and case.id not in filled[cell]:
                filled[cell].append(case.id)
    cells = {cell: tuple(ids) for cell, ids in filled.items()}
    return StateTable(cells, _reasons(notes, cells), types)


def is_computed(format_id: str, path: str) -> bool:
    """Return whether a writer computes a number, or what it stands in: it ignores the one of the value."""
    steps = set(path.replace("[]", "").split("."))
    row = FORMATS[format_id]
    same = (fmt.layout for fmt in FORMATS.values() if fmt.value is row.value)  # a JSON body has no layout
    layout = row.layout or next(filter(None, same), None)
    values = (part.value for part in all_layouts(layout))
    return any(steps & set(computed_fields().get(value, ())) for value in values if value is not None)


def _types(
    occurrences: Sequence[Occurrence], notes: StateNotes
) -> tuple[dict[tuple[str, str], NumberType], dict[tuple[str, str], str]]:
    """Return the type of each number, and what the numbers measure that do, or `computed`.

    The keys are the format id and the path of a field.
    """
    types: dict[tuple[str, str], NumberType] = {}
    measures: dict[tuple[str, str], str] = {}
    for number in sorted(occurrences, key=lambda number: not number.type):  # what a trace has is not computed
        key = (number.format_id, number.path)
        if (key in types and not number.type) or is_of_another(notes, *key):
            continue
        # A number of a value that no trace has is `computed` from others: only the notes have its type.
        rows = (row for row in notes.types if (row.computed or row.value) is not bool(number.type))
        fits = (row for row in rows if _any(row.formats, key[0]) and _any(row.paths, key[1]))
        row = next(fits, None)
        kind = NUMBERS.get(row.type if row else number.type)
        if kind is None:  # its field has no states of its own
            continue
        types.setdefault(key, kind)
        if number.measures or (row and row.computed):
            measures[key] = number.measures or "computed"
    return types, measures


def is_of_another(notes: StateNotes, format_id: str, path: str) -> bool:
    """Return whether a part of a format is that of another number, which has its states."""
    return any(_any(row.formats, format_id) and _any(row.paths, path) for row in notes.same)


def _any(patterns: tuple[str, ...], text: str) -> bool:
    return _expression(patterns).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _expression(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Return the expression of any of some patterns, in which `*` stands for any text."""
    texts = (".*".join(re.escape(piece) for piece in pattern.split("*")) for pattern in patterns)
    return re.compile("|".join(texts) or "(?!)")


def _states(
    kind: NumberType, measures: str, is_written: bool, encoded: bool
) -> Iterator[tuple[Direction, Sequence[str]]]:
    """Yield the states of a number to read and to write; a length has no bytes that differ, but sizes."""
    edges = tuple(kind.edges())
    if measures == "computed":
        yield "read", ("distinct",)
        return
    if measures:
        yield "read", (*edges, "one", "wide")
        if measures == "bytes" and encoded:
            yield "write", ("zero", "one", "wide")
        return
    states = (*edges, "distinct") if kind.bits > 8 else edges
    yield "read", states
    if is_written:
        yield "write", states


def _states_of(value: int, kind: NumberType, *, accepted: bool) -> Iterator[str]:
    """Yield the states that a value is in; bytes that differ show nothing where the input is refused."""
    yield from (name for name, edge in kind.edges().items() if value == edge)
    if value == 1:
        yield "one"
    if (kind.wide or (128 if kind.bits == 8 else 256)) <= value < 1 << 20:
        yield "wide"
    size = -(-kind.bits // 8)
    if accepted and 0 <= value < 1 << kind.bits:
        data = set(value.to_bytes(size, "big"))
        if len(data) == size and 0 not in data:  # a byte of 0 would not be missed
            yield "distinct"


def _reasons(notes: StateNotes, cells: Iterable[Cell]) -> dict[Cell, Unfilled]:
    return {
        cell: row
        for cell in cells
        for row in notes.unfilled
        if cell.path == row.path
        and cell.direction in row.directions
        and cell.state in row.states
        and _any(row.formats, cell.format_id)
    }


@frozen
class StateCounts:
    """The cells of a format or of all, those with a case, those with a reason instead, and the others."""

    cells: int
    covered: int
    reasons: int

    @classmethod
    def of(cls, table: StateTable, cells: Sequence[Cell]) -> "StateCounts":
        empty = [cell for cell in cells if not table.filled[cell]]
        return cls(len(cells), len(cells) - len(empty), sum(cell in table.reasons for cell in empty))

    def __str__(self) -> str:
        left = self.cells - self.covered - self.reasons
        return (
            f"{self.cells} edge values of numbers, {self.covered} with a case, "
            f"{self.reasons} with a reason, {left} open"
        )


def counts_by_format(table: StateTable) -> dict[str, StateCounts]:
    found: dict[str, list[Cell]] = {}
    for cell in sorted(table.filled):
        found.setdefault(cell.format_id, []).append(cell)
    return {name: StateCounts.of(table, cells) for name, cells in found.items()}


def count_lines(table: StateTable) -> Iterator[str]:
    rows = counts_by_format(table)
    yield from (f"states of {name}: {row}" for name, row in rows.items())
    yield f"states of {counted(len(rows), 'format')}: {StateCounts.of(table, [*table.filled])}"


def state_problems(table: StateTable, suite: Suite) -> Iterator[Problem]:
    """Yield each cell without case and reason, each format with too many reasons, and each wrong reason.

    A reason is wrong if it is not needed, or if a citation of it does not resolve.
    """
    for cell in table.open():
        place = f"{cell.path} {cell.state} to {cell.direction}"
        yield Problem(cell.format_id, f"no case has {place}, and no reason is given")
    for name, row in counts_by_format(table).items():
        if row.reasons > 0.05 * row.cells:
            text = f"{row.reasons} of {row.cells} edge values have a reason in place of a case"
            yield Problem(name, f"{text}, more than 5%")
    for cell, reason in table.reasons.items():
        if table.filled[cell]:
            yield Problem(
                STATES_FILE, f"{cell} has a case, {table.filled[cell][0]}: its reason is not needed"
            )
        for fault in resolve_all(reason.cites, suite.sources)[1]:
            yield Problem(STATES_FILE, f"{cell.path}: {fault}")

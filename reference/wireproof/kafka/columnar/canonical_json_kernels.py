"""Numba kernels that write entries as canonical JSON, from the records that `kernels` found.

A program is a range of rows of `ops`: each writes a text and, after it, a value. The entries were judged
before, so nothing is checked. `canonical_digest` allocates `out` with room for the longest possible JSON.
"""

from typing import Final, NamedTuple

from wireproof.columnar.basic_kernels import ONE, ZERO, Array, Int, Octets, Pos, Row, U
from wireproof.columnar.optional_deps import compile_kernel, np

TEXT, ENTRY, RECORD, KEY, VALUE, HEADERS = range(6)
"""The value that an op writes after its text: none, a number of entry or record, bytes, record headers."""

DIGITS: Final = 20
"""Characters of the longest number: the least 64-bit integer, with its sign."""

HEX: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
NULL: Final = np.frombuffer(b"null", np.uint8)
QUOTE, COMMA, OPEN, CLOSE, MINUS, NOUGHT = b'",[]-0'
TEN, LOW4, FOUR = U(10), U(15), U(4)


class RecordArrays(NamedTuple):
    """The records of a block, as the kernels read them.

    Attributes:
        wire, arena: buffer and decompressed bytes; a position from the size of `wire` on is in `arena`.
        slots: rows of `SLOT`.
        numbers: int64, one row for each record.
        header_at, header_length: of all record headers, keys in row 0 and values in row 1.
        header_end: for each record, the number of headers up to its end.
    """

    wire: Octets
    arena: Octets
    slots: Row
    numbers: Array
    header_at: Array
    header_length: Array
    header_end: Array


class JsonPrograms(NamedTuple):
    """The programs that write entries as JSON.

    Attributes:
        text: all texts, one after another.
        ops: int64, rows of kind, column of a number, start and end of the text.
        parts: int64, one row for each shape: the starts of its three programs and the end of the last. They
            write the text before the records, one record, and the text after the records.
    """

    text: Octets
    ops: Array
    parts: Array


@compile_kernel
def write_entries(
    records: RecordArrays,
    entries: Array,
    shapes: Array,
    stops: Array,
    programs: JsonPrograms,
    out: Octets,
    ends: Array,
) -> None:
    """Write every entry that has a shape.

    Args:
        records: the records of all the entries.
        entries: int64, one row of numbers for each entry.
        shapes: for each entry, a row of `programs.parts`; an entry with a negative shape is left out.
        stops: for each entry, the number of records up to its end.
        programs: the programs of all shapes.
        out: receives the JSON.
        ends: receives the end of each entry in `out`.
    """
    at, first = ZERO, 0
    for index in range(shapes.size):
        shape = shapes[index]
        if shape >= 0:
            parts, entry = programs.parts[shape], entries[index]
            before = programs.ops[parts[0] : parts[1]]
            each = programs.ops[parts[1] : parts[2]]
            after = programs.ops[parts[2] : parts[3]]
            at = run_program(records, entry, -1, programs.text, before, out, at)
            stop = stops[index] if each.size else first  # records that are not shown get no commas
            for record in range(first, stop):
                if record > first:
                    out[at] = COMMA
                    at += ONE
                at = run_program(records, entry, record, programs.text, each, out, at)
            at = run_program(records, entry, -1, programs.text, after, out, at)
        ends[index] = at
        first = stops[index]


@compile_kernel
def run_program(
    records: RecordArrays, entry: Array, record: Int, text: Octets, ops: Array, out: Octets, at: Pos
) -> Pos:
    """Run one program and return the end of its output."""
    for row in range(ops.shape[0]):
        kind, column = ops[row, 0], ops[row, 1]
        for place in range(U(ops[row, 2]), U(ops[row, 3])):
            out[at] = text[place]
            at += ONE
        if kind == ENTRY:
            at = write_number(entry[column], out, at)
        elif kind == RECORD:
            at = write_number(records.numbers[record, column], out, at)
        elif kind == KEY:
            slot = records.slots[record]
            at = write_octets(records, slot.key_at, slot.key_length, out, at)
        elif kind == VALUE:
            slot = records.slots[record]
            at = write_octets(records, slot.value_at, slot.value_length, out, at)
        elif kind == HEADERS:
            at = write_headers(records, record, out, at)
    return at


@compile_kernel
def write_number(value: Int, out: Octets, at: Pos) -> Pos:
    """Write an integer in decimal digits and return the end."""
    rest = U(value)
    if value < 0:
        out[at] = MINUS
        at += ONE
        rest = ZERO - rest
    size, quotient = ONE, rest // TEN
    while quotient > ZERO:
        size += ONE
        quotient //= TEN
    place = at + size
    for _ in range(size):
        place -= ONE
        out[place] = U(NOUGHT) + rest % TEN
        rest //= TEN
    return at + size


@compile_kernel
def write_octets(records: RecordArrays, start: Pos, length: Int, out: Octets, at: Pos) -> Pos:
    """Write bytes in hex and quotes, or null for a negative length, and return the end."""
    if length < 0:
        for place in range(4):
            out[at + U(place)] = NULL[place]
        return at + FOUR
    out[at] = QUOTE
    size = U(records.wire.size)
    if start < size:
        at = write_hex(records.wire, start, U(length), out, at + ONE)
    else:
        at = write_hex(records.arena, start - size, U(length), out, at + ONE)
    out[at] = QUOTE
    return at + ONE


@compile_kernel
def write_hex(data: Octets, start: Pos, length: Pos, out: Octets, at: Pos) -> Pos:
    """Write bytes in hex and return the end."""
    for step in range(length):
        byte = U(data[start + step])
        out[at + step + step] = HEX[byte >> FOUR]
        out[at + step + step + ONE] = HEX[byte & LOW4]
    return at + length + length


@compile_kernel
def write_headers(records: RecordArrays, record: Int, out: Octets, at: Pos) -> Pos:
    """Write the list of the headers of a record and return the end."""
    last = records.header_end[record]
    first = last - records.slots[record].headers
    out[at] = OPEN
    at += ONE
    for place in range(first, last):
        if place > first:
            out[at] = COMMA
            at += ONE
        out[at] = OPEN
        at = write_octets(
            records, records.header_at[0, place], records.header_length[0, place], out, at + ONE
        )
        out[at] = COMMA
        at = write_octets(
            records, records.header_at[1, place], records.header_length[1, place], out, at + ONE
        )
        out[at] = CLOSE
        at += ONE
    out[at] = CLOSE
    return at + ONE

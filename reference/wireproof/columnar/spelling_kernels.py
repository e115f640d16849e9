"""The canonical spelling of the JSON of entries, from the records that `kernels` found. Compiled by numba.

A program is a run of rows of `ops`: a text, and what is put behind it. Everything was judged before; here it
is only written down. The room was measured before too: `out` holds the longest spelling that there can be.
"""

from typing import Final, NamedTuple

from wireproof.columnar.extra import compiled, np
from wireproof.columnar.kernels import ONE, ZERO, Array, Int, Octets, Pos, Row, U

TEXT, ENTRY, RECORD, KEY, VALUE, HEADERS = range(6)
"""What an op puts behind its text: nothing, a number of the entry or of the record, bytes, pairs of bytes."""

DIGITS: Final = 20
"""Characters of the longest number: the least of 64 bits, with its sign."""

HEX: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
NULL: Final = np.frombuffer(b"null", np.uint8)
QUOTE, COMMA, OPEN, CLOSE, MINUS, NOUGHT = b'",[]-0'
TEN, LOW4, FOUR = U(10), U(15), U(4)


class Records(NamedTuple):
    """The records of a wave, as the kernels read them.

    Attributes:
        wire, arena: the two spaces of bytes; a position from the size of `wire` on is one of `arena`.
        slots: rows of `SLOT`.
        numbers: int64, a row a record.
        header_at, header_length: of all headers, keys in row 0 and values in row 1.
        header_end: of each record, how many headers there are by its end.
    """

    wire: Octets
    arena: Octets
    slots: Row
    numbers: Array
    header_at: Array
    header_length: Array
    header_end: Array


class Programs(NamedTuple):
    """How entries are spelled.

    Attributes:
        text: all texts, one behind another.
        ops: int64, rows of kind, column of a number, beginning and end of the text.
        parts: int64, a row a shape: where its three programs begin, and the end of the last: of what stands
            before the records, of a record, of what stands behind them.
    """

    text: Octets
    ops: Array
    parts: Array


@compiled
def spell(
    records: Records,
    entries: Array,
    shapes: Array,
    stops: Array,
    programs: Programs,
    out: Octets,
    ends: Array,
) -> None:
    """Spell every entry whose shape there is.

    Args:
        records: of all the entries.
        entries: int64, a row of numbers an entry.
        shapes: of each entry, a row of `programs.parts`; a negative one is not spelled.
        stops: how many records there are by the end of each entry.
        programs: how.
        out: is written.
        ends: where the spelling of each ends.
    """
    at, first = ZERO, 0
    for index in range(shapes.size):
        shape = shapes[index]
        if shape >= 0:
            parts, entry = programs.parts[shape], entries[index]
            before = programs.ops[parts[0] : parts[1]]
            inside = programs.ops[parts[1] : parts[2]]
            behind = programs.ops[parts[2] : parts[3]]
            at = run(records, entry, -1, programs.text, before, out, at)
            stop = stops[index] if inside.size else first  # records that nobody sees are no list
            for record in range(first, stop):
                if record > first:
                    out[at] = COMMA
                    at += ONE
                at = run(records, entry, record, programs.text, inside, out, at)
            at = run(records, entry, -1, programs.text, behind, out, at)
        ends[index] = at
        first = stops[index]


@compiled
def run(records: Records, entry: Array, record: Int, text: Octets, ops: Array, out: Octets, at: Pos) -> Pos:
    """One program; where its spelling ends."""
    for row in range(ops.shape[0]):
        kind, column = ops[row, 0], ops[row, 1]
        for place in range(U(ops[row, 2]), U(ops[row, 3])):
            out[at] = text[place]
            at += ONE
        if kind == ENTRY:
            at = number(entry[column], out, at)
        elif kind == RECORD:
            at = number(records.numbers[record, column], out, at)
        elif kind == KEY:
            slot = records.slots[record]
            at = octets(records, slot.key_at, slot.key_length, out, at)
        elif kind == VALUE:
            slot = records.slots[record]
            at = octets(records, slot.value_at, slot.value_length, out, at)
        elif kind == HEADERS:
            at = headers(records, record, out, at)
    return at


@compiled
def number(value: Int, out: Octets, at: Pos) -> Pos:
    """An integer in decimal digits."""
    left = U(value)
    if value < 0:
        out[at] = MINUS
        at += ONE
        left = ZERO - left
    size, rest = ONE, left // TEN
    while rest > ZERO:
        size += ONE
        rest //= TEN
    place = at + size
    for _ in range(size):
        place -= ONE
        out[place] = U(NOUGHT) + left % TEN
        left //= TEN
    return at + size


@compiled
def octets(records: Records, start: Pos, length: Int, out: Octets, at: Pos) -> Pos:
    """Bytes in hex and quotes; null for a negative length."""
    if length < 0:
        for place in range(4):
            out[at + U(place)] = NULL[place]
        return at + FOUR
    out[at] = QUOTE
    size = U(records.wire.size)
    if start < size:
        at = hexed(records.wire, start, U(length), out, at + ONE)
    else:
        at = hexed(records.arena, start - size, U(length), out, at + ONE)
    out[at] = QUOTE
    return at + ONE


@compiled
def hexed(data: Octets, start: Pos, length: Pos, out: Octets, at: Pos) -> Pos:
    """Bytes in hex."""
    for step in range(length):
        byte = U(data[start + step])
        out[at + step + step] = HEX[byte >> FOUR]
        out[at + step + step + ONE] = HEX[byte & LOW4]
    return at + length + length


@compiled
def headers(records: Records, record: Int, out: Octets, at: Pos) -> Pos:
    """The list of the pairs of a record."""
    last = records.header_end[record]
    first = last - records.slots[record].headers
    out[at] = OPEN
    at += ONE
    for place in range(first, last):
        if place > first:
            out[at] = COMMA
            at += ONE
        out[at] = OPEN
        at = octets(records, records.header_at[0, place], records.header_length[0, place], out, at + ONE)
        out[at] = COMMA
        at = octets(records, records.header_at[1, place], records.header_length[1, place], out, at + ONE)
        out[at] = CLOSE
        at += ONE
    out[at] = CLOSE
    return at + ONE

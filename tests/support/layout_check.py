"""A check of the trace of a decode against the bytes that were decoded.

`explain`, damage and the derived families rely on the trace. The check compares it with the bytes, with
checksums that are computed apart from the codecs, and with the value that a fixture expects.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, Final

from wireproof.cases.case import Accept, Case, Data, Value
from wireproof.formats import FORMATS
from wireproof.wire import checksums
from wireproof.wire.reader import FIXED, Budget, TracingReader
from wireproof.wire.rejected import At, Rejected
from wireproof.wire.trace import Span
from wireproof.wire.values import DECIMAL, HEX, Json, from_json
from wireproof.wire.writer import MASK64, TracingWriter

SUMS: Final[dict[str, Callable[[bytes], int]]] = {
    "crc32": checksums.crc32,
    "crc32c": checksums.crc32c,
    "iggy-batch": checksums.iggy_batch,
    "xxh3-64": checksums.xxh3_64,
    "xxh32": checksums.xxh32,
    "xxh32-hc": checksums.lz4_header_byte,
}
"""What each kind of checksum makes of the bytes it covers."""

UNTOLD: Final = re.compile(
    r"(.*[oO]ffset|.*\.timestamp|timestamp"  # Kafka: relative on the wire, absolute in the value
    r"|.*\.control\..*"  # Kafka: the parts of a control record's key and value
    r"|.*headers\[\d+\]\[[01]\].*"  # Kafka and Iggy: pairs in the value, names in the trace
    r"|.*\.signer|.*value_\w+\[\d+\]|(.*\.)?(pid|severity)"  # Heka: from the header, packed, 64 bits for 32
    r"|(.*\.)?messages\[\d+\]\.(id|origin_timestamp)"  # Iggy: numbers of JSON; a delta in batches
    r"|batches\[\d+\]\.message_count)"  # Iggy: how many there are, not how many are said to be
)
"""Leaves of values that no field of the wire has the name and the value of."""

NOWHERE: Final = -1
"""The position of a refusal to encode: `Rejected.at`."""

JSON: Final = "iggy.json."
"""The formats whose bytes between fields say nothing, and whose fields hold positions within."""

PEEKED: Final = ("size", "magic")
"""Fields of Kafka's entries that are looked at before the entry is read, so they may not be there yet."""


def untrue(case: Case) -> Iterator[str]:
    """What the layout of a decode or of an encode gets wrong, in words; nothing of a scan."""
    if isinstance(case.input, Value):
        yield from _written(case, case.input.value)
    if not isinstance(case.input, Data):
        return
    reader = TracingReader(case.input.data, budget=Budget(case.options.max_output))
    marks: list[Rejected] = []
    try:
        FORMATS[case.joined].decode(reader, case.held_to)
    except Rejected as rejected:
        marks.append(rejected)
    else:
        yield from _accepted(case, reader)
    if not case.format.startswith(JSON):
        yield from _pointed(marks, reader)
    yield from _noted(reader)
    yield from _numbered(reader.spans)
    yield from _opened(reader)
    yield from _held(reader.spans)


def _written(case: Case, value: Json) -> Iterator[str]:
    row, writer = FORMATS[case.joined], TracingWriter()
    try:
        row.encode(writer, from_json(row.value, value), case.held_to)
    except Rejected as refused:
        if refused.at != NOWHERE:
            yield f"a refusal to encode points to {refused.at}, where there are no bytes"
        return
    wire, data = [span for span in writer.spans if not span.space], bytes(writer.data)
    yield from _fields(wire, data)
    yield from _covers(wire, data)
    if not case.format.startswith(JSON):
        yield from _gaps(wire, len(data))


def _accepted(case: Case, reader: TracingReader) -> Iterator[str]:
    wire = [span for span in reader.spans if not span.space]
    opened = {remark.path for remark in reader.remarks}
    yield from _fields(wire, reader.data)
    yield from _covers([span for span in wire if span.path not in opened], reader.data[: reader.pos])
    yield from (wrong for path, wrong in _counts(reader.spans) if not {path, "messages"} & opened)
    if isinstance(case.expect, Accept) and case.options.isolation == "read_uncommitted":
        yield from _leaves(reader.spans, case.expect.value) if case.options.fetch_offset is None else ()
    if not case.format.startswith(JSON):
        yield from _gaps(wire, reader.pos)


def _pointed(marks: Iterable[Rejected], reader: TracingReader) -> Iterator[str]:
    """A refusal of a field that was read stands at an edge of a field."""
    edges, named = {reader.at(0), reader.at(len(reader.data))}, set[str]()
    for span in reader.spans:
        edges |= {span.at, f"{span.space}{span.end}" if span.space else span.end}
        named.add(span.path)
    for mark in marks:
        if mark.path in named and mark.at not in edges and not mark.path.endswith(PEEKED):
            yield f"{mark.cls} of {mark.path} points to {mark.at}, where no field begins or ends"


def _noted(reader: TracingReader) -> Iterator[str]:
    """A remark stands at the start of the field that it names, or of a part; in JSON, of a text or list."""
    json = any(span.type == "json" for span in reader.spans)
    texts = {found.start() for found in re.finditer(rb'["\[{]', reader.data)} if json else set[At]()
    starts: dict[str, set[At]] = {}
    for span in reader.spans:
        for path in _around(span.path):
            starts.setdefault(path, set()).add(span.at)
    for remark in reader.remarks:
        if remark.path in starts and remark.at not in starts[remark.path] | texts:
            yield f"{remark.cls} of {remark.path} points to {remark.at}, where it does not begin"


def _around(path: str) -> Iterator[str]:
    """The path of a field, and those of all that it is a part of."""
    yield path
    for cut in re.finditer(r"[.\[]", path):
        yield path[: cut.start()]


def _numbered(spans: Iterable[Span]) -> Iterator[str]:
    """The elements of a list are numbered from 0 on, in the order in which they stand."""
    lists: dict[str, list[int]] = {}
    for span in spans:
        for found in re.finditer(r"\[(\d+)\]", span.path):
            told, number = lists.setdefault(span.path[: found.start()], []), int(found[1])
            if number not in told[-1:]:
                told.append(number)
    for path, numbers in lists.items():
        if list(dict.fromkeys(numbers)) != list(range(len(set(numbers)))):
            yield f"the elements of {path} are numbered {numbers}"


def _opened(reader: TracingReader) -> Iterator[str]:
    """An inner space is named after the place where its bytes begin: a field, or the letters of a text."""
    starts = {span.at if span.space else str(span.at) for span in reader.spans}
    quotes = {str(span.start + 1) for span in reader.spans if span.type == "base64"}
    for space in {span.space.removesuffix(">") for span in reader.spans if span.space}:
        if space not in (quotes or starts):
            yield f"a space is said to be opened at {space}, where no field begins"


def _held(spans: Iterable[Span]) -> Iterator[str]:
    """A length that is named after the bytes behind it covers them: damage edits the two together."""
    for length, data in pairwise(spans):
        named = length.path in (f"{data.path}{suffix}" for suffix in ("Length", "_len", "_length"))
        if (length.value, length.cover) != (data.end - data.start, None) or length.space != data.space:
            continue  # KRaft's lengths are one too high, and are told by the codec itself
        if named and data.type == "bytes":
            yield f"{length.path} covers nothing"


def _fields(spans: Iterable[Span], data: bytes) -> Iterator[str]:
    """Integers of fixed width, unsigned varints and runs of bytes are what stands there."""
    for span in spans:
        there = data[span.start : span.end]
        if span.type in FIXED:
            order: Any = "little" if span.type.endswith("le") else "big"
            if int.from_bytes(there, order, signed=span.type.startswith("int")) != span.value:
                yield f"{span.path} is not {span.value}"
        elif span.type == "uvarint" and _base128(there) != span.value & MASK64:
            yield f"{span.path} is not {span.value}"
        elif span.type == "bytes" and there != span.value:
            yield f"{span.path} are not the bytes there"


def _base128(data: bytes) -> int:
    """An unsigned varint of 64 bits; a writer has negative ones as their two's complement."""
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(data)) & MASK64


def _covers(spans: Iterable[Span], data: bytes) -> Iterator[str]:
    """A length is that of the range it covers, a checksum is of that range."""
    for span in spans:
        cover = span.cover
        if cover is None or span.start >= len(data):  # a torn tail may speak of bytes that are still to come
            continue
        if not 0 <= cover.start <= cover.end:
            yield f"{span.path} covers {cover.start} to {cover.end}"
        elif cover.kind == "length" and span.value != cover.end - cover.start + cover.bias:
            yield f"{span.path} is not the length of {cover.start} to {cover.end}"
        elif cover.kind in SUMS and SUMS[cover.kind](data[cover.start : cover.end]) != span.value:
            yield f"{span.path} is no {cover.kind} of {cover.start} to {cover.end}"


def _counts(spans: list[Span]) -> Iterator[tuple[str, str]]:
    """A count is that of the elements in the range it covers, which they fill; the path, and the words."""
    for span in spans:
        cover = span.cover
        if cover is None or cover.kind != "count":
            continue
        scope = span.path.rpartition(".")[0]
        found = [part for part in _elements(spans, scope, span.space) if part[1] >= cover.start]
        if found and (
            len({number for number, _, _ in found}) != span.value
            or min(start for _, start, _ in found) != cover.start
            or max(end for _, _, end in found) != cover.end
        ):
            yield span.path, f"{span.path} is not the count of {cover.start} to {cover.end}"


def _elements(spans: Iterable[Span], scope: str, space: str) -> Iterator[tuple[str, int, int]]:
    """Index, start and end of the spans that lie in an element of a list of `scope`."""
    head = re.compile(rf"{re.escape(scope)}{'[.]' if scope else ''}\w+\[(\d+)\]")
    for span in spans:
        inside = head.match(span.path)
        if inside and span.space == space:
            yield inside[1], span.start, span.end


def _leaves(spans: Iterable[Span], value: Json) -> Iterator[str]:
    """Numbers and bytes of the value stand in the trace, under their own path."""
    told = {span.path: span.value for span in spans}
    for path, leaf in leaves(value):
        if not isinstance(leaf, str) or not re.fullmatch(f"{DECIMAL}|{HEX}", leaf) or UNTOLD.fullmatch(path):
            continue
        if path not in told:
            yield f"nothing is called {path}"
        elif _shown(told[path]) != leaf:
            yield f"{path} is {_shown(told[path])}, not {leaf}"


def _shown(value: object) -> object:
    return bytes(value).hex() if isinstance(value, bytes | bytearray) else str(value)


def leaves(value: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """Every leaf of a value with its path, as `records[0].key`."""
    match value:
        case dict():
            for key, part in value.items():
                yield from leaves(part, f"{path}.{key}" if path else key)
        case list():
            for number, part in enumerate(value):
                yield from leaves(part, f"{path}[{number}]")
        case _:
            yield path, value


def _gaps(spans: Iterable[Span], consumed: int) -> Iterator[str]:
    """Every byte that was consumed lies in a field."""
    at = 0
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.start > at:
            break
        at = max(at, span.end)
    if at < consumed:
        yield f"no field holds byte {at} of {consumed}"

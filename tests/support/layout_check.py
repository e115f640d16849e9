"""A check of the trace of a decode against the bytes that were decoded.

`explain`, damage and the derived families rely on the trace. The check compares it with the bytes, with
checksums that are computed apart from the codecs, and with the value that a fixture expects.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from wireproof.cases.case import Accept, Case, Data, Value
from wireproof.cases.observable_fields import observed_tree
from wireproof.formats import FORMATS, trace_with_reader
from wireproof.iggy.checksums import batch_checksum
from wireproof.wire import checksums
from wireproof.wire.json_values import DECIMAL_PATTERN, HEX_PATTERN, Json, from_json
from wireproof.wire.observed_fields import project
from wireproof.wire.reader import FIXED_WIDTH, Budget, TracingReader
from wireproof.wire.rejection import Position, Rejected
from wireproof.wire.trace import FieldSpan
from wireproof.wire.writer import MASK64, TracingWriter

CHECKSUMS: Final[dict[str, Callable[[bytes], int]]] = {
    "crc32": checksums.crc32,
    "crc32c": checksums.crc32c,
    "iggy-batch": batch_checksum,
    "xxh3-64": checksums.xxh3_64,
    "xxh32": checksums.xxh32,
    "xxh32-hc": checksums.lz4_header_checksum,
}
"""The function of each kind of checksum."""

NOT_IN_TRACE: Final = re.compile(
    r"(.*[oO]ffset|.*\.timestamp|timestamp"  # Kafka: relative on the wire, absolute in the value
    r"|.*\.control\..*"  # Kafka: the parts of a control record's key and value
    r"|.*headers\[\d+\]\[[01]\].*"  # Kafka and Iggy: pairs in the value, names in the trace
    r"|.*\.signer|.*value_\w+\[\d+\]|(.*\.)?(pid|severity)"  # Heka: from the header, packed, 64 bits for 32
    r"|(.*\.)?messages\[\d+\]\.(id|origin_timestamp)"  # Iggy: numbers of JSON; a delta in batches
    r"|batches\[\d+\]\.message_count"  # Iggy: how many there are, not how many are said to be
    r"|producer\..*)"  # Iggy: of a send, whose trace has it in the header of the batch
)
"""Paths of leaves of a value that have no field with the same path and value in the bytes."""

NOWHERE: Final = -1
"""The position of the rejection of a value to encode: `Rejected.at`."""

JSON: Final = "iggy.json."
"""The formats in which bytes between the fields have no meaning, and fields contain positions."""

TABLES: Final = ("sections_count",)
"""Counts of a table whose elements go on after it: the batches of the sections of an Iggy fetch reply."""


def layout_errors(case: Case) -> Iterator[str]:
    """Yield one line for each error in the layout of the decode or encode of a case; none for a scan."""
    if isinstance(case.input, Value):
        yield from _check_encode(case, case.input.value)
    if not isinstance(case.input, Data):
        return
    reader = TracingReader(case.input.data, budget=Budget(case.options.max_output))
    if trace_with_reader(FORMATS[case.format_id], reader, case.effective_options).rejected is None:
        yield from _check_accepted(case, reader)
    yield from _check_remarks(reader)


def _check_encode(case: Case, value: Json) -> Iterator[str]:
    row, writer = FORMATS[case.format_id], TracingWriter()
    try:
        row.encode(writer, from_json(row.value, value), case.effective_options)
    except Rejected as refused:
        if refused.at != NOWHERE:
            yield f"a refusal to encode points to {refused.at}, where there are no bytes"
        return
    wire, data = [span for span in writer.spans if not span.space], bytes(writer.data)
    yield from _check_fields(wire, data)
    yield from _check_covers(wire, data)
    if not case.format.startswith(JSON):
        yield from _check_gaps(wire, len(data))


def _check_accepted(case: Case, reader: TracingReader) -> Iterator[str]:
    wire = [span for span in reader.spans if not span.space]
    opened = {remark.path for remark in reader.remarks}
    yield from _check_fields(wire, reader.data)
    yield from _check_covers([span for span in wire if span.path not in opened], reader.data[: reader.pos])
    yield from (wrong for path, wrong in _check_counts(reader.spans) if not {path, "messages"} & opened)
    stored = case.options.topic is not None  # the value is the log that a broker stores, not these bytes
    if isinstance(case.expect, Accept) and case.options.isolation == "read_uncommitted" and not stored:
        # derived fields have no place in the bytes
        value = project(case.expect.value, observed_tree(case.format_id, ()))
        yield from _check_leaves(reader.spans, value) if case.options.fetch_offset is None else ()
    if not case.format.startswith(JSON):
        yield from _check_gaps(wire, reader.pos)


def _check_remarks(reader: TracingReader) -> Iterator[str]:
    """Check that a remark points to the start of its field or of a part; in JSON, of a string or list."""
    json = any(span.type == "json" for span in reader.spans)
    texts = {found.start() for found in re.finditer(rb'["\[{]', reader.data)} if json else set[Position]()
    starts: dict[str, set[Position]] = {}
    for span in reader.spans:
        for path in _enclosing(span.path):
            starts.setdefault(path, set()).add(span.at)
    for remark in reader.remarks:
        if remark.path in starts and remark.at not in starts[remark.path] | texts:
            yield f"{remark.cls} of {remark.path} points to {remark.at}, where it does not begin"


def _enclosing(path: str) -> Iterator[str]:
    """Yield the path of a field and the paths of everything that contains it."""
    yield path
    for cut in re.finditer(r"[.\[]", path):
        yield path[: cut.start()]


def _check_fields(spans: Iterable[FieldSpan], data: bytes) -> Iterator[str]:
    """Check integers of fixed width, unsigned varints and byte strings against the bytes."""
    for span in spans:
        there = data[span.start : span.end]
        if span.type in FIXED_WIDTH:
            order: Any = "little" if span.type.endswith("le") else "big"
            if int.from_bytes(there, order, signed=span.type.startswith("int")) != span.value:
                yield f"{span.path} is not {span.value}"
        elif span.type == "uvarint":
            # A negative one is in two's complement; a reader of 32 bits drops the bits above in five bytes.
            number = sum((byte & 0x7F) << 7 * place for place, byte in enumerate(there)) & MASK64
            if span.value & MASK64 not in (number, number & 0xFFFFFFFF if len(there) == 5 else number):
                yield f"{span.path} is not {span.value}"
        elif span.type == "bytes" and there != span.value:
            yield f"{span.path} are not the bytes there"


def _check_covers(spans: Iterable[FieldSpan], data: bytes) -> Iterator[str]:
    """Check each length and checksum against the range that it covers."""
    for span in spans:
        cover = span.cover
        if cover is None or span.start >= len(data):  # a cut tail may speak of bytes that are still to come
            continue
        if not 0 <= cover.start <= cover.end:
            yield f"{span.path} covers {cover.start} to {cover.end}"
        elif cover.kind == "length" and span.value != cover.end - cover.start + cover.bias:
            yield f"{span.path} is not the length of {cover.start} to {cover.end}"
        elif cover.kind in CHECKSUMS and CHECKSUMS[cover.kind](data[cover.start : cover.end]) != span.value:
            yield f"{span.path} is no {cover.kind} of {cover.start} to {cover.end}"


def _check_counts(spans: list[FieldSpan]) -> Iterator[tuple[str, str]]:
    """Check each count against the elements in the range that it covers; yield its path and the error."""
    for span in spans:
        cover = span.cover
        if cover is None or cover.kind != "count":
            continue
        scope, _, name = span.path.rpartition(".")
        own = [*_elements(spans, scope, span.space, name.removesuffix("Count"))]
        every = [part for part in own or _elements(spans, scope, span.space) if part[1] >= cover.start]
        found = [part for part in every if part[1] < cover.end] if span.path in TABLES else every
        count = span.value - cover.bias
        if count == 0 and cover.start == cover.end:  # an empty list before another one in its scope
            continue
        if found and (
            len({number for number, _, _ in every}) != count
            or len({number for number, _, _ in found}) != count
            or min(start for _, start, _ in found) != cover.start
            or max(end for _, _, end in found) != cover.end
        ):
            yield span.path, f"{span.path} is not the count of {cover.start} to {cover.end}"


def _elements(
    spans: Iterable[FieldSpan], scope: str, space: str, name: str = r"\w+"
) -> Iterator[tuple[str, int, int]]:
    """Yield index, start and end of the spans inside an element of a list of `scope`, of one name or any."""
    head = re.compile(rf"{re.escape(scope)}{'[.]' if scope else ''}{name}\[(\d+)\]")
    for span in spans:
        inside = head.match(span.path)
        if inside and span.space == space:
            yield inside[1], span.start, span.end


def _check_leaves(spans: Iterable[FieldSpan], value: Json) -> Iterator[str]:
    """Check that numbers and bytes of the value are in the trace, under their own path."""
    traced = {span.path: span.value for span in spans}
    for path, leaf in leaves(value):
        if (
            not isinstance(leaf, str)
            or not re.fullmatch(f"{DECIMAL_PATTERN}|{HEX_PATTERN}", leaf)
            or NOT_IN_TRACE.fullmatch(path)
        ):
            continue
        if path not in traced:
            yield f"nothing is called {path}"
        elif leaf not in _texts(traced[path]):
            yield f"{path} is {_texts(traced[path])[0]}, not {leaf}"


def _texts(value: object) -> tuple[str, ...]:
    """Return what a value in a trace may be in JSON; the value of a text may be its bytes."""
    if isinstance(value, str):
        return value, value.encode("utf-8", "surrogatepass").hex()
    return (bytes(value).hex() if isinstance(value, bytes | bytearray) else str(value),)


def leaves(value: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """Yield every leaf of a value with its path, such as `records[0].key`."""
    match value:
        case dict():
            for key, part in value.items():
                yield from leaves(part, f"{path}.{key}" if path else key)
        case list():
            for number, part in enumerate(value):
                yield from leaves(part, f"{path}[{number}]")
        case _:
            yield path, value


def _check_gaps(spans: Iterable[FieldSpan], consumed: int) -> Iterator[str]:
    """Check that every consumed byte is in a field."""
    at = 0
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.start > at:
            break
        at = max(at, span.end)
    if at < consumed:
        yield f"no field holds byte {at} of {consumed}"

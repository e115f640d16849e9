"""The capabilities that a codec needs for a case, derived from the fields of its bytes. Pure."""

import re
from collections.abc import Iterator
from typing import Final

from wireproof import formats
from wireproof.cases.case import Case, Data
from wireproof.formats import FORMATS, Format, TracedDecode
from wireproof.kafka import attribute_bits
from wireproof.wire.json_values import DECIMAL_PATTERN, Json
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.trace import FieldSpan

ATTRIBUTE_CAPABILITIES: Final = (
    (attribute_bits.LOG_APPEND_TIME, "feature:log-append-time"),
    (attribute_bits.TRANSACTIONAL, "feature:transactional"),
    (attribute_bits.CONTROL, "feature:control-batch"),
    (attribute_bits.DELETE_HORIZON, "feature:delete-horizon"),
)
"""Attribute bits of Kafka and the capability that they need: kafka.md §1.2."""

CODEC_NAMES: Final = {1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
"""The codecs by the number in the attribute bits: KIP-98, and KIP-110 for zstd."""

CONSUMER_CAPABILITIES: Final = frozenset({"feature:fetch-offset", "feature:read-committed"})
"""With these a consumer delivers no control batch: kafka.md §1.9."""

PARTITIONING_CAPABILITIES: Final = {
    1: "feature:partitioning-balanced",
    3: "feature:partitioning-messages-key",
    "balanced": "feature:partitioning-balanced",
    "messages_key": "feature:partitioning-messages-key",
}
"""Kinds of a partitioning that a client may lack: iggy.md §2.2; a number in bytes, a word in JSON."""


def capabilities_of_case(case: Case) -> tuple[str, ...]:
    """Return the capabilities that a decode needs by its fields; none for another op."""
    if not isinstance(case.input, Data):
        return ()
    return capabilities_of(FORMATS[case.format_id], case.input.data, case.options)


def capabilities_of(row: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> tuple[str, ...]:
    """Return the capabilities of `row` that bytes and options need, in the order of the format."""
    seen = formats.decode_with_trace(row, data, options)
    found = {*_of_spans(seen), *_of_whole(seen, data), *_of_options(options)}
    if CONSUMER_CAPABILITIES & found:
        found.discard("feature:control-batch")
    return tuple(atom for atom in row.capabilities if atom in found)


def _of_spans(seen: TracedDecode) -> Iterator[str]:
    for span in seen.spans:
        yield f"codec:{span.type}"
        if ".headers[" in span.path:
            yield "feature:headers"
        if "messages[" in span.path:
            yield "feature:wrapper"
        yield from _of_span(span, span.path.rpartition(".")[2])


def _of_span(span: FieldSpan, name: str) -> Iterator[str]:
    match name, span.value:
        case "attributes", int(flags) if not span.space:
            yield from _of_flags(flags)
        case "recordsCount", 0:
            yield "feature:empty-batch"
        case "producerId", int(number) if number != -1:
            yield "feature:idempotent"
        case "id", int(number) if number:
            yield "feature:message-id"
        case "kind", int() | str() as kind if (
            "partitioning" in span.path and kind in PARTITIONING_CAPABILITIES
        ):
            yield PARTITIONING_CAPABILITIES[kind]


def _of_flags(flags: int) -> Iterator[str]:
    """Yield the capabilities of attribute bits: a batch may name its codec and have no compressed byte."""
    yield from (atom for bit, atom in ATTRIBUTE_CAPABILITIES if flags & bit)
    if codec := CODEC_NAMES.get(flags & attribute_bits.CODEC_MASK):
        yield f"codec:{codec}"


def capabilities_of_value(row: Format, value: Json) -> tuple[str, ...]:
    """Return the capabilities that the attribute bits of a value in JSON form need."""
    entries = [value]
    if isinstance(value, dict):
        entries += [entry for part in value.values() if isinstance(part, list) for entry in part]
    flags = (entry.get("attributes") for entry in entries if isinstance(entry, dict))
    numbers = (int(text) for text in flags if isinstance(text, str) and re.fullmatch(DECIMAL_PATTERN, text))
    found = {atom for number in numbers for atom in _of_flags(number)}
    return tuple(atom for atom in row.capabilities if atom in found)


def _of_whole(seen: TracedDecode, data: bytes) -> Iterator[str]:
    """Yield the capabilities of a log of several revisions, and of one that ends inside an entry."""
    magics = {span.value for span in seen.spans if span.path.endswith("].magic") and not span.space}
    if len(magics) > 1:
        yield "feature:mixed-magic"
    if seen.decoded is not None and seen.decoded.consumed < len(data):
        yield "feature:partial-tail"


def _of_options(options: Options) -> Iterator[str]:
    if options.keys is not None:
        yield "feature:hmac"
    if options.resync != DEFAULT_OPTIONS.resync:
        yield f"feature:resync-{options.resync}"
    if options.fetch_offset is not None:
        yield "feature:fetch-offset"
    if options.isolation != DEFAULT_OPTIONS.isolation:
        yield "feature:read-committed"
    if options.source != DEFAULT_OPTIONS.source:
        yield "feature:segment-file"
    if options.compression != DEFAULT_OPTIONS.compression:
        yield f"codec:{options.compression}"
    if options.content != DEFAULT_OPTIONS.content:
        yield "feature:opaque-content"

"""The capabilities that entries and logs of Kafka need, by their fields. Sections are those of kafka.md."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

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
"""Attribute bits and the capability that they need: §1.2."""

LEGACY_MAGICS: Final = frozenset({0, 1})
"""Entries that brokers take from Produce 0 to 2 only, which Kafka 4 does not have: KIP-896, KIP-724."""

CODEC_NAMES: Final = {1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
"""The codecs by the number in the attribute bits: KIP-98, and KIP-110 for zstd."""


def of_bytes(spans: Sequence[FieldSpan], options: Options) -> Iterator[str]:
    """Yield the capabilities of fields; with a consumer's options no control batch is delivered: §1.9."""
    found = {atom for span in spans for atom in _of_span(span)}
    if options.fetch_offset is not None or options.isolation != DEFAULT_OPTIONS.isolation:
        found.discard("feature:control-batch")
    yield from found
    magics = {span.value for span in spans if span.path.endswith("].magic") and not span.space}
    if len(magics) > 1:
        yield "feature:mixed-magic"
    if options.topic:
        yield "feature:topic-settings"
    if options.topic is not None and magics & LEGACY_MAGICS:
        yield "feature:append-legacy"


def _of_span(span: FieldSpan) -> Iterator[str]:
    if "messages[" in span.path:
        yield "feature:wrapper"
    match span.path.rpartition(".")[2], span.value:
        case "attributes", int(flags) if not span.space:
            yield from _of_flags(flags)
        case "recordsCount", 0:
            yield "feature:empty-batch"
        case "producerId", int(number) if number != -1:
            yield "feature:idempotent"


def _of_flags(flags: int) -> Iterator[str]:
    """Yield the capabilities of attribute bits: a batch may name its codec and have no compressed byte."""
    yield from (atom for bit, atom in ATTRIBUTE_CAPABILITIES if flags & bit)
    if codec := CODEC_NAMES.get(flags & attribute_bits.CODEC_MASK):
        yield f"codec:{codec}"


def of_value(value: Json) -> Iterator[str]:
    """Yield the capabilities that the attribute bits of a value in JSON form need."""
    entries = [value]
    if isinstance(value, dict):
        entries += [entry for part in value.values() if isinstance(part, list) for entry in part]
    flags = (entry.get("attributes") for entry in entries if isinstance(entry, dict))
    numbers = (int(text) for text in flags if isinstance(text, str) and re.fullmatch(DECIMAL_PATTERN, text))
    yield from (atom for number in numbers for atom in _of_flags(number))

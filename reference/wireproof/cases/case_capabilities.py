"""The capabilities that a codec needs for a case, derived from the fields of its bytes. Pure.

Those of codecs, headers, cut streams and options are common; a family adds those of its own fields.
"""

from collections.abc import Iterator

from wireproof import formats
from wireproof.cases.case import Case, Data
from wireproof.formats import FORMATS, Format, TracedDecode, family_of
from wireproof.wire.json_values import Json
from wireproof.wire.options import DEFAULT_OPTIONS, Options


def capabilities_of_case(case: Case) -> tuple[str, ...]:
    """Return the capabilities that a decode needs by its fields; none for another op."""
    if not isinstance(case.input, Data):
        return ()
    return capabilities_of(FORMATS[case.format_id], case.input.data, case.options)


def capabilities_of(row: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> tuple[str, ...]:
    """Return the capabilities of `row` that bytes and options need, in the order of the format."""
    seen = formats.decode_with_trace(row, data, options)
    found = {*_of_spans(seen), *_of_options(options), *family_of(row).capabilities(seen.spans, options)}
    if seen.decoded is not None and seen.decoded.consumed < len(data):
        found.add("feature:partial-tail")
    return tuple(atom for atom in row.capabilities if atom in found)


def _of_spans(seen: TracedDecode) -> Iterator[str]:
    for span in seen.spans:
        yield f"codec:{span.type}"
        if ".headers[" in span.path:
            yield "feature:headers"


def capabilities_of_value(row: Format, value: Json) -> tuple[str, ...]:
    """Return the capabilities that a value in JSON form needs, as far as its family knows them."""
    found = set(family_of(row).value_capabilities(value))
    return tuple(atom for atom in row.capabilities if atom in found)


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
    if options.topic is not None:
        yield "feature:append"

"""Iggy codecs with one fault in how they find and check the parts of a message: iggy.md §11.1."""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from struct import Struct
from typing import Any, ClassVar, Final

from attrs import evolve

from tests.mutants.base import REFERENCE, JsonObject, mutant, variant
from tests.mutants.iggy.helpers import IggyMutant, collapsed, position_after, row_of
from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, refused_outcome
from wireproof.derive.edit_bytes import correct_bytes
from wireproof.formats import Decoded, Format
from wireproof.iggy.header_kinds import KINDS_BY_CODE
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item


@mutant(IggyMutant, "patch_input", "iggy-duplicate-desync", "iggy.send/0.0.30/headers/duplicate-key-phantom")
def desync(data: bytes, request: Request) -> bytes:
    """Steps over a message by the size of its map, as the Rust server does up to 0.4.x."""
    if request.format != "iggy.send":
        return data
    try:
        value: Any = to_json(formats.decode(row_of(request), data, request.options).value)
        return _slipped(request, value, data)
    except Rejected:
        return data


def _slipped(request: Request, value: JsonObject, data: bytes) -> bytes:
    """Return `data` with the first duplicate collapsed, and the rest from where a reader then continues."""
    for index, message in enumerate(value["messages"]):
        headers = collapsed(message["headers"])
        if len(headers) < len(message["headers"]):
            message["headers"] = headers
            at = position_after(request, value, index + 1)
            part = {**value, "messages": value["messages"][: index + 1]}
            return formats.encode(row_of(request), part, request.options) + data[at:]
    return data


_IDENTIFIERS: Final = re.compile(r"(stream|topic)\..*|kind|length|value")


@mutant(IggyMutant, "on_rejected", "iggy-identifier-unchecked", "iggy.identifier/0.0.30/identifier/zero")
def identifier_unchecked(rejected: Rejected, request: Request) -> Outcome:
    """Takes identifiers of any kind, length, text and number."""
    outcome = refused_outcome(rejected)
    classes = ("bad-kind", "bad-length", "bad-utf8", "invalid-value")
    if (
        request.op == "decode"
        and request.format in ("iggy.identifier", "iggy.send")
        and rejected.cls in classes
        and _IDENTIFIERS.fullmatch(rejected.path)
    ):
        return Accepted(outcome.before, len(request.data))
    return outcome


@mutant(IggyMutant, "patch_input", "iggy-log-checksum-skipped", "iggy.log/0.0.30/records/payload-flipped")
def checksum_skipped(data: bytes, request: Request) -> bytes:
    """Does not compare the checksums of a segment file."""
    while request.format == "iggy.log":
        found = formats.decode_with_trace(row_of(request), data, request.options)
        if found.rejected is None or found.rejected.cls != "crc-mismatch":
            break
        span = next(span for span in reversed(found.spans) if span.path == found.rejected.path)
        assert span.cover is not None
        new = correct_bytes(data, span, span.cover)
        assert new is not None
        data = data[: span.start] + new + data[span.end :]
    return data


@mutant(IggyMutant, "items", "iggy-scan-loses-tail", "iggy.log/0.0.30/scan/torn")
def scan_loses_tail(row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
    """Ends a scan without an error where a record is cut."""
    return (item for item in formats.scan(row, chunks, options) if item.kind != "tail")


@mutant(IggyMutant, "decode", "iggy-empty-log-refused", "iggy.log/0.0.30/records/none")
def empty_log_refused(request: Request) -> Outcome:
    """Refuses a segment file that was opened and not yet written."""
    if request.format == "iggy.log" and not request.data:
        return refused_outcome(Rejected("truncated", 0, "messages"))
    return REFERENCE.decode(request)


# --- header blocks that are read with a check left out ---

_LENGTH: Final = Struct("<I")


class LaxHeaders(IggyMutant):
    """Base of the mutants that leave out one check of a header block that stands alone.

    Attributes:
        skips: returns whether a refusal is not made.
    """

    skips: ClassVar[Callable[[Rejected], bool]]

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        alone = request.format == "iggy.headers" and request.op == "decode"
        if not alone or not type(self).skips(rejected):
            return refused_outcome(rejected)
        return Accepted({"headers": list(_entries(request.data))}, len(request.data))


def _entries(data: bytes) -> Iterator[list[Json]]:
    """Entries with no check at all: slices clamp, unknown kinds are raw."""
    pos = 0
    while pos + 4 <= len(data):
        key_end = pos + 4 + _LENGTH.unpack_from(data, pos)[0]
        key, code = data[pos + 4 : key_end], data[key_end : key_end + 1]
        start = key_end + 5
        length = int.from_bytes(data[key_end + 1 : start], "little")
        kind = KINDS_BY_CODE[code[0]].name if code and code[0] in KINDS_BY_CODE else "raw"
        yield [key.hex(), {"kind": kind, "value": data[start : start + length].hex()}]
        pos = start + length


variant(
    LaxHeaders,
    "iggy-kind-unchecked",
    "Takes header kinds that do not exist, as Go and C++ do.",
    "iggy.headers/0.0.30/kinds/kind-16",
    skips=lambda rejected: rejected.detail == "InvalidCommand",
)
variant(
    LaxHeaders,
    "iggy-header-length-unchecked",
    "Takes keys and values of 0 and of more than 255 bytes, as the first build of 0.0.30 did.",
    "iggy.headers/0.0.30/bounds/key-256",
    skips=lambda rejected: rejected.detail in ("InvalidHeaderKey", "InvalidHeaderValue"),
)
variant(
    LaxHeaders,
    "iggy-value-clamped",
    "Shortens a value that runs past the block, as Node does.",
    "iggy.headers/0.0.30/bounds/value-past-end",
    skips=lambda rejected: rejected.cls in ("truncated", "length-past-end"),
)


# --- limits and JSON ---


_PAYLOAD: Final = re.compile(rb'"payload":"([^"\\]*)"')


@mutant(IggyMutant, "read", "iggy-json-base64-lax", "iggy.json.send/0.0.30/base64/url-alphabet")
def base6_4_lax(row: Format, data: bytes, options: Options) -> Decoded:
    """Takes base64 without padding, of the other alphabet, or with blanks."""
    if ".json." not in row.name:
        return REFERENCE.read(row, data, options)
    decoded = REFERENCE.read(row, _PAYLOAD.sub(_respelt, data), options)
    return evolve(decoded, consumed=len(data))


def _respelt(found: re.Match[bytes]) -> bytes:
    letters = re.sub(rb"[^A-Za-z0-9+/]", b"", found[1].translate(bytes.maketrans(b"-_", b"+/")))
    try:
        data = binascii.a2b_base64(letters + b"=" * (-len(letters) % 4))
    except binascii.Error:
        return found[0]
    return b'"payload":"' + base64.b64encode(data) + b'"'


@mutant(IggyMutant, "on_rejected", "iggy-json-second-field-wins", "iggy.json.send/0.0.30/send/id-twice")
def second_field_wins(rejected: Rejected, request: Request) -> Outcome:
    """Takes a JSON object with one of its fields twice."""
    if rejected.cls == "duplicate-field":
        return Accepted(None, len(request.data))
    return refused_outcome(rejected)

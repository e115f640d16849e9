"""Iggy codecs with one fault in how they find and check the parts of a message: iggy.md §11.1."""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Any, ClassVar, Final

from attrs import evolve

from tests.mutants.base import JsonObject, mutant
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


class ScanLosesTail(IggyMutant):
    """Ends a scan without an error where a record is cut."""

    name = "iggy-scan-loses-tail"
    killed_by = ("iggy.log/0.0.30/scan/torn",)

    def items(self, row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
        return (item for item in super().items(row, chunks, options) if item.kind != "tail")


class EmptyLogRefused(IggyMutant):
    """Refuses a segment file that was opened and not yet written."""

    name = "iggy-empty-log-refused"
    killed_by = ("iggy.log/0.0.30/records/none",)

    def decode(self, request: Request) -> Outcome:
        if request.format == "iggy.log" and not request.data:
            return refused_outcome(Rejected("truncated", 0, "messages"))
        return super().decode(request)


# --- header blocks that are read with a check left out ---

_LENGTH: Final = Struct("<I")


class LaxHeaders(IggyMutant):
    """Base of the mutants that leave out one check of a header block that stands alone.

    Attributes:
        details: the specification's names of the refusals that are not made; empty: truncations.
    """

    details: ClassVar[tuple[str, ...]] = ()

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        if request.format != "iggy.headers" or request.op != "decode" or not self._skips(rejected):
            return refused_outcome(rejected)
        return Accepted({"headers": list(_entries(request.data))}, len(request.data))

    def _skips(self, rejected: Rejected) -> bool:
        return rejected.detail in self.details


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


class KindUnchecked(LaxHeaders):
    """Takes header kinds that do not exist, as Go and C++ do."""

    name = "iggy-kind-unchecked"
    killed_by = ("iggy.headers/0.0.30/kinds/kind-16",)
    details = ("InvalidCommand",)


class HeaderLengthUnchecked(LaxHeaders):
    """Takes keys and values of 0 and of more than 255 bytes, as the first build of 0.0.30 did."""

    name = "iggy-header-length-unchecked"
    killed_by = ("iggy.headers/0.0.30/bounds/key-256",)
    details = ("InvalidHeaderKey", "InvalidHeaderValue")


class ValueClamped(LaxHeaders):
    """Shortens a value that runs past the block, as Node does."""

    name = "iggy-value-clamped"
    killed_by = ("iggy.headers/0.0.30/bounds/value-past-end",)

    def _skips(self, rejected: Rejected) -> bool:
        return rejected.cls in ("truncated", "length-past-end")


# --- limits and JSON ---


_PAYLOAD: Final = re.compile(rb'"payload":"([^"\\]*)"')


class Base64Lax(IggyMutant):
    """Takes base64 without padding, of the other alphabet, or with blanks."""

    name = "iggy-json-base64-lax"
    killed_by = ("iggy.json.send/0.0.30/base64/url-alphabet",)

    def read(self, row: Format, data: bytes, options: Options) -> Decoded:
        if ".json." not in row.name:
            return super().read(row, data, options)
        decoded = super().read(row, _PAYLOAD.sub(_respelt, data), options)
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

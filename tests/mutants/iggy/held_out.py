"""Iggy mutants of the two held-out samples.

Two samples were chosen from the specification alone, and counted before anyone looked which case catches a
mutant of them. None was changed afterwards. So they measure the suite where nobody had tuned it. Cases that
the first sample showed to be missing were written for it.
"""

import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from typing import Any, Final

from tests.mutants.base import given_up, in_codec, walk
from tests.mutants.iggy.helpers import IggyMutant, PatchedIggy, messages_of
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.formats import Format
from wireproof.iggy import (
    headers,
    json_body,
    json_headers,
)
from wireproof.iggy.destination import PARTITIONING
from wireproof.iggy.header_kinds import is_utf8
from wireproof.iggy.headers import TlvRules
from wireproof.iggy.json_parser import JsonNode
from wireproof.iggy.message import STORED
from wireproof.iggy.send import SEND
from wireproof.schema.rules import Check, Fault
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.scan_items import Item

# --- limits: iggy.md, sections 3.1 and 9 ---


def _each(rule: Check) -> Check:
    def wrong(messages: Sequence[Any]) -> Fault | None:
        return next(filter(None, (rule([message]) for message in messages)), None)

    return wrong


class LimitPerMessage(PatchedIggy):
    """Holds each message of a send to the limits, and not all of them together, as 0.7.0 came to do."""

    name = "iggy-limit-per-message"
    killed_by = ("iggy.send/0.0.30/limits/headers-102401",)
    patches = in_codec(SEND, ("0.0.30",), messages_header_values=_each, messages_all_payloads=_each)


class Length255Refused(PatchedIggy):
    """Refuses keys and values of 255 bytes, the longest there are."""

    name = "iggy-length-255-refused"
    killed_by = ("iggy.headers/0.0.30/bounds/key-255",)
    patches = tuple((module, "SIZES", range(1, 255)) for module in (headers, json_headers))


# --- numbers and texts: iggy.md, sections 2.2, 3.3 and 8 ---


PAIR: Final = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
"""A character above U+FFFF, escaped as JSON escapes it."""


class SurrogatesApart(IggyMutant):
    """Takes the two halves of an escaped character of JSON for two, neither of which is any."""

    name = "iggy-json-surrogates-apart"
    killed_by = ("iggy.json.send/0.0.30/headers/escaped-key",)

    def patch_input(self, data: bytes, request: Request) -> bytes:
        return PAIR.sub(rb"\\ufffd\\ufffd", data) if request.format.startswith("iggy.json") else data


class PartitioningKeyAsText(IggyMutant):
    """Refuses a messages key that is no UTF-8, though it is but bytes."""

    name = "iggy-partitioning-key-as-text"
    killed_by = ("iggy.partitioning/0.0.30/partitioning/messages-key-binary",)

    def patch_answer(self, outcome: Accepted, request: Request) -> Outcome:
        keys = [part["value"] for part in walk(outcome.value) if part.get("kind") == "messages_key"]
        if all(is_utf8(bytes.fromhex(key)) for key in keys):
            return outcome
        return Refused("bad-utf8")


# --- streams and writers: iggy.md, sections 3.3 and 7 ---


class ScanStopsAtGarbage(IggyMutant):
    """Gives up a segment file at its first damaged record."""

    name = "iggy-scan-stops-at-garbage"
    killed_by = ("iggy.log/0.0.30/scan/garbage",)

    def items(self, row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
        return given_up(list(super().items(row, chunks, options)))


class WritesStateAvailable(IggyMutant):
    """Writes every message as an available one."""

    name = "iggy-writes-state-available"
    killed_by = ("iggy.poll/0.0.40/encode/states",)

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        copy = deepcopy(value)
        for one in messages_of(copy):
            if "state" in one:
                one["state"] = "available"
        return copy


# --- sends: iggy.md, section 2.2 ---


def _length_of_balanced_ignored(unpack: Callable[[bytes, int], tuple[int, int]]) -> Any:  # noqa: ANN401 - the same
    def wrong(data: bytes, at: int) -> tuple[int, int]:
        kind, length = unpack(data, at)
        return kind, 0 if kind == 1 else length

    return wrong


class BalancedTwoBytes(PatchedIggy):
    """Takes a balanced partitioning for two bytes, whatever length the second one is."""

    name = "iggy-balanced-two-bytes"
    killed_by = ("iggy.partitioning/0.9/partitioning/balanced-value",)
    patches = in_codec(PARTITIONING, _unpack_kind=_length_of_balanced_ignored)


# --- headers: iggy.md, section 2.4 ---

_read_entry = headers._read_entry  # noqa: SLF001 - the part that is wrong in the mutant


def _entry_to_nul(reader: Reader, tlv: TlvRules) -> headers.HeaderEntry:
    key, value = _read_entry(reader, tlv)
    return key.partition(b"\0")[0] if isinstance(key, bytes) else key, value


class KeyToNul(PatchedIggy):
    """Ends a header key at its first zero byte, as C's strings do."""

    name = "iggy-key-to-nul"
    killed_by = ("iggy.log/0.7/text/headers",)
    patches = ((headers, "_read_entry", _entry_to_nul),)


# --- JSON: iggy.md, section 8 ---


def _no_null(headers: json_headers.Headers, reader: Reader, node: JsonNode, name: str) -> Any:  # noqa: ANN401 - as there
    if node.kind == "null":
        raise reader.reject("type-mismatch", "headers", "want object, not null", at=node.start)
    return _read_headers(headers, reader, node, name)


_read_headers = json_headers.Headers.read


class JsonNullHeadersRefused(PatchedIggy):
    """Refuses headers that are null, as the Rust client of 0.8.0 and 0.9.0 does in later revisions."""

    name = "iggy-json-null-headers-refused"
    killed_by = ("iggy.json.send/0.7/headers/null",)
    patches = ((json_headers.Headers, "read", _no_null),)


def _urlsafe(data: bytes) -> str:
    return urlsafe_b64encode(data).decode()


class JsonWritesBase64Urlsafe(PatchedIggy):
    """Writes the base64 of URLs, which has two other letters."""

    name = "iggy-json-writes-base64-urlsafe"
    killed_by = ("iggy.json.poll/0.7/encode/text-headers",)
    patches = tuple((module, "base64_of", _urlsafe) for module in (json_body, json_headers))


# --- segment files: iggy.md, sections 3.3 and 7 ---

_block = [b""]
"""The header block that was read last."""


def _noted(read: Callable[[Reader], Any]) -> Any:  # noqa: ANN401 - the same
    def wrong(window: Reader) -> Any:  # noqa: ANN401 - as there
        _block[0] = window.data[window.pos : window.end]
        return read(window)

    return wrong


def _over_headers(algorithm: Callable[[bytes], int]) -> Any:  # noqa: ANN401 - the same
    return lambda data: algorithm(_block[0] + data)


class LogChecksumOverHeaders(PatchedIggy):
    """Lets the checksum of a stored message cover its headers, too."""

    name = "iggy-log-checksum-over-headers"
    killed_by = ("iggy.log/0.0.30/scan/two",)
    patches = in_codec(STORED, ("0.0.30", "0.0.40", "0.2.7"), read_headers=_noted, _checksum_of=_over_headers)

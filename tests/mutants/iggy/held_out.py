"""Iggy mutants of the two held-out samples.

Two samples were chosen from the specification alone, and counted before anyone looked which case catches a
mutant of them. None was changed afterwards. So they measure the suite where nobody had tuned it. Cases that
the first sample showed to be missing were written for it.
"""

import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from tests.mutants.base import given_up, in_codec, mutant, patched, walk
from tests.mutants.iggy.helpers import IggyMutant, PatchedIggy, messages_of
from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.formats import Format
from wireproof.iggy import headers
from wireproof.iggy.destination import PARTITIONING
from wireproof.iggy.header_kinds import is_utf8
from wireproof.iggy.headers import TlvRules
from wireproof.iggy.http import json_bodies, json_body
from wireproof.iggy.http.json_body import JsonNode
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


# --- numbers and texts: iggy.md, sections 2.2, 3.3 and 8 ---


PAIR: Final = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
"""A character above U+FFFF, escaped as JSON escapes it."""


@mutant(IggyMutant, "patch_input", "iggy-json-surrogates-apart", "iggy.json.send/0.0.30/headers/escaped-key")
def surrogates_apart(data: bytes, request: Request) -> bytes:
    """Takes the two halves of an escaped character of JSON for two, neither of which is any."""
    return PAIR.sub(rb"\\ufffd\\ufffd", data) if request.format.startswith("iggy.json") else data


@mutant(
    IggyMutant,
    "patch_answer",
    "iggy-partitioning-key-as-text",
    "iggy.partitioning/0.0.30/partitioning/messages-key-binary",
)
def partitioning_key_as_text(outcome: Accepted) -> Outcome:
    """Refuses a messages key that is no UTF-8, though it is but bytes."""
    keys = [part["value"] for part in walk(outcome.value) if part.get("kind") == "messages_key"]
    if all(is_utf8(bytes.fromhex(key)) for key in keys):
        return outcome
    return Refused("bad-utf8")


# --- streams and writers: iggy.md, sections 3.3 and 7 ---


@mutant(IggyMutant, "items", "iggy-scan-stops-at-garbage", "iggy.log/0.0.30/scan/garbage")
def scan_stops_at_garbage(row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
    """Gives up a segment file at its first damaged record."""
    return given_up(list(formats.scan(row, chunks, options)))


@mutant(IggyMutant, "patch_value_to_write", "iggy-writes-state-available", "iggy.poll/0.0.40/encode/states")
def writes_state_available(value: Json) -> None:
    """Writes every message as an available one."""
    for one in messages_of(value):
        if "state" in one:
            one["state"] = "available"


# --- sends: iggy.md, section 2.2 ---


def _length_of_balanced_ignored(unpack: Callable[[bytes, int], tuple[int, int]]) -> Any:  # noqa: ANN401 - the same
    def wrong(data: bytes, at: int) -> tuple[int, int]:
        kind, length = unpack(data, at)
        return kind, 0 if kind == 1 else length

    return wrong


# --- headers: iggy.md, section 2.4 ---

_read_entry = headers._read_entry  # noqa: SLF001 - the part that is wrong in the mutant


def _entry_to_nul(reader: Reader, tlv: TlvRules) -> headers.HeaderEntry:
    key, value = _read_entry(reader, tlv)
    return key.partition(b"\0")[0] if isinstance(key, bytes) else key, value


# --- JSON: iggy.md, section 8 ---


def _no_null(headers: json_bodies.Headers, reader: Reader, node: JsonNode, name: str) -> Any:  # noqa: ANN401 - as there
    if node.kind == "null":
        raise reader.reject("type-mismatch", "headers", "want object, not null", at=node.start)
    return _read_headers(headers, reader, node, name)


_read_headers = json_bodies.Headers.read


def _urlsafe(data: bytes) -> str:
    return urlsafe_b64encode(data).decode()


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


# --- other parts in the modules of the reference ---

patched(
    PatchedIggy,
    {
        "iggy-limit-per-message": (
            "Holds each message of a send to the limits, and not all of them together, as 0.7.0 came to do.",
            in_codec(SEND, ("0.0.30",), messages_header_values=_each, messages_all_payloads=_each),
            "iggy.send/0.0.30/limits/headers-102401",
        ),
        "iggy-length-255-refused": (
            "Refuses keys and values of 255 bytes, the longest there are.",
            tuple((module, "SIZES", range(1, 255)) for module in (headers, json_bodies)),
            "iggy.headers/0.0.30/bounds/key-255",
        ),
        "iggy-balanced-two-bytes": (
            "Takes a balanced partitioning for two bytes, whatever length the second one is.",
            in_codec(PARTITIONING, _unpack_kind=_length_of_balanced_ignored),
            "iggy.partitioning/0.9/partitioning/balanced-value",
        ),
        "iggy-key-to-nul": (
            "Ends a header key at its first zero byte, as C's strings do.",
            ((headers, "_read_entry", _entry_to_nul),),
            "iggy.log/0.7/text/headers",
        ),
        "iggy-json-null-headers-refused": (
            "Refuses headers that are null, as the Rust client of 0.8.0 and 0.9.0 does in later revisions.",
            ((json_bodies.Headers, "read", _no_null),),
            "iggy.json.send/0.7/headers/null",
        ),
        "iggy-json-writes-base64-urlsafe": (
            "Writes the base64 of URLs, which has two other letters.",
            tuple((module, "base64_of", _urlsafe) for module in (json_body, json_bodies)),
            "iggy.json.poll/0.7/encode/text-headers",
        ),
        "iggy-log-checksum-over-headers": (
            "Lets the checksum of a stored message cover its headers, too.",
            in_codec(STORED, ("0.0.30", "0.0.40", "0.2.7"), read_headers=_noted, _checksum_of=_over_headers),
            "iggy.log/0.0.30/scan/two",
        ),
    },
)

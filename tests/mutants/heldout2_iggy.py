"""Iggy mutants of the second held-out sample, chosen from the specification alone.

As in `heldout1_iggy`, none was changed after it was known which case catches it. Neither the suite nor a
fuzzer was tuned to them.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Any, Final
from zlib import crc32

from tests.mutants.base import ReferenceCodec, walk
from tests.mutants.patched import Patched, in_codec
from wireproof.adapters.contract import Request
from wireproof.iggy import headers, json_common, json_poll, json_send, message
from wireproof.iggy.destination import IDENTIFIER, PARTITIONING
from wireproof.iggy.headers import TlvRules
from wireproof.iggy.json_parser import JsonNode
from wireproof.iggy.message import MessageRules
from wireproof.schema.rules import Check, Fault
from wireproof.wire.json_values import Json
from wireproof.wire.layout import REST, Length
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


class PatchedIggy(Patched):
    """An Iggy codec with other parts; in itself no mutant."""

    system = "iggy"


# --- sends: iggy.md, section 2.2 ---


def _length_of_balanced_ignored(unpack: Callable[[bytes, int], tuple[int, int]]) -> Any:  # noqa: ANN401 - the same
    def wrong(data: bytes, at: int) -> tuple[int, int]:
        kind, length = unpack(data, at)
        return kind, 0 if kind == 1 else length

    return wrong


class BalancedTwoBytes(PatchedIggy):
    """Takes a balanced partitioning for two bytes, whatever length the second one is."""

    name = "iggy-balanced-two-bytes"
    patches = in_codec(PARTITIONING, _unpack_kind=_length_of_balanced_ignored)


def _signed(rule: Check) -> Check:
    def wrong(kind: str, length: int) -> Fault | None:
        return Fault("bad-length", "negative") if length > 0x7F else rule(kind, length)

    return wrong


class LengthByteSigned(PatchedIggy):
    """Reads the length byte of names and messages keys with a sign, and refuses those over 127 bytes."""

    name = "iggy-length-byte-signed"
    patches = (
        *in_codec(IDENTIFIER, length_identifier_length=_signed),
        *in_codec(PARTITIONING, length_length_of_chosen=_signed, length_partitioning_length=_signed),
    )


# --- polls: iggy.md, section 3.3 ---


class CurrentOffsetFromMessages(ReferenceCodec):
    """Tells the offset of the last message of a poll for the current offset of the partition."""

    name = "iggy-current-offset-from-messages"
    system = "iggy"

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Report the last offset, if there is one."""
        del request, data
        for part in walk(value):
            if "current_offset" in part and part["messages"]:
                part["current_offset"] = part["messages"][-1]["offset"]
        return value


# --- headers: iggy.md, section 2.4 ---

_read_entry = headers._read_entry  # noqa: SLF001 - the part that is wrong in the mutant


def _entry_to_nul(reader: Reader, tlv: TlvRules) -> headers.HeaderEntry:
    key, value = _read_entry(reader, tlv)
    return key.partition(b"\0")[0] if isinstance(key, bytes) else key, value


class KeyToNul(PatchedIggy):
    """Ends a header key at its first zero byte, as C's strings do."""

    name = "iggy-key-to-nul"
    patches = ((headers, "_read_entry", _entry_to_nul),)


_write_block = message._write_block  # noqa: SLF001 - the part that is wrong in the mutant


def _write_short(
    writer: Writer,
    rules: MessageRules,
    sent: Any,  # noqa: ANN401 - a message of any revision
    name: str,
    length: Length,
    at: int,
) -> None:
    start = writer.pos
    _write_block(writer, rules, sent, name, length, at)
    if name == "headers":
        writer.patch(length.name, length.kind, at, writer.pos - start - len(sent.headers))


class WritesHeadersLengthShort(PatchedIggy):
    """Writes a length of the headers that leaves out the kind byte of each."""

    name = "iggy-writes-headers-length-short"
    patches = ((message, "_write_block", _write_short),)


# --- JSON: iggy.md, section 8 ---


def _no_null(reader: Reader, node: JsonNode | None, forms: Mapping[str, json_common.HeadersForm]) -> Any:  # noqa: ANN401 - as there
    if node is not None and node.kind == "null":
        raise reader.reject("type-mismatch", "headers", "want object, not null", at=node.start)
    return json_common.header_map(reader, node, forms)


class JsonNullHeadersRefused(PatchedIggy):
    """Refuses headers that are null, as the Rust client of 0.8.0 and 0.9.0 does in later revisions."""

    name = "iggy-json-null-headers-refused"
    patches = ((json_send, "header_map", _no_null), (json_poll, "header_map", _no_null))


def _urlsafe(data: bytes) -> str:
    return urlsafe_b64encode(data).decode()


class JsonWritesBase64Urlsafe(PatchedIggy):
    """Writes the base64 of URLs, which has two other letters."""

    name = "iggy-json-writes-base64-urlsafe"
    patches = tuple((module, "base64_of", _urlsafe) for module in (json_common, json_send, json_poll))


# --- segment files: iggy.md, sections 3.3 and 7 ---

_check_checksum = message.check_checksum


def _check_with_headers(reader: Reader, rules: MessageRules, found: int, data: bytes, start: int) -> None:
    part = rules.checksum
    assert part is not None
    if rules.wrong != "reject" or part.over == REST:
        _check_checksum(reader, rules, found, data, start)
        return
    behind = reader.data[start + 4 : reader.pos]
    stop = 4 + int.from_bytes(behind[:4], "little")
    if found != crc32(behind[4:stop] + data):
        raise reader.reject("crc-mismatch", part.name, at=start)


class LogChecksumOverHeaders(PatchedIggy):
    """Lets the checksum of a stored message cover its headers, too."""

    name = "iggy-log-checksum-over-headers"
    patches = ((message, "check_checksum", _check_with_headers),)


MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {
    made.name: made
    for made in (
        BalancedTwoBytes,
        LengthByteSigned,
        CurrentOffsetFromMessages,
        KeyToNul,
        WritesHeadersLengthShort,
        JsonNullHeadersRefused,
        JsonWritesBase64Urlsafe,
        LogChecksumOverHeaders,
    )
}
"""Name to class."""

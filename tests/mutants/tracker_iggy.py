"""Iggy mutants after bugs of public issue trackers.

See `tracker_base`. Each docstring says what is wrong, where it was so, and which bytes or values show it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tests.mutants.base import ReferenceCodec, walk
from tests.mutants.iggy_helpers import header_values_of, messages_of
from tests.mutants.patched import in_codec
from tests.mutants.tracker_base import IggyFromTracker
from wireproof.adapters.contract import Request
from wireproof.iggy import json_send, limits, send, send_index
from wireproof.iggy.destination import IDENTIFIER, PARTITIONING
from wireproof.iggy.headers import TlvRules
from wireproof.iggy.limits import LIMITS_30, RevisionLimits
from wireproof.iggy.message import MessageRules
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

# --- texts and payloads: iggy.md, sections 2.2 and 3.1 ---


def _utf16_length(value: bytes) -> int:
    try:
        return len(value.decode().encode("utf-16-le")) // 2
    except UnicodeDecodeError:
        return len(value)


class LengthInChars(IggyFromTracker):
    """Writes the number of characters of a name or a messages key for its bytes, as the Java SDK did.

    Trigger: an identifier with a letter outside of ASCII.
    """

    name = "tracker-iggy-length-in-chars"
    link = "https://github.com/apache/iggy/pull/4068"
    patches = tuple(
        one for struct in (IDENTIFIER, PARTITIONING) for one in in_codec(struct, len=lambda _: _utf16_length)
    )


SHOWN: Final = 20
"""The bytes of a payload that its text for people has at each end."""


def _shown(number: str, payload: bytes) -> bytes:
    text = payload if len(payload) <= 2 * SHOWN else payload[:SHOWN] + b"..." + payload[-SHOWN:]
    return f"{number}|".encode() + text


class PayloadAsShown(IggyFromTracker):
    """Sends a message's text for people, an id and a shortened payload, as Python's client did.

    Trigger: a send with any payload.
    """

    name = "tracker-iggy-payload-as-shown"
    link = "https://github.com/iggy-rs/iggy-python-client/issues/13"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Replace the payloads of binary sends."""
        for one in messages_of(value) if request.format == "iggy.send" else ():
            one["payload"] = _shown(one["id"], bytes.fromhex(one["payload"])).hex()
        return value


class PayloadTextOnly(IggyFromTracker):
    """Refuses to send a payload that is no text, as the Python SDK did, which took a str alone.

    Trigger: a send with the payload FF.
    """

    name = "tracker-iggy-payload-text-only"
    link = "https://github.com/apache/iggy/pull/2127"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Decode every payload of a send."""
        for one in messages_of(value) if request.format == "iggy.send" else ():
            try:
                bytes.fromhex(one["payload"]).decode()
            except UnicodeDecodeError:
                raise Rejected("invalid-value", -1, "payload", "not a str") from None
        return value


def _check_unless_empty(writer: Writer, messages: Sequence[Any], rows: RevisionLimits, tlv: TlvRules) -> None:
    if messages or rows is not LIMITS_30:
        limits.check_written(writer, messages, rows, tlv)


class SendOfNothing(IggyFromTracker):
    """Writes a send without any message, as the client did up to March 2024.

    Trigger: a send with no messages.
    """

    name = "tracker-iggy-send-of-nothing"
    link = "https://github.com/apache/iggy/pull/847"
    patches = tuple((one, "check_written", _check_unless_empty) for one in (send, json_send))


# --- sends with an index: iggy.md, section 5 ---

ENCRYPTION_BYTES: Final = 28
"""What AES-256-GCM adds to a text: a nonce of 12 bytes and a tag of 16."""

ENTRY_SIZE: Final = 16
POSITION_AT: Final = 4

_write_messages = send_index.write_messages


def _write_plain_positions(writer: Writer, messages: Sequence[Any], rules: MessageRules) -> None:
    start, missing = writer.pos, 0
    _write_messages(writer, messages, rules)
    for index, one in enumerate(messages):
        missing += ENCRYPTION_BYTES * isinstance(one.headers, bytes)
        at = start + ENTRY_SIZE * index + POSITION_AT
        end = int.from_bytes(writer.data[at : at + 4], "little")
        writer.patch("position", "uint32le", at, max(end - missing, 0))


class IndexOfPlainSizes(IggyFromTracker):
    """Writes index positions that do not count what encryption adds to a message, as the server did.

    Trigger: a send of 0.9 whose headers are encrypted.
    """

    name = "tracker-iggy-index-of-plain-sizes"
    link = "https://github.com/apache/iggy/pull/2051"
    patches = ((send_index, "write_messages", _write_plain_positions),)


# --- polls and segments: iggy.md, sections 3.3 and 7 ---

MICROSECONDS: Final = 1_000_000


class TimestampsInSeconds(IggyFromTracker):
    """Writes timestamps in seconds, where microseconds belong, as the conversion of IggyTimestamp did.

    Trigger: a message with any timestamp but 0.
    """

    name = "tracker-iggy-timestamps-in-seconds"
    link = "https://github.com/apache/iggy/pull/993"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Divide the timestamps of messages."""
        del request
        for one in messages_of(value):
            for field in {"timestamp", "origin_timestamp"} & one.keys():
                one[field] = str(int(one[field]) // MICROSECONDS)
        return value


class CurrentOffsetFromCount(IggyFromTracker):
    """Writes the number of messages less one for the current offset of the partition, as the server did.

    Trigger: a poll response whose messages do not begin at offset 0.
    """

    name = "tracker-iggy-current-offset-from-count"
    link = "https://github.com/apache/iggy/pull/2798"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Count the messages."""
        del request
        for part in walk(value):
            if "current_offset" in part and "messages" in part:
                part["current_offset"] = str(max(len(part["messages"]) - 1, 0))
        return value


class HeaderValuesAsText(IggyFromTracker):
    """Reads every header value as text, whatever its kind, as the Java SDK did: other bytes become U+FFFD.

    Trigger: a header of kind uint8 with the value 255.
    """

    name = "tracker-iggy-header-values-as-text"
    link = "https://github.com/apache/iggy/pull/2516"

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Decode and encode the values."""
        del request, data
        for held in header_values_of(value):
            held["value"] = bytes.fromhex(held["value"]).decode(errors="replace").encode().hex()
        return value


class TornTailCounted(IggyFromTracker):
    """Counts the bytes of a torn record at the end of a segment as read, as recovery of the server did.

    Trigger: a segment file that ends inside a record.
    """

    name = "tracker-iggy-torn-tail-counted"
    link = "https://github.com/apache/iggy/pull/3946"

    def patch_consumed(self, consumed: int, request: Request) -> int:
        """Go to the end of the file."""
        return len(request.data) if request.format == "iggy.log" else consumed


MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {
    made.name: made
    for made in (
        LengthInChars,
        PayloadAsShown,
        PayloadTextOnly,
        SendOfNothing,
        IndexOfPlainSizes,
        TimestampsInSeconds,
        CurrentOffsetFromCount,
        HeaderValuesAsText,
        TornTailCounted,
    )
}
"""Name to class."""

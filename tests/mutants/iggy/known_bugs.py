"""Iggy codecs with a bug of a released server or client: `bugs.toml`."""

from collections.abc import Sequence
from typing import Any, Final

from attrs import evolve

from tests.mutants.base import Panic, in_codec, walk
from tests.mutants.iggy.helpers import PatchedIggy, header_values_of, messages_of
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome, refused_outcome
from wireproof.formats import Decoded, Format
from wireproof.iggy import json_send, limits, poll, send, send_index
from wireproof.iggy.destination import IDENTIFIER, PARTITIONING
from wireproof.iggy.headers import TlvRules
from wireproof.iggy.limits import LIMITS_30, RevisionLimits
from wireproof.iggy.message import MessageRules, read_message
from wireproof.iggy.poll import PLAIN_BODY, REVISIONS, PollRevision
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

# --- poll responses: both clients read messages of one header of 56 bytes, payload and user headers ---


def _is_polled(revision: PollRevision) -> bool:
    return revision.body is PLAIN_BODY and _has_headers_last(revision.message)


def _has_headers_last(rules: MessageRules) -> bool:
    return rules.layout.parts[-1].name == "headers"


class PositionNotMoved(PatchedIggy):
    """Looks for the next polled message behind the header of the last one, not behind its payload."""

    name = "iggy-1830-position-not-moved"

    def read(self, row: Format, data: bytes, options: Options) -> Decoded:
        """Read messages until one does not fit, and never compare their number with the count."""
        revision = REVISIONS.get(row.revision) if row.name == "iggy.poll" else None
        if revision is None or not _is_polled(revision):
            return super().read(row, data, options)
        reader = Reader(data)
        prefix = revision.fields.read_fields(reader)
        del prefix["count"]
        messages = tuple(_messages(reader, revision.message))
        return Decoded(revision.value(**prefix, messages=messages), len(data), ())


def _messages(reader: Reader, rules: MessageRules) -> list[Any]:
    found: list[Any] = []
    while reader.left:
        start = reader.pos
        try:
            found.append(read_message(reader, rules))
        except Rejected:
            break
        reader.pos = start + rules.layout.fixed_size
    return found


def _without_headers(reader: Reader, rules: MessageRules) -> Any:  # noqa: ANN401 - the layout's value class
    """Read a message up to its user headers, which stay unread."""
    if not _has_headers_last(rules):
        return read_message(reader, rules)
    layout = evolve(rules.layout, parts=rules.layout.parts[:-1], value=dict)
    fields = read_message(reader, evolve(rules, layout=layout))
    del fields["user_headers_length"]
    return rules.value(**fields, headers=())


class UserHeadersUnread(PatchedIggy):
    """Leaves the user headers of a polled message out, and reads the next message from their bytes."""

    name = "iggy-2455-user-headers-unread"
    patches = ((poll, "read_message", _without_headers),)


# --- requests ---

LEAST_REQUEST: Final = 15
"""The size below which the server refused a poll request before it read any field, in bytes."""


def _slices_past_end(request: Request) -> bool:
    """Return True if the length of an identifier leads past its end, whatever the length may be."""
    data = request.data
    known = request.format == "iggy.identifier" and len(data) > 2 and data[0] in (1, 2)
    return known and 2 + data[1] > len(data)


class CutPacketPanics(PatchedIggy):
    """Ends its process at a request that ends inside a field."""

    name = "iggy-2741-cut-packet-panics"

    def decode(self, request: Request) -> Outcome:
        """Panic where a slice of an identifier ends behind its bytes."""
        if _slices_past_end(request):
            raise Panic("range end index out of range")
        return super().decode(request)

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        """Panic at the end of a poll request that is cut."""
        cut = rejected.cls in ("truncated", "length-past-end")
        if request.format == "iggy.poll-request" and cut and len(request.data) >= LEAST_REQUEST:
            raise Panic("range end index out of range")
        return refused_outcome(rejected)


# --- texts and payloads: iggy.md, sections 2.2 and 3.1 ---


def _utf16_length(value: bytes) -> int:
    try:
        return len(value.decode().encode("utf-16-le")) // 2
    except UnicodeDecodeError:
        return len(value)


class LengthInChars(PatchedIggy):
    """Writes the number of characters of a name or a messages key for its bytes, as the Java SDK did.

    Trigger: an identifier with a letter outside of ASCII.
    """

    name = "tracker-iggy-length-in-chars"
    patches = tuple(
        one for struct in (IDENTIFIER, PARTITIONING) for one in in_codec(struct, len=lambda _: _utf16_length)
    )


SHOWN: Final = 20
"""The bytes of a payload that its text for people has at each end."""


def _shown(number: str, payload: bytes) -> bytes:
    text = payload if len(payload) <= 2 * SHOWN else payload[:SHOWN] + b"..." + payload[-SHOWN:]
    return f"{number}|".encode() + text


class PayloadAsShown(PatchedIggy):
    """Sends a message's text for people, an id and a shortened payload, as Python's client did.

    Trigger: a send with any payload.
    """

    name = "tracker-iggy-payload-as-shown"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Replace the payloads of binary sends."""
        for one in messages_of(value) if request.format == "iggy.send" else ():
            one["payload"] = _shown(one["id"], bytes.fromhex(one["payload"])).hex()
        return value


class PayloadTextOnly(PatchedIggy):
    """Refuses to send a payload that is no text, as the Python SDK did, which took a str alone.

    Trigger: a send with the payload FF.
    """

    name = "tracker-iggy-payload-text-only"

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


class SendOfNothing(PatchedIggy):
    """Writes a send without any message, as the client did up to March 2024.

    Trigger: a send with no messages.
    """

    name = "tracker-iggy-send-of-nothing"
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


class IndexOfPlainSizes(PatchedIggy):
    """Writes index positions that do not count what encryption adds to a message, as the server did.

    Trigger: a send of 0.9 whose headers are encrypted.
    """

    name = "tracker-iggy-index-of-plain-sizes"
    patches = ((send_index, "write_messages", _write_plain_positions),)


# --- polls and segments: iggy.md, sections 3.3 and 7 ---

MICROSECONDS: Final = 1_000_000


class TimestampsInSeconds(PatchedIggy):
    """Writes timestamps in seconds, where microseconds belong, as the conversion of IggyTimestamp did.

    Trigger: a message with any timestamp but 0.
    """

    name = "tracker-iggy-timestamps-in-seconds"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Divide the timestamps of messages."""
        del request
        for one in messages_of(value):
            for field in {"timestamp", "origin_timestamp"} & one.keys():
                one[field] = str(int(one[field]) // MICROSECONDS)
        return value


class CurrentOffsetFromCount(PatchedIggy):
    """Writes the number of messages less one for the current offset of the partition, as the server did.

    Trigger: a poll response whose messages do not begin at offset 0.
    """

    name = "tracker-iggy-current-offset-from-count"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Count the messages."""
        del request
        for part in walk(value):
            if "current_offset" in part and "messages" in part:
                part["current_offset"] = str(max(len(part["messages"]) - 1, 0))
        return value


class HeaderValuesAsText(PatchedIggy):
    """Reads every header value as text, whatever its kind, as the Java SDK did: other bytes become U+FFFD.

    Trigger: a header of kind uint8 with the value 255.
    """

    name = "tracker-iggy-header-values-as-text"

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Decode and encode the values."""
        del request, data
        for held in header_values_of(value):
            held["value"] = bytes.fromhex(held["value"]).decode(errors="replace").encode().hex()
        return value


class TornTailCounted(PatchedIggy):
    """Counts the bytes of a torn record at the end of a segment as read, as recovery of the server did.

    Trigger: a segment file that ends inside a record.
    """

    name = "tracker-iggy-torn-tail-counted"

    def patch_consumed(self, consumed: int, request: Request) -> int:
        """Go to the end of the file."""
        return len(request.data) if request.format == "iggy.log" else consumed

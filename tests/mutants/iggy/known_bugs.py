"""Iggy codecs with a bug of a released server or client: `bugs.toml`."""

from collections.abc import Sequence
from typing import Any, Final

from attrs import evolve

from tests.mutants.base import REFERENCE, Panic, changed, in_codec, mutant, patched, walk
from tests.mutants.iggy.helpers import PatchedIggy, header_values_of, messages_of
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome, refused_outcome
from wireproof.formats import Decoded, Format
from wireproof.iggy import send
from wireproof.iggy.destination import IDENTIFIER, PARTITIONING
from wireproof.iggy.http import json_body
from wireproof.iggy.send import SEND
from wireproof.schema.compiling import refuse
from wireproof.schema.layout import Block, Repeated, Zero
from wireproof.schema.rules import Check, Fault
from wireproof.schema.struct import StructLayout
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

# --- poll responses: both clients read messages of one header of 56 bytes, payload and user headers ---


def _message_of(row: Format) -> StructLayout | None:
    """Return the layout of the messages of a poll whose headers come last; None for other formats."""
    if row.name != "iggy.poll" or not isinstance(row.layout, StructLayout):
        return None
    message = row.layout.part("messages")
    assert isinstance(message, Repeated)
    return (
        message.of
        if isinstance(message.of, StructLayout) and message.of.parts[-1].name == "headers"
        else None
    )


@mutant(PatchedIggy, "read", "iggy-1830-position-not-moved")
def position_not_moved(row: Format, data: bytes, options: Options) -> Decoded:
    """Looks for the next polled message behind the header of the last one, not behind its payload."""
    message = _message_of(row)
    if message is None:
        return REFERENCE.read(row, data, options)
    reader = Reader(data)
    partition, offset, _ = reader.uint32le(""), reader.uint64le(""), reader.uint32le("")
    messages = tuple(_messages(reader, message))
    value = row.value(partition_id=partition, current_offset=offset, messages=messages)
    return Decoded(value, len(data), ())


def _messages(reader: Reader, layout: StructLayout) -> list[Any]:
    found: list[Any] = []
    while reader.left:
        start = reader.pos
        try:
            found.append(layout.inner_codec.read(reader))
        except Rejected:
            break
        reader.pos = start + layout.fixed_size
    return found


@mutant(PatchedIggy, "read", "iggy-2455-user-headers-unread")
def user_headers_unread(row: Format, data: bytes, options: Options) -> Decoded:
    """Leaves the user headers of a polled message out, and reads the next message from their bytes."""
    if (message := _message_of(row)) is None:
        return REFERENCE.read(row, data, options)
    assert isinstance(row.layout, StructLayout)
    *parts, headers = message.parts
    assert isinstance(headers, Block)
    length = next(part for part in parts if part.name == "user_headers_length")
    parts[parts.index(length)] = Zero(length.name, kind="uint32le")
    unread = evolve(message, parts=(*parts, evolve(headers, read=lambda _: ())))
    return REFERENCE.read(evolve(row, decode=changed(row.layout, message, unread).decode), data, options)


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
        if _slices_past_end(request):
            raise Panic("range end index out of range")
        return super().decode(request)

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
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


SHOWN: Final = 20
"""The bytes of a payload that its text for people has at each end."""


def _shown(number: str, payload: bytes) -> bytes:
    text = payload if len(payload) <= 2 * SHOWN else payload[:SHOWN] + b"..." + payload[-SHOWN:]
    return f"{number}|".encode() + text


@mutant(PatchedIggy, "patch_value_to_write", "tracker-iggy-payload-as-shown")
def payload_as_shown(value: Json, request: Request) -> None:
    """Sends a message's text for people, an id and a shortened payload, as Python's client did."""
    for one in messages_of(value) if request.format == "iggy.send" else ():
        one["payload"] = _shown(one["id"], bytes.fromhex(one["payload"])).hex()


@mutant(PatchedIggy, "patch_value_to_write", "tracker-iggy-payload-text-only")
def payload_text_only(value: Json, request: Request) -> None:
    """Refuses to send a payload that is no text, as the Python SDK did, which took a str alone."""
    for one in messages_of(value) if request.format == "iggy.send" else ():
        try:
            bytes.fromhex(one["payload"]).decode()
        except UnicodeDecodeError:
            raise Rejected("invalid-value", -1, "payload", "not a str") from None


def _never(_rule: Check) -> Check:
    return lambda messages: None  # noqa: ARG005 - a rule has the name of its field


def _unless_nothing(writer: Writer, name: str, fault: Fault) -> None:
    if fault.cls != "count-mismatch":
        refuse(writer, name, fault)


# --- sends with an index: iggy.md, section 5 ---

ENCRYPTION_BYTES: Final = 28
"""What AES-256-GCM adds to a text: a nonce of 12 bytes and a tag of 16."""

ENTRY_SIZE: Final = 16
POSITION_AT: Final = 4

_write_messages = send._write_messages  # noqa: SLF001 - the part that is wrong in the mutant


def _write_plain_positions(writer: Writer, layout: StructLayout, messages: Sequence[Any]) -> None:
    start, missing = writer.pos, 0
    _write_messages(writer, layout, messages)
    for index, one in enumerate(messages):
        missing += ENCRYPTION_BYTES * isinstance(one.headers, bytes)
        at = start + ENTRY_SIZE * index + POSITION_AT
        end = int.from_bytes(writer.data[at : at + 4], "little")
        writer.patch("position", "uint32le", at, max(end - missing, 0))


# --- polls and segments: iggy.md, sections 3.3 and 7 ---

MICROSECONDS: Final = 1_000_000


@mutant(PatchedIggy, "patch_value_to_write", "tracker-iggy-timestamps-in-seconds")
def timestamps_in_seconds(value: Json) -> None:
    """Writes timestamps in seconds, where microseconds belong, as the conversion of IggyTimestamp did."""
    for one in messages_of(value):
        for field in {"timestamp", "origin_timestamp"} & one.keys():
            one[field] = str(int(one[field]) // MICROSECONDS)


@mutant(PatchedIggy, "patch_value_to_write", "tracker-iggy-current-offset-from-count")
def current_offset_from_count(value: Json) -> None:
    """Writes the number of messages less one for the current offset of the partition, as the server did."""
    for part in walk(value):
        if "current_offset" in part and "messages" in part:
            part["current_offset"] = str(max(len(part["messages"]) - 1, 0))


@mutant(PatchedIggy, "patch_value", "tracker-iggy-header-values-as-text")
def header_values_as_text(value: Json) -> None:
    """Reads every header value as text, whatever its kind, as the Java SDK did: other bytes become U+FFFD."""
    for held in header_values_of(value):
        held["value"] = bytes.fromhex(held["value"]).decode(errors="replace").encode().hex()


@mutant(PatchedIggy, "patch_consumed", "tracker-iggy-torn-tail-counted")
def torn_tail_counted(consumed: int, request: Request) -> int:
    """Counts the bytes of a torn record at the end of a segment as read, as recovery of the server did."""
    return len(request.data) if request.format == "iggy.log" else consumed


# --- other parts in the modules of the reference ---

patched(
    PatchedIggy,
    {
        "tracker-iggy-length-in-chars": (
            "Writes the number of characters of a name or a messages key for its bytes, as the Java SDK did.",
            tuple(
                one
                for struct in (IDENTIFIER, PARTITIONING)
                for one in in_codec(struct, len=lambda _: _utf16_length)
            ),
        ),
        "tracker-iggy-send-of-nothing": (
            "Writes a send without any message, as the client did up to March 2024.",
            (
                *in_codec(SEND, ("0.0.30",), messages_no_messages=_never),
                (json_body, "refuse", _unless_nothing),
            ),
        ),
        "tracker-iggy-index-of-plain-sizes": (
            "Writes index positions that do not count what encryption adds to a message, as the server did.",
            ((send, "_write_messages", _write_plain_positions),),
        ),
    },
)

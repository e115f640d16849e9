"""Bugs of Iggy's server and clients, repeated: all of a public list that an input can show."""

from struct import pack
from typing import Any, ClassVar, Final

from attrs import evolve
from xxhash import xxh3_64_intdigest

from tests.mutants.history_base import Panic, Repeated, Trigger
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome, refused_outcome
from wireproof.formats import Decoded, Format
from wireproof.iggy import poll
from wireproof.iggy.message import MessageRules, read_message
from wireproof.iggy.poll import PLAIN_BODY, REVISIONS, PollRevision
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected


class IggyBug(Repeated):
    """The base of the Iggy mutants that repeat a bug."""

    system: ClassVar[str] = "iggy"


def _message(offset: int, payload: bytes, headers: bytes = b"") -> bytes:
    """Return the bytes of a polled message of 0.8."""
    fields = pack("<QQQQQII", 1, 0, offset, 1000, 1000, len(headers), len(payload))
    covered = fields + payload + headers
    return pack("<Q", xxh3_64_intdigest(covered)) + covered


def _poll(*messages: bytes) -> bytes:
    """Return the body of a poll response of 0.8."""
    return pack("<IQI", 1, len(messages) - 1, len(messages)) + b"".join(messages)


def _header(key: bytes, value: bytes) -> bytes:
    return pack("<I", len(key)) + key + b"\2" + pack("<I", len(value)) + value


# --- poll responses: both clients read messages of one header of 56 bytes, payload and user headers ---


def _is_polled(revision: PollRevision) -> bool:
    return revision.body is PLAIN_BODY and _has_headers_last(revision.message)


def _has_headers_last(rules: MessageRules) -> bool:
    return rules.layout.parts[-1].name == "headers"


class PositionNotMoved(IggyBug):
    """Looks for the next polled message behind the header of the last one, not behind its payload."""

    name = "iggy-1830-position-not-moved"
    bug = "https://github.com/apache/iggy/pull/1830"
    trigger = Trigger("decode", "iggy.poll/0.8", _poll(_message(0, b"a"), _message(1, b"b")))

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


class UserHeadersUnread(IggyBug):
    """Leaves the user headers of a polled message out, and reads the next message from their bytes."""

    name = "iggy-2455-user-headers-unread"
    bug = "https://github.com/apache/iggy/issues/2455"
    patches = ((poll, "read_message", _without_headers),)
    trigger = Trigger("decode", "iggy.poll/0.8", _poll(_message(0, b"a", _header(b"k", b"v"))))


# --- requests ---

LEAST_REQUEST: Final = 15
"""The size below which the server refused a poll request before it read any field, in bytes."""


def _slices_past_end(request: Request) -> bool:
    """Return True if the length of an identifier leads past its end, whatever the length may be."""
    data = request.data
    known = request.format == "iggy.identifier" and len(data) > 2 and data[0] in (1, 2)
    return known and 2 + data[1] > len(data)


class CutPacketPanics(IggyBug):
    """Ends its process at a request that ends inside a field."""

    name = "iggy-2741-cut-packet-panics"
    bug = "https://github.com/apache/iggy/pull/2741"
    trigger = Trigger("decode", "iggy.identifier/0.8", bytes.fromhex("01042a0000"))

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


MUTANTS: Final[dict[str, type[IggyBug]]] = {
    cls.name: cls for cls in (PositionNotMoved, UserHeadersUnread, CutPacketPanics)
}

"""The bodies of HTTP requests and replies: iggy.md, section 8.

A send is `{"partitioning": {"kind", "value"}, "messages": [{"id", "payload", "headers"}]}`; the stream and
the topic are in the path of the HTTP request. Up to 0.6.x the fields of a poll are those of the binary
response, whose layouts and rules serve here too. Since 0.7.0 the fields of a message header are in an object
`header`, and the headers are called `user_headers`, in sends since 0.9.0. Since 0.11.1-edge both have a
`context`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from attrs import evolve, frozen

from wireproof.iggy.destination import PARTITIONING, PARTITIONING_KINDS
from wireproof.iggy.header_kinds import KINDS_BY_NAME, SIZES, HeaderValue
from wireproof.iggy.headers import (
    TLV_WIRE_10,
    HeaderEntry,
    HeaderMap,
    block_size,
    check_map,
    map_of_entries,
    read_map_or_bytes,
    write_map_or_block,
)
from wireproof.iggy.http.json_body import (
    Array,
    Base64,
    Body,
    Form,
    JsonNode,
    Member,
    Object,
    Text,
    Uint,
    Word,
    base64_of,
    numbers,
    object_members,
    open_base64,
    required_member,
)
from wireproof.iggy.message import PAYLOAD, POLLED, SENT, header_maps
from wireproof.iggy.poll import CONTEXT, POLL
from wireproof.iggy.revision import EDGE, REVISIONS
from wireproof.iggy.send import CONFIRMATION, SEND, SEND_REPLY
from wireproof.schema.layout import Checksum, Number, Octets, Repeated
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import Struct, StructLayout, inner, many, optional, since
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

# --- json headers ---
#
# The headers of messages in JSON: iggy.md, sections 8.1 and 8.2.
#
# `{"key": {"kind", "value"}}`; since 0.9.0 `[{"key": {...}, "value": {...}}]`; since 0.10.0 also base64.


HeadersForm: TypeAlias = Callable[[Reader, JsonNode], HeaderMap | bytes]


def _read_object(reader: Reader, node: JsonNode) -> HeaderMap:
    entries: list[HeaderEntry] = []
    for name, value in node.members:
        reader.enter("headers", len(entries))
        key = name.text.encode()
        if len(key) not in SIZES:
            raise _too_long(reader, name, "key", key, "InvalidHeaderKey")
        reader.region("key", "json-string", name.start, name.end, key)
        entries.append((key, _read_value(reader, value)))
        reader.leave()
    return map_of_entries(reader, entries, node.start)


def _read_array(reader: Reader, node: JsonNode) -> HeaderMap:
    """Read an array of entries, whose key and value each have a kind and a value."""
    entries: list[HeaderEntry] = []
    for item in node.items:
        reader.enter("headers", len(entries))
        found = object_members(reader, item, "", ("key", "value"))
        key, value = (required_member(reader, item, found, name) for name in ("key", "value"))
        reader.enter("key")
        read_key = _read_value(reader, key, "InvalidHeaderKey")
        reader.leave()
        reader.enter("value")
        entries.append((read_key, _read_value(reader, value)))
        reader.leave()
        reader.leave()
    return map_of_entries(reader, entries, node.start)


def _read_base64(reader: Reader, node: JsonNode) -> HeaderMap | bytes:
    """Read a base64 string with the bytes of a header block, which may be encrypted."""
    return read_map_or_bytes(open_base64(reader, node, "headers"), TLV_WIRE_10)


OBJECT: Final[dict[str, HeadersForm]] = {"object": _read_object}
ARRAY: Final[dict[str, HeadersForm]] = {"array": _read_array}
BASE64: Final[dict[str, HeadersForm]] = {"string": _read_base64}
NULL: Final[dict[str, HeadersForm]] = {"null": lambda _reader, _node: ()}
"""What headers may be, by JSON type."""


@frozen
class Headers:
    """Headers in one of the forms that a revision allows.

    Attributes:
        forms: by JSON type.
        none: what writers write for no headers.
    """

    forms: Mapping[str, HeadersForm]
    none: list[Any] | None = None

    def read(self, reader: Reader, node: JsonNode, _name: str) -> HeaderMap | bytes:
        """Return the map, or the bytes of a block that is not a map."""
        if node.kind not in self.forms:
            text = f"expected {' or '.join(self.forms)}, got {node.kind}"
            raise reader.reject("type-mismatch", "headers", text, at=node.start)
        return self.forms[node.kind](reader, node)

    def write(self, writer: Writer, value: HeaderMap | bytes, _name: str) -> Any:  # noqa: ANN401 - a tree
        """Return an object, an array if keys have kinds, or a base64 string for a block that is not a map."""
        if isinstance(value, bytes):
            write_map_or_block(TLV_WIRE_10, Writer(scope=writer.scope), value)
            return base64_of(value)
        check_map(writer, value)
        if value and isinstance(value[0][0], HeaderValue):
            return [{"key": _value_json(key), "value": _value_json(one)} for key, one in value]
        return {key.decode(): _value_json(one) for key, one in value} or self.none


def _read_value(reader: Reader, node: JsonNode, detail: str = "InvalidHeaderValue") -> HeaderValue:
    """Read a kind and a value of 1 to 255 bytes.

    Up to 0.6.x the server bypasses its own constructors and stores a value of any length (section 8.2, last
    line), which no binary reader accepts. This reader enforces the limits of section 9.
    """
    found = object_members(reader, node, "", ("kind", "value"))
    kind = Word(KINDS_BY_NAME).read(reader, required_member(reader, node, found, "kind"), "kind")
    member = required_member(reader, node, found, "value")
    data = Base64().read(reader, member, "value")
    if len(data) not in SIZES:
        raise _too_long(reader, member, "value", data, detail)
    value = HeaderValue(KINDS_BY_NAME[kind].name, data)
    if fault := value.fault():  # section 10.3: readers accept it
        reader.remark(fault, "value", at=member.start)
    return value


def _too_long(reader: Reader, node: JsonNode, name: str, data: bytes, detail: str) -> Exception:
    return reader.reject("bad-length", name, f"{len(data)} bytes", at=node.start, detail=detail)


def _value_json(value: HeaderValue) -> dict[str, str]:
    return {"kind": value.kind, "value": base64_of(value.value)}


PARTITION_CONTEXT: Final = Struct(
    "PartitionContext", *CONTEXT, revisions=REVISIONS, cites="iggy.md §6.1, §8.1"
)
"""The partition that a poll came from, or that a send is for."""

_CONTEXT: Final = Object(PARTITION_CONTEXT.at(EDGE).type, numbers(CONTEXT))

# --- the ids of messages in sends: section 8.1 ---

_ID: Final = re.compile(r"\+?0*+([0-9]{0,39})")
_UUID: Final = re.compile(r"(?:-*+[0-9a-fA-F]){32}-*+")


@frozen
class Id(Uint):
    """An id that is a number, or a string: decimal, else 32 hex digits. Writers use it for a wide one."""

    def read(self, reader: Reader, node: JsonNode, name: str) -> int:
        """Return the number."""
        if node.kind != "string":
            return Uint.read(self, reader, node, name)
        decimal = _ID.fullmatch(node.text)
        if decimal and node.text.strip("+") and not int(decimal[1] or "0") >> 128:
            number = int(decimal[1] or "0")
        elif _UUID.fullmatch(node.text):
            number = int(node.text.replace("-", ""), 16)
        else:
            raise reader.reject("invalid-value", name, "neither decimal nor UUID", at=node.start)
        reader.region(name, "json-string", node.start, node.end, node.text)
        return number

    def write(self, writer: Writer, value: int, name: str) -> Any:  # noqa: ANN401 - a number or a string
        """Return the number, or its text if it is too wide for a number."""
        return str(value) if value >> 64 and not value >> 128 else Uint.write(self, writer, value, name)


# --- sends: section 8.1 ---


def _bodies(bits: int) -> tuple[Struct, Struct]:
    """Return the values of a message, whose id has so many bits, and of a send."""
    message = Struct(
        "JsonSentMessage",
        Number("id", f"uint{bits}le"),
        *header_maps(),
        PAYLOAD,
        revisions=REVISIONS,
        cites="iggy.md §8.1",
    )
    body = Struct(
        "JsonSend",
        inner("partitioning", PARTITIONING),
        many("messages", message),
        since(EDGE, Number("context_flag", "uint8")),  # JSON has null in place of a flag
        since(EDGE, optional("context", "context_flag", PARTITION_CONTEXT)),
        revisions=REVISIONS,
        cites="iggy.md §8.1",
    )
    return message, body


JSON_SENT, JSON_SEND = _bodies(128)
JSON_SENT_64, JSON_SEND_64 = _bodies(64)
"""The same in 0.7, whose ids have 64 bits."""


def _send(
    revision: str,
    headers: Member,
    identifier: Form = Id("uint64le"),
    bodies: tuple[Struct, Struct] = (JSON_SENT, JSON_SEND),
) -> Body:
    """Return the body of a revision. An id of over 64 bits is refused; 0.7 reads it as 0 (§11.1, R13)."""
    sent, value = (struct.at(revision).type for struct in bodies)
    layout, plain, limits = PARTITIONING.at(revision), SENT.at("0.0.30"), SEND.at(revision)
    chosen = (
        Member("kind", Word(tuple(PARTITIONING_KINDS.values()))),
        Member("value", Base64(), faults=lambda values: layout.faults(**values, length=len(values["value"]))),
    )
    message = (
        Member("id", identifier, absent=0),
        Member("payload", Base64(), faults=lambda values: plain.faults(payload=values["payload"])),
        evolve(headers, attribute="headers", absent=(), omitted=True),
    )
    members = (
        Member("partitioning", Object(layout.type, chosen)),
        Member(
            "messages",
            Array(Object(sent, message)),
            faults=lambda values: limits.faults(messages=values["messages"]),
        ),
        Member("context", _CONTEXT, absent=None, null=True, omitted=True),
    )
    return Body(Object(value, members if revision == EDGE else members[:2]))


SENDS: Final = {
    "0.0.30": _send("0.0.30", Member("headers", Headers(OBJECT | NULL)), Uint("uint128le")),
    "0.7": _send(
        "0.7", Member("headers", Headers(OBJECT | NULL)), Uint("uint64le"), (JSON_SENT_64, JSON_SEND_64)
    ),
    "0.8": _send("0.8", Member("headers", Headers(OBJECT | NULL))),
    "0.9": _send("0.9", Member("user_headers", Headers(ARRAY | NULL))),
    "0.10": _send("0.10", Member("user_headers", Headers(ARRAY | BASE64 | NULL))),
    EDGE: _send(EDGE, Member("user_headers", Headers(ARRAY | BASE64 | NULL))),
}

# --- polls up to 0.6.x: section 8.2 ---


def _plain_message(layout: StructLayout) -> Object:
    def faults(values: Mapping[str, Any]) -> Iterator[Fault]:
        yield from layout.faults(payload=values["payload"])
        for part in layout.parts:
            if isinstance(part, Checksum):
                computed = part.algorithm.of(values["payload"])
                for fault in layout.faults(checksum=values[part.name], computed=computed):
                    yield evolve(fault, path=part.name)

    def member(part: Number | Checksum | Octets) -> Member:
        if isinstance(part, Checksum):  # writers compute it
            return Member(
                part.name,
                Uint(part.kind),
                attribute=part.name,
                derive=lambda value: part.algorithm.of(value.payload),
            )
        if isinstance(part, Number):
            return numbers((part,))[0]
        if part.name == "headers":
            return Member(part.name, Headers(OBJECT | NULL), absent=())
        return Member(part.name, Base64(), faults=faults, refused=False)

    parts = (part for part in layout.parts if isinstance(part, Number | Checksum | Octets))
    return Object(layout.type, tuple(member(part) for part in parts))


def _plain(revision: str) -> Body:
    """Return a poll, which is an array if the layout has nothing but messages."""
    poll = POLL.at(revision)
    part = poll.part("messages")
    assert isinstance(part, Repeated)
    assert isinstance(part.of, StructLayout)
    messages = Member(
        "messages",
        Array(_plain_message(part.of)),
        faults=lambda values: poll.faults(messages=values["messages"]),
        refused=False,
    )
    return Body(Object(poll.type, (*numbers(poll.numbers), messages), bare=not poll.numbers))


# --- polls since 0.7.0 ---

_HEADER: Final = tuple(part for part in POLLED.at("0.9").parts if isinstance(part, Number | Checksum))
"""The members of a message header, which are the fields of the binary one."""
_PREFIX: Final = POLL.at("0.7").numbers

JSON_POLLED: Final = Struct(
    "JsonPolledMessage",
    *(Number(part.name, part.kind) for part in _HEADER),
    *header_maps(),
    PAYLOAD,
    revisions=REVISIONS,
    cites="iggy.md §8.2",
)
"""A message of a poll."""

JSON_POLL: Final = Struct(
    "JsonPoll",
    since(EDGE, inner("context", PARTITION_CONTEXT)),
    *_PREFIX,
    many("messages", JSON_POLLED),
    revisions=REVISIONS,
    cites="iggy.md §8.2",
)
"""A poll."""


_SIZES: Final[Mapping[str, Callable[[Any], int]]] = {
    "user_headers_length": lambda message: block_size(message.headers),
    "payload_length": lambda message: len(message.payload),
}
"""The lengths in a message header, which no value has."""


def _other_lengths(values: Mapping[str, Any]) -> Iterator[Fault]:
    sizes = block_size(values["headers"]), len(values["payload"])
    for name, size in zip(_SIZES, sizes, strict=True):
        if values[name] != size:
            yield remarked("iggy-json-length", path=name)


def _nonzero(values: Mapping[str, Any]) -> Iterator[Fault]:
    if values["reserved"]:  # section 11.1, R16
        yield remarked("iggy-json-reserved")


_RESERVED: Final = Member("reserved", Uint("uint64le"), derive=lambda _: 0, faults=_nonzero, refused=False)


def _headed(revision: str, headers: Headers, *, reserved: bool = True) -> Body:
    """Return a poll since 0.7.0. In 0.11.1-edge it has a context, and its count is right."""
    edge, value = revision == EDGE, JSON_POLL.at(revision).type

    def other_count(values: Mapping[str, Any]) -> Iterator[Fault]:
        count, found = values["count"], len(values["messages"])
        if count != found and edge:
            yield Fault("count-mismatch", f"{count} for {found}", detail="InvalidMessagesCount", path="count")
        elif count != found:
            yield remarked("iggy-message-count", path="count")

    lengths = (Member(name, Uint("uint32le"), derive=size) for name, size in _SIZES.items())
    header = Object(dict, (*numbers(_HEADER), *lengths, *[_RESERVED] * reserved))
    message = (
        Member("header", header, inline=True),
        Member("payload", Base64()),
        Member(
            "user_headers",
            headers,
            attribute="headers",
            absent=(),
            omitted=True,
            faults=_other_lengths,
            refused=False,
        ),
    )
    members = (
        *[Member("context", _CONTEXT)] * edge,
        *numbers(_PREFIX),
        Member("count", Uint("uint32le"), derive=lambda value: len(value.messages)),
        Member(
            "messages",
            Array(Object(JSON_POLLED.at(revision).type, message)),
            faults=other_count,
            refused=False,
        ),
    )
    return Body(Object(value, members))


POLLS: Final = {
    **{revision: _plain(revision) for revision in ("0.0.30", "0.0.40", "0.0.60")},
    "0.7": _headed("0.7", Headers(OBJECT), reserved=False),
    "0.9": _headed("0.9", Headers(ARRAY, none=[])),
    "0.10": _headed("0.10", Headers(ARRAY | BASE64 | NULL, none=[])),
    EDGE: _headed(EDGE, Headers(ARRAY | BASE64 | NULL, none=[])),
}

# --- replies to sends: section 8.1 ---

_CONFIRMATION: Final = CONFIRMATION.at("0.11")
_REPLY: Final = SEND_REPLY.at("0.11").type

REPLIES: Final = {
    "0.11": Body(
        Object(
            _REPLY,
            (Member("confirmations", Array(Object(_CONFIRMATION.type, numbers(_CONFIRMATION.numbers)))),),
        ),
        empty=_REPLY(confirmations=()),
    )
}
"""Before 0.11.0 the body is empty, which later clients read as no confirmations."""

# --- errors: section 8 ---

JSON_ERROR: Final = Struct(
    "JsonError",
    Number("id", "uint32le"),
    Octets("code"),
    Octets("reason"),
    since("0.0.40", Number("field_flag", "uint8", presence_of="field")),  # JSON has null in place of a flag
    since("0.0.40", Octets("field")),
    revisions=REVISIONS,
    cites="iggy.md §8",
)
"""An error. `id` is its code, or the HTTP status if no command failed; `field` names a wrong field."""

_ERROR: Final = (
    Member("id", Uint("uint32le")),
    Member("code", Text()),
    Member("reason", Text()),
    Member("field", Text(), absent=None, null=True),
)

ERRORS: Final = {
    "0.0.30": Body(Object(JSON_ERROR.at("0.0.30").type, _ERROR[:-1])),
    "0.0.40": Body(Object(JSON_ERROR.at("0.0.40").type, _ERROR)),
}

"""Messages of v0 and v1, field by field with their rules, and the entries of a log: kafka.md §2.1 to §2.4.

What a Kafka consumer does not check, and no conforming writer makes, gets a remark (§5, "IMPL"). Wrappers,
which are read by hand, are in `message`; the batches of v2 are in `batch`.
"""

from functools import partial
from typing import Any, Final

from attrs import evolve

from wireproof.kafka.attribute_bits import CODEC_MASK
from wireproof.kafka.batch import BATCH, CODECS, TIMESTAMP_TYPE
from wireproof.kafka.values import Log, Message
from wireproof.schema.layout import (
    REST,
    Checksum,
    ChecksumAlgorithm,
    Flag,
    Layout,
    Length,
    Number,
    Octets,
    OneOf,
    Packed,
    Repeated,
    When,
    named_bits,
)
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.source import Head
from wireproof.schema.struct import ByRevision, Struct, StructLayout, since
from wireproof.wire.checksums import crc32

CRC32: Final = ChecksumAlgorithm("crc32", crc32)
"""CRC-32 (ISO-HDLC): §2.1."""

# --- messages: §2.1 ---

MAGICS: Final = ("v0", "v1")
"""The revisions of messages, by magic."""

_MESSAGE_CODEC: Final = Flag("codec", CODEC_MASK, {number: CODECS[number] for number in range(4)})

MESSAGE_FLAGS: Final = ((_MESSAGE_CODEC,), (_MESSAGE_CODEC, TIMESTAMP_TYPE))
"""The attribute bits of a message, by magic: §2.1."""

NO_TIMESTAMP: Final = -1
"""The timestamp that means: none. A v0 message has no other."""

ZSTD: Final = 4


def build_message(timestamp: int = NO_TIMESTAMP, value: bytes | None = None, **fields: Any) -> Message:  # noqa: ANN401 - of the types of `Message`
    """Return a message: one without inner messages, or a wrapper without a value of its own."""
    return Message(timestamp=timestamp, value=value, **{"messages": None, **fields})


MESSAGE: Final = Struct(
    "Message",
    Number("offset", "int64", meaning="of a wrapper: that of its last message"),
    Length("size", "int32", of=REST, meaning="number of bytes after it"),
    Checksum("crc", "uint32", algorithm=CRC32, over=REST, meaning="CRC-32 of all bytes after it"),
    ByRevision("magic", lambda revision: Number("magic", "int8", const=MAGICS.index(revision))),
    ByRevision(
        "attributes",
        lambda revision: Number("attributes", "int8", flags=MESSAGE_FLAGS[MAGICS.index(revision)]),
    ),
    since("v1", Number("timestamp", "int64", meaning="in milliseconds; -1 if none")),
    Length("keyLength", "int32", of="key", null=-1, meaning="-1 is null"),
    Octets("key"),
    Length("valueLength", "int32", of="value", null=-1, meaning="-1 is null"),
    Octets("value"),
    revisions=MAGICS,
    value=Message,
    framed=True,
    build=build_message,
    cites="kafka.md §2.1",
)
"""A message that is not compressed."""

UNUSED_BITS_OF_MESSAGES: Final = tuple(~named_bits(flags) for flags in MESSAGE_FLAGS)
"""Attribute bits that have no meaning, by magic: §2.1. Bit 3 of v0 is one of them (L08)."""


def _odd_null(number: int) -> Fault | None:
    return remarked("length-below-minus1") if number < -1 else None  # L04, L05


def add_common_rules(struct: Struct) -> None:
    """Add the rules that messages and wrappers have: §2.1, §5 "IMPL"."""

    @struct.rule("offset", "kafka.legacy.unchecked", alone=True, unwritten=True)
    def _negative_message_offset(offset: int) -> Fault | None:
        return remarked("offset-negative") if offset < 0 else None  # L40

    @struct.rule("attributes", "kafka.legacy.attributes.unused", alone=True, unwritten=True)
    def _unused_message_bits(attributes: int, magic: int) -> Fault | None:
        unused = attributes & UNUSED_BITS_OF_MESSAGES[min(magic, 1)]  # L08 to L10
        return remarked("unknown-attr-bits") if unused else None

    @struct.rule("timestamp", "kafka.v1.timestamp", since="v1", alone=True, unwritten=True)
    def _early_timestamp(timestamp: int) -> Fault | None:
        return remarked("negative-timestamp") if timestamp < NO_TIMESTAMP else None  # L11

    struct.rule("keyLength", "kafka.legacy.null.negative", unwritten=True)(_odd_null)


add_common_rules(MESSAGE)
MESSAGE.rule("valueLength", "kafka.legacy.null.negative", unwritten=True)(_odd_null)


@MESSAGE.rule("crc", "kafka.legacy.crc")
def _wrong_message_crc(crc: int, computed: int) -> Fault | None:
    return None if crc == computed else Fault("crc-mismatch", detail="CRC_MISMATCH")


@MESSAGE.rule("attributes", "kafka.legacy.codec")
def _message_codec(attributes: int) -> Fault | None:
    """Find the codecs 5 to 7, which do not exist (L14), and 4, zstd, which v0 and v1 do not allow.

    §2.2: L13, Z56, Z57.
    """
    codec = attributes & CODEC_MASK
    if codec < ZSTD:
        return None
    return Fault(
        "unknown-codec", f"codec {codec}", detail="LEGACY_ZSTD" if codec == ZSTD else "UNKNOWN_CODEC"
    )


@MESSAGE.rule("timestamp", "kafka.legacy.encode.timestamp", since="v1", unread=True)
def _written_timestamp(timestamp: int) -> Fault | None:
    """Find a timestamp below -1: §1.7, "writer-side rules"."""
    if timestamp >= NO_TIMESTAMP:
        return None
    return Fault("invalid-value", f"{timestamp} in a v1 message")


PLAIN: Final = tuple(map(MESSAGE.at, MAGICS))
"""Messages that are not compressed, by magic."""

WRAPPED: Final = Packed(
    "value",
    codec_of="attributes",
    mask=CODEC_MASK,
    of=Repeated(
        "messages",
        of=Layout(
            "InnerMessage",
            (OneOf("", number="magic", layouts=dict(enumerate(PLAIN))),),
            cites="kafka.md §2.2",
        ),
    ),
)
"""The value of a wrapper is a compressed set of messages: §2.2."""


def _any_message(magic: int) -> Layout:
    """Return the layout of messages and wrappers of a magic; the codec shows what the value is."""
    plain, of_codec = PLAIN[magic], partial(When, number="attributes", mask=CODEC_MASK)
    value = (of_codec(plain.parts[-1], values=(0,)), of_codec(WRAPPED, values=(1, 2, 3)))
    return Layout(f"MessageV{magic}", (*plain.parts[:-1], *value), value=Message, cites="kafka.md §2.1")


MESSAGE_V0: Final = _any_message(0)

MESSAGE_V1: Final = _any_message(1)

# --- logs ---

BY_MAGIC: Final = (MESSAGE_V0, MESSAGE_V1, BATCH)
"""The layouts of entries by magic, which all of them have at the same position: §1.4."""


def _header(layout: StructLayout, last: str) -> StructLayout:
    """Return the fields before `last`; what it reads is a dictionary, and nothing is checked."""
    end = layout.parts.index(layout.part(last))
    return evolve(layout, parts=layout.parts[:end], rules=(), build=dict)


HEADERS: Final = (*(_header(layout, "keyLength") for layout in PLAIN), _header(BATCH, "records"))
"""The fields before the key or the records, by magic."""

HEADS: Final = tuple(map(Head, HEADERS))
"""The same, for a look at them without a reader."""

LOG: Final = Layout(
    "Log",
    (
        Repeated(
            "batches",
            of=Layout("Entry", (OneOf("", number="magic", layouts=dict(enumerate(BY_MAGIC))),)),
        ),
    ),
    value=Log,
    computed=("next_offset",),
    cites="kafka.md §2.4",
)  # fmt: skip

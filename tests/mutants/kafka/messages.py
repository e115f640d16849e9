"""Kafka codecs with a bug of a public tracker in messages and wrappers: `bugs.toml`."""

from typing import Final

from attrs import evolve

from tests.mutants.base import JsonObject, in_codec, mutant, patched, walk
from tests.mutants.kafka.helpers import PatchedKafka, replacing
from tests.mutants.kafka.records import each_record
from wireproof.adapters.contract import Request
from wireproof.kafka import message
from wireproof.kafka.attribute_bits import CONTROL, LOG_APPEND_TIME
from wireproof.kafka.layouts import MESSAGE_V0 as LAYOUT
from wireproof.kafka.layouts import NO_TIMESTAMP
from wireproof.kafka.message import MessageHead
from wireproof.kafka.size_and_magic import SizeAndMagic
from wireproof.kafka.values import Message
from wireproof.wire.checksums import crc32
from wireproof.wire.compression import snappy
from wireproof.wire.json_values import Json
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import Scope
from wireproof.wire.writer import Writer

# --- messages and wrappers: kafka.md, sections 2.1 and 2.2 ---

_effective, _next_size = message._effective, message._next_size  # noqa: SLF001 - the parts that are wrong in the mutants
_read, _inner_message = message.read, message._inner_message  # noqa: SLF001 - as above


@replacing(message, "_effective", "tracker-inner-offset-zero")
def _effective_at_zero(inner: Message, head: MessageHead, base: int) -> Message:
    """Gives every message of a wrapper the offset 0, as kafka-php did when it had decompressed the set."""
    return evolve(_effective(inner, head, base), offset=0)


@replacing(message, "_next_size", "tracker-inner-set-cut-refused")
def _next_size_of_whole(inner: Reader, defect: Rejected | None, scope: Scope) -> SizeAndMagic | None:
    """Refuses a compressed set whose last message is cut, where it ends, as kafka-python did."""
    prefix = _next_size(inner, defect, scope)
    if prefix is None and inner.left:
        raise inner.reject("truncated", "messages", "a message is cut")
    return prefix


def _check_with_next(reader: Reader) -> None:
    at = reader.pos + LAYOUT.offset("crc")
    stored = int.from_bytes(reader.data[at : at + 4], "big")
    if stored != crc32(reader.data[at + 4 : reader.end + 4]):
        raise reader.reject("crc-mismatch", "crc", at=at)


def _read_with_next(reader: Reader, magic: int) -> Message:
    _check_with_next(reader)
    return _read(reader, magic)


def _inner_with_next(window: Reader, head: MessageHead) -> Message:
    _check_with_next(window)
    return _inner_message(window, head)


@replacing(message, "_effective", "tracker-wrapper-append-time-ignored")
def _effective_with_own_time(inner: Message, head: MessageHead, base: int) -> Message:
    """Gives inner messages their own timestamps under a wrapper with append time, as Sarama did."""
    return evolve(_effective(inner, head, base), timestamp=inner.timestamp)


@replacing(message, "_effective", "tracker-inner-timestamp-missing")
def _effective_without_time(inner: Message, head: MessageHead, base: int) -> Message:
    """Reports the timestamp -1 for every message of a wrapper, as librdkafka did."""
    return evolve(_effective(inner, head, base), timestamp=NO_TIMESTAMP)


# --- codecs: kafka.md, section 3 ---

_has_xerial_header = snappy._has_xerial_header  # noqa: SLF001 - as above


@replacing(snappy, "_has_xerial_header", "tracker-snappy-not-concatenated")
def _only_first_header(reader: Reader) -> bool:
    """Reads the header of a second snappy stream as the length of a chunk, as snappy-java did."""
    return _has_xerial_header(reader) and "xerial" not in reader.path("magic")


# --- writers: kafka.md, sections 1.3, 1.9 and 2.2 ---


@mutant(PatchedKafka, "patch_value_to_write", "tracker-writes-null-key-empty")
def writes_null_key_empty(value: Json) -> Json:
    """Writes an empty key where there is none, but null values as null, as kafka-go did."""
    return each_record(value, lambda one: {**one, "key": one["key"] or ""})


def _is_wrapper_of_v1(part: JsonObject) -> bool:
    return part.get("magic") == "1" and part.get("messages") is not None


@mutant(PatchedKafka, "patch_value_to_write", "tracker-writes-wrapper-without-time")
def writes_wrapper_without_time(value: Json) -> None:
    """Writes a wrapper without a timestamp, where the latest of its messages belongs."""
    for part in walk(value):
        if _is_wrapper_of_v1(part) and not int(part["attributes"]) & LOG_APPEND_TIME:
            part["timestamp"] = "-1"


MARKER_KEYS: Final = ("00000000", "00000001")
"""The keys of ABORT and COMMIT markers of version 0."""


@mutant(PatchedKafka, "patch_value_to_write", "tracker-writes-marker-without-value")
def writes_marker_without_value(value: Json) -> None:
    """Writes transaction markers with an empty value, without version and epoch, as franz-go's kfake did."""
    for part in walk(value):
        if "records" in part and int(part["attributes"]) & CONTROL:
            each_record(part, lambda one: {**one, "value": ""} if one["key"] in MARKER_KEYS else one)


def _anything(writer: Writer, outer: Message, inner: Message) -> None:
    del writer, outer, inner


class WritesWrapperOfMagic0(PatchedKafka):
    """Writes a wrapper of magic 0 around messages of magic 1, which brokers refuse, as Sarama did."""

    name = "tracker-writes-wrapper-of-magic-0"
    patches = ((message, "_check_inner", _anything),)

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        for part in list(walk(value)):
            if _is_wrapper_of_v1(part):
                part |= {"magic": "0", "timestamp": "-1", "attributes": str(int(part["attributes"]) & 7)}
        return value


# --- other parts in the modules of the reference ---

patched(
    PatchedKafka,
    {
        "tracker-legacy-crc-reaches-next": (
            "Computes the CRC of a message over four bytes of the next one, too, as Redpanda did.",
            ((message, "read", _read_with_next), (message, "_inner_message", _inner_with_next)),
        ),
        "tracker-wrapper-crc-never-checked": (
            "Skips the CRC of a wrapper even where a broker checks it: it returned before the check.",
            in_codec(message.WRAPPER, crc_wrong_crc=lambda _: lambda *_: None),
        ),
    },
)

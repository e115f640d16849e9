"""The header of a frame: heka.md, section 1 (table Header) and section 2 (limits)."""

from typing import Final, Literal, get_args

from attrs import frozen

from wireproof.heka.schema import (
    CollectedFields,
    collect_fields,
    schema_of,
    skips_other_fields,
    write_field,
)
from wireproof.wire.cursor import NO_INDEX
from wireproof.wire.layout import Layout, OtherFields, ProtoField, proto_fields
from wireproof.wire.options import Options
from wireproof.wire.protobuf import WireField
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

HashFunction = Literal["MD5", "SHA1"]
HASH_FUNCTIONS: Final[tuple[HashFunction, ...]] = get_args(HashFunction)
"""The names of the enum, in the order of their numbers."""

MAX_MESSAGE: Final = 65536
"""The largest message in bytes, inclusive: section 2, MAX_MESSAGE_SIZE."""

MAX_HEADER: Final = 255
"""The largest header in bytes: section 2; its length is one unsigned byte."""


@frozen(kw_only=True)
class HekaHeader:
    """A header. An absent field is None: section 1, column default. `message_length` is computed."""

    message_length: int = 0
    hmac_hash_function: HashFunction | None
    hmac_signer: bytes | None
    hmac_key_version: int | None
    hmac: bytes | None


HEADER: Final = Layout(
    "Header",
    (
        ProtoField("message_length", 1, "uint32", required=True, cover="length", over="message"),
        ProtoField(
            "message_encoding", 2, "enum", codes={0: "PROTOCOL_BUFFER", 1: "JSON"},
            deprecated=True, meaning="until 2013-09-18",
        ),
        ProtoField(
            "hmac_hash_function", 3, "enum", codes=dict(enumerate(HASH_FUNCTIONS)), meaning="MD5 if absent"
        ),
        ProtoField("hmac_signer", 4, "string"),
        ProtoField("hmac_key_version", 5, "uint32", meaning="0 if absent"),
        ProtoField("hmac", 6, "bytes", cover="hmac", over="message"),
        OtherFields(),
    ),
    value=HekaHeader,
    cites="heka.md §1",
)  # fmt: skip


def max_message_size(options: Options) -> int:
    """Return the size of the largest message that `options` allow, in bytes."""
    return MAX_MESSAGE if options.max_message is None else options.max_message


@frozen
class UnknownFunction:
    """A number that the enum lacks, such as Logary's for SHA-256, and its position."""

    number: int
    at: int


def _hash(_reader: Reader, wire: WireField, _name: str) -> HashFunction | UnknownFunction:
    """Read the hash function, MD5 or SHA1: section 1."""
    if wire.value < len(HASH_FUNCTIONS):
        return HASH_FUNCTIONS[wire.value]
    return UnknownFunction(wire.value, wire.start)


def _length(_reader: Reader, wire: WireField, _name: str) -> int:
    return wire.value


def _encoding(reader: Reader, wire: WireField, name: str) -> int:
    """Read field 2, used until 2013-09-18: all readers now ignore it, also if it means JSON: S20, W11."""
    reader.remark("legacy-encoding" if not wire.value else "legacy-encoding-json", name, at=wire.at)
    return wire.value


HEADER_SCHEMA: Final = schema_of(
    HEADER,
    once=("message_length",),
    message_length=_length,
    message_encoding=_encoding,
    hmac_hash_function=_hash,
)
"""The fields of Header by number: section 1."""


def read(reader: Reader, options: Options) -> HekaHeader:
    """Read the whole window as a header.

    Raises:
        Rejected: `missing-field`, `bad-length` (a message of 0 bytes), `limit-exceeded`, `duplicate-field`,
            `auth-failed` (hash function), `type-mismatch`, and as `protobuf.fields`.
    """
    got = collect_fields(reader, HEADER_SCHEMA, unknown_kept=skips_other_fields(HEADER))
    if "message_length" not in got.values:  # S07, S18
        raise reader.reject("missing-field", "message_length", "required", detail="missing_message_length")
    if got.order[0] != 1:  # S19
        reader.remark("header-order", "message_length", at=got.at["message_length"])
    return HekaHeader(
        message_length=_message_length(reader, got, max_message_size(options)),
        hmac_hash_function=_hash_function(reader, got, options),
        hmac_signer=got.values.get("hmac_signer"),
        hmac_key_version=got.values.get("hmac_key_version"),
        hmac=got.values.get("hmac"),
    )


def _hash_function(reader: Reader, got: CollectedFields, options: Options) -> HashFunction | None:
    """Return the hash function, or None for a number that the enum does not have: section 3, A14.

    Protobuf takes such a number for an unknown field, and Go asks for the function only to verify an HMAC: it
    then ends.
    """
    name, found = "hmac_hash_function", got.values.get("hmac_hash_function")
    if not isinstance(found, UnknownFunction):
        return found
    if options.keys is not None and "hmac" in got.values:
        raise reader.reject("auth-failed", name, f"{found.number}", at=found.at, detail="auth_unknown_hash")
    low = found.number & 0xFFFF_FFFF
    cut = (reader.other("cut", name, HASH_FUNCTIONS[low]),) if low < len(HASH_FUNCTIONS) else ()
    others = (reader.other("number", name, str(found.number)), *cut)
    reader.remark("header-unknown-function", name, at=found.at, others=others)
    return None


def _message_length(reader: Reader, got: CollectedFields, max_size: int) -> int:
    """Return the length of the message, if it is valid: section 2."""
    name, at = "message_length", got.at["message_length"]
    length: int = got.values[name]
    if not length:  # S08
        raise reader.reject("bad-length", name, "0", at=at, detail="zero_message_length")
    if length > max_size:  # S24, S37; S25: Go and Python read it modulo 2^32
        detail = "message_length_overflow" if length >> 32 else "message_too_big"
        raise reader.reject("limit-exceeded", name, f"{length}, {max_size} allowed", at=at, detail=detail)
    return length


_WRITTEN: Final = tuple(part for part in proto_fields(HEADER) if not part.deprecated)


def encode_header(writer: Writer, value: HekaHeader, message_length: int) -> bytes:
    """Return the bytes of a header: the fields that are not None, in ascending order of their numbers.

    Raises:
        Rejected: `invalid-value`, also for a header over 255 bytes (section 7, bug 2).
    """
    inner = Writer(scope=(writer.scope, "header", NO_INDEX))
    for part in _WRITTEN:
        one = message_length if part.name == "message_length" else getattr(value, part.name)
        if one is not None:
            write_field(inner, part, one)
    if len(inner.data) > MAX_HEADER:
        raise inner.invalid("", f"needs {len(inner.data)} bytes, {MAX_HEADER} allowed")
    return bytes(inner.data)

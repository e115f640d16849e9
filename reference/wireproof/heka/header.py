"""The header of a frame: heka.md, section 1 (table Header) and section 2 (limits)."""

from typing import Final, Literal, get_args

from attrs import frozen

from wireproof.heka.schema import (
    VARINT_ONLY,
    CollectedFields,
    SchemaField,
    collect_fields,
    read_octets,
    read_text,
    read_uint32,
)
from wireproof.wire.cursor import NO_INDEX
from wireproof.wire.options import Options
from wireproof.wire.protobuf import WireField, write_bytes, write_varint
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


HEADER_SCHEMA: Final = {
    1: SchemaField("message_length", _length, VARINT_ONLY, once=True),
    2: SchemaField("message_encoding", _encoding, VARINT_ONLY),
    3: SchemaField("hmac_hash_function", _hash, VARINT_ONLY),
    4: SchemaField("hmac_signer", read_text),
    5: SchemaField("hmac_key_version", read_uint32, VARINT_ONLY),
    6: SchemaField("hmac", read_octets),
}
"""The fields of Header by number: section 1."""


def read(reader: Reader, options: Options) -> HekaHeader:
    """Read the whole window as a header.

    Raises:
        Rejected: `missing-field`, `bad-length` (a message of 0 bytes), `limit-exceeded`, `duplicate-field`,
            `auth-failed` (hash function), `type-mismatch`, and as `protobuf.fields`.
    """
    got = collect_fields(reader, HEADER_SCHEMA, unknown_kept=True)
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


def encode_header(writer: Writer, value: HekaHeader, message_length: int) -> bytes:
    """Return the bytes of a header: the fields that are not None, in ascending order of their numbers.

    Raises:
        Rejected: `invalid-value`, also for a header over 255 bytes (section 7, bug 2).
    """
    inner = Writer(scope=(writer.scope, "header", NO_INDEX))
    write_varint(inner, "message_length", 1, message_length)
    if value.hmac_hash_function is not None:
        write_varint(inner, "hmac_hash_function", 3, HASH_FUNCTIONS.index(value.hmac_hash_function))
    if value.hmac_signer is not None:
        write_bytes(inner, "hmac_signer", 4, value.hmac_signer)
    if value.hmac_key_version is not None:
        if not 0 <= value.hmac_key_version < 1 << 32:
            raise inner.invalid("hmac_key_version", f"{value.hmac_key_version} does not fit uint32")
        write_varint(inner, "hmac_key_version", 5, value.hmac_key_version)
    if value.hmac is not None:
        write_bytes(inner, "hmac", 6, value.hmac)
    if len(inner.data) > MAX_HEADER:
        raise inner.invalid("", f"needs {len(inner.data)} bytes, {MAX_HEADER} allowed")
    return bytes(inner.data)

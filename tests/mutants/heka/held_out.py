"""Heka mutants of the two held-out samples.

Two samples were chosen from the specification alone, and counted before anyone looked which case catches a
mutant of them. None was changed afterwards. So they measure the suite where nobody had tuned it. Cases that
the first sample showed to be missing were written for it.
"""

import hmac
from collections.abc import Mapping
from typing import Any, Final

from attrs import evolve

from tests.mutants.base import Patched, ReferenceCodec, walk, with_options
from tests.mutants.heka.helpers import PatchedHeka, PatchedTable
from wireproof.adapters.contract import Request
from wireproof.heka import frame, hmac_signature, message, scan
from wireproof.heka.frame import HekaFrame
from wireproof.heka.header import HekaHeader
from wireproof.heka.message import FIELD_SCHEMA
from wireproof.heka.schema import CollectedFields, SchemaField, collect_fields, write_field
from wireproof.wire.json_values import Json
from wireproof.wire.layout import ProtoField
from wireproof.wire.options import Options
from wireproof.wire.protobuf import LENGTH_DELIMITED, WireField
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

# --- messages: heka.md, sections 1 and 4 ---


def _packed_once_packed(slot: SchemaField) -> SchemaField:
    """Return the row; it drops unpacked values that follow packed ones of the same Field."""
    packed: list[Reader] = []

    def read(reader: Reader, wire: WireField, name: str) -> Any:  # noqa: ANN401 - as the row reads it
        found = slot.read(reader, wire, name)
        if wire.wire == LENGTH_DELIMITED:
            packed[:] = [reader]
        elif packed and packed[0] is reader:
            return []
        return found

    return evolve(slot, read=read)


class PackedOncePacked(PatchedTable):
    """Drops the numbers of a Field that are unpacked and follow packed ones."""

    name = "heka-packed-once-packed"
    killed_by = ("heka.message/0.10/integer/packed-then-unpacked",)

    def rows(self) -> Mapping[int, SchemaField]:
        """Integers, doubles and bools."""
        return {number: _packed_once_packed(FIELD_SCHEMA[number]) for number in (6, 7, 8)}


QUIET: Final = "7ff8000000000000"


class NanCanonical(ReferenceCodec):
    """Tells one NaN for all of them, as a language that compares by value may."""

    name = "heka-nan-canonical"
    killed_by = ("heka.message/0.10/double/nan-bits",)
    system = "heka"

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Change the doubles in place."""
        del request, data
        for part in walk(value):
            if "value_double" in part:
                part["value_double"] = [QUIET if _is_nan(bits) else bits for bits in part["value_double"]]
        return value


def _is_nan(bits: str) -> bool:
    return int(bits, 16) & (1 << 63) - 1 > 0x7FF << 52


# --- streams: heka.md, sections 2 and 3 ---

_digest = hmac_signature.hmac_digest


def _as_long_as_stored(header: HekaHeader, key: bytes, message: bytes) -> bytes:
    whole = _digest(header, key, message)
    return whole[: len(header.hmac)] if header.hmac else whole


class HmacPrefix(Patched):
    """Compares only as many bytes of a digest as the header holds of it."""

    name = "heka-hmac-prefix"
    killed_by = ("heka.stream/0.10/hmac/digest-cut",)
    system = "heka"
    patches = ((hmac_signature, "hmac_digest", _as_long_as_stored),)


class LimitFixed(ReferenceCodec):
    """Limits messages to 65536 bytes, whatever limit is set."""

    name = "heka-limit-fixed"
    killed_by = ("heka.stream/0.10/limit/raised",)
    system = "heka"

    def options(self, request: Request) -> Options:
        """Drop the limit of the request."""
        return with_options(request, max_message=None)


# --- messages: heka.md, section 4 ---


class FieldsByName(ReferenceCodec):
    """Keeps Fields in a map: of two with one name the last is left, as with readers in Python and Java."""

    name = "heka-fields-by-name"
    killed_by = ("heka.message/0.10/states/pairs-12",)
    system = "heka"

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Keep each name once, at its first place."""
        del request, data
        for part in walk(value):
            if isinstance(part.get("fields"), list):
                part["fields"] = list({field["name"]: field for field in part["fields"]}.values())
        return value


FIRST_VALUE: Final = 4
"""The least tag of a Field's values."""


def _collect_name_first(reader: Reader, schema: Mapping[int, SchemaField], **how: Any) -> CollectedFields:  # noqa: ANN401 - handed on
    got = collect_fields(reader, schema, **how)
    if schema is message.FIELD_SCHEMA and "name" in got.values:
        before = got.order[: got.order.index(1)]
        if any(number >= FIRST_VALUE for number in before):
            raise reader.reject("missing-field", "name", "a value before it", at=got.at["name"])
    return got


class NameFirst(PatchedHeka):
    """Refuses a Field with a value before its name, as C does."""

    name = "heka-name-first"
    killed_by = ("heka.message/0.10/order/value-then-name",)
    patches = ((message, "collect_fields", _collect_name_first),)


def _write_unless_default(writer: Writer, part: ProtoField, value: bytes | int | str) -> None:
    if value or part not in message.MESSAGE.parts:
        write_field(writer, part, value)


class EncodeDefaultsOmitted(PatchedHeka):
    """Leaves out numbers of 0 and empty texts of a message, as proto3 does."""

    name = "heka-encode-defaults-omitted"
    killed_by = ("heka.message/0.10/states/pairs-01",)
    patches = ((message, "write_field", _write_unless_default),)


# --- framing: heka.md, section 2 ---


class _AnyByte(int):
    """A byte that equals all others."""

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int)

    def __ne__(self, other: object) -> bool:
        return not isinstance(other, int)


class UnitSeparatorUnchecked(PatchedHeka):
    """Steps over the byte behind a header without a look whether it is 1F."""

    name = "heka-unit-separator-unchecked"
    missing_rule = True
    killed_by = ("heka.stream/0.10/scan/separators-64",)
    patches = tuple((module, "UNIT_SEPARATOR", _AnyByte(frame.UNIT_SEPARATOR)) for module in (frame, scan))


_read = frame.read


def _read_line(reader: Reader, options: Options) -> HekaFrame | None:
    found = _read(reader, options)
    if found is not None and reader.data[reader.pos : reader.pos + 1] == b"\n":
        reader.skip("newline", 1)
    return found


class NewlineAfterFrame(PatchedHeka):
    """Takes a newline behind a frame for a part of it, since some files have one."""

    name = "heka-newline-after-frame"
    left_open = "readers of Heka pass over what is between frames, or refuse it"
    patches = ((frame, "read", _read_line),)


# --- signatures: heka.md, section 3 ---


def _md5(header: HekaHeader, key: bytes, data: bytes) -> bytes:
    del header
    return hmac.digest(key, data, "md5")


class HashFunctionIgnored(PatchedHeka):
    """Computes HMAC-MD5, whatever function the header names."""

    name = "heka-hash-function-ignored"
    killed_by = ("heka.stream/0.10/hmac/sha1",)
    patches = ((hmac_signature, "hmac_digest", _md5),)

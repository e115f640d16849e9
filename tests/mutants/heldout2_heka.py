"""Heka mutants of the second held-out sample, chosen from the specification alone.

As in `heldout1_heka`, none was changed after it was known which case catches it. Neither the suite nor a
fuzzer was tuned to them.
"""

import hmac
from collections.abc import Mapping
from typing import Any, Final

from tests.mutants.base import ReferenceCodec, walk
from tests.mutants.patched import Patched
from wireproof.adapters.contract import Request
from wireproof.heka import frame, hmac_signature, message, scan
from wireproof.heka.frame import HekaFrame
from wireproof.heka.header import HekaHeader
from wireproof.heka.schema import CollectedFields, SchemaField, collect_fields, write_field
from wireproof.wire.json_values import Json
from wireproof.wire.layout import ProtoField
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


class PatchedHeka(Patched):
    """A Heka codec with other parts; in itself no mutant."""

    system = "heka"


# --- messages: heka.md, section 4 ---


class FieldsByName(ReferenceCodec):
    """Keeps Fields in a map: of two with one name the last is left, as with readers in Python and Java."""

    name = "heka-fields-by-name"
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
    patches = ((message, "collect_fields", _collect_name_first),)


def _write_unless_default(writer: Writer, part: ProtoField, value: bytes | int | str) -> None:
    if value or part not in message.MESSAGE.parts:
        write_field(writer, part, value)


class EncodeDefaultsOmitted(PatchedHeka):
    """Leaves out numbers of 0 and empty texts of a message, as proto3 does."""

    name = "heka-encode-defaults-omitted"
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
    patches = ((frame, "read", _read_line),)


# --- signatures: heka.md, section 3 ---


def _md5(header: HekaHeader, key: bytes, data: bytes) -> bytes:
    del header
    return hmac.digest(key, data, "md5")


class HashFunctionIgnored(PatchedHeka):
    """Computes HMAC-MD5, whatever function the header names."""

    name = "heka-hash-function-ignored"
    patches = ((hmac_signature, "hmac_digest", _md5),)


MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {
    made.name: made
    for made in (
        FieldsByName,
        NameFirst,
        EncodeDefaultsOmitted,
        UnitSeparatorUnchecked,
        NewlineAfterFrame,
        HashFunctionIgnored,
    )
}
"""Name to class."""

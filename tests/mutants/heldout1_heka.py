"""Heka mutants of the first held-out sample, chosen from the specification alone.

They were written and counted before anyone looked which case would catch them. So they measure the suite
where nobody had tuned it. Cases that were missing were written afterwards.
"""

from collections.abc import Mapping
from typing import Any, Final

from attrs import evolve

from tests.mutants.base import ReferenceCodec, walk, with_options
from tests.mutants.patched import Patched
from tests.mutants.patched_heka import PatchedTable
from wireproof.adapters.contract import Request
from wireproof.heka import hmac_signature
from wireproof.heka.header import HekaHeader
from wireproof.heka.message import FIELD_SCHEMA
from wireproof.heka.schema import SchemaField
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.protobuf import LENGTH_DELIMITED, WireField
from wireproof.wire.reader import Reader

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

    def rows(self) -> Mapping[int, SchemaField]:
        """Integers, doubles and bools."""
        return {number: _packed_once_packed(FIELD_SCHEMA[number]) for number in (6, 7, 8)}


QUIET: Final = "7ff8000000000000"


class NanCanonical(ReferenceCodec):
    """Tells one NaN for all of them, as a language that compares by value may."""

    name = "heka-nan-canonical"
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
    system = "heka"
    patches = ((hmac_signature, "hmac_digest", _as_long_as_stored),)


class LimitFixed(ReferenceCodec):
    """Limits messages to 65536 bytes, whatever limit is set."""

    name = "heka-limit-fixed"
    system = "heka"

    def options(self, request: Request) -> Options:
        """Drop the limit of the request."""
        return with_options(request, max_message=None)


MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {
    made.name: made for made in (PackedOncePacked, NanCanonical, HmacPrefix, LimitFixed)
}
"""Name to class."""

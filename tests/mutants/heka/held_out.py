"""Heka mutants of the two held-out samples.

Two samples were chosen from the specification alone, and counted before anyone looked which case catches a
mutant of them. None was changed afterwards. So they measure the suite where nobody had tuned it. Cases that
the first sample showed to be missing were written for it.
"""

from collections.abc import Sequence
from typing import Any, Final

from tests.mutants.base import in_codec, mutant, patched, variant, walk, with_options
from tests.mutants.heka.helpers import PatchedHeka, ReadArray, in_arrays
from wireproof.adapters.contract import Request
from wireproof.heka import scan, stream
from wireproof.heka.message import FIELD, VALUE_ARRAYS
from wireproof.heka.stream import HekaFrame, HekaHeader
from wireproof.schema.rules import KEY, Check, Fault
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.protobuf import LENGTH_DELIMITED, WireField
from wireproof.wire.reader import Reader

# --- messages: heka.md, sections 1 and 4 ---


def _packed_once_packed(read_array: ReadArray) -> ReadArray:
    """Drop unpacked values that follow packed ones of the same field of a Field."""
    packed: list[tuple[Reader, str]] = []

    def read(reader: Reader, name: str, field: WireField) -> list[Any]:
        found = read_array(reader, name, field)
        if field.wire == LENGTH_DELIMITED:
            packed[:] = [(reader, name)]
        elif packed and packed[0][0] is reader and packed[0][1] == name:
            return []
        return found

    return read


QUIET: Final = "7ff8000000000000"


@mutant(PatchedHeka, "patch_value", "heka-nan-canonical", "heka.message/0.10/double/nan-bits")
def nan_canonical(value: Json) -> Json:
    """Tells one NaN for all of them, as a language that compares by value may."""
    for part in walk(value):
        if "value_double" in part:
            part["value_double"] = [QUIET if _is_nan(bits) else bits for bits in part["value_double"]]
    return value


def _is_nan(bits: str) -> bool:
    return int(bits, 16) & (1 << 63) - 1 > 0x7FF << 52


# --- streams: heka.md, sections 2 and 3 ---

_digest = stream.hmac_digest


def _as_long_as_stored(header: HekaHeader, key: bytes, message: bytes) -> bytes:
    whole = _digest(header, key, message)
    return whole[: len(header.hmac)] if header.hmac else whole


variant(
    PatchedHeka,
    "heka-hmac-prefix",
    "Compares only as many bytes of a digest as the header holds of it.",
    "heka.stream/0.10/hmac/digest-cut",
    patches=((stream, "hmac_digest", _as_long_as_stored),),
)


@mutant(PatchedHeka, "options", "heka-limit-fixed", "heka.stream/0.10/limit/raised")
def limit_fixed(request: Request) -> Options:
    """Limits messages to 65536 bytes, whatever limit is set."""
    return with_options(request, max_message=None)


# --- messages: heka.md, section 4 ---


@mutant(PatchedHeka, "patch_value", "heka-fields-by-name", "heka.message/0.10/states/pairs-12")
def fields_by_name(value: Json) -> Json:
    """Keeps Fields in a map: of two with one name the last is left, as with readers in Python and Java."""
    for part in walk(value):
        if isinstance(part.get("fields"), list):
            part["fields"] = list({field["name"]: field for field in part["fields"]}.values())
    return value


def _name_first(rule: Check) -> Check:
    def check(order: Sequence[str], *fields: Any) -> Fault | None:  # noqa: ANN401 - those of the rule
        before = order[: order.index("name")]
        if {*before}.intersection(VALUE_ARRAYS):
            return Fault("missing-field", "a value before it", path="name", at=KEY)
        return rule(order, *fields)

    return check


# --- framing: heka.md, section 2 ---


class _AnyByte(int):
    """A byte that equals all others."""

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int)

    def __ne__(self, other: object) -> bool:
        return not isinstance(other, int)


_read = stream.read


def _read_line(reader: Reader, options: Options) -> HekaFrame | None:
    found = _read(reader, options)
    if found is not None and reader.data[reader.pos : reader.pos + 1] == b"\n":
        reader.skip("newline", 1)
    return found


variant(
    PatchedHeka,
    "heka-newline-after-frame",
    "Takes a newline behind a frame for a part of it, since some files have one.",
    left_open="readers of Heka pass over what is between frames, or refuse it",
    patches=((stream, "read", _read_line),),
)


# --- other parts in the modules of the reference ---

patched(
    PatchedHeka,
    {
        "heka-packed-once-packed": (
            "Drops the numbers of a Field that are unpacked and follow packed ones.",
            in_arrays(_packed_once_packed),
            "heka.message/0.10/integer/packed-then-unpacked",
        ),
        "heka-name-first": (
            "Refuses a Field with a value before its name, as C does.",
            in_codec(FIELD, whole_other_array=_name_first),
            "heka.message/0.10/order/value-then-name",
        ),
        "heka-unit-separator-unchecked": (
            "Steps over the byte behind a header without a look whether it is 1F.",
            tuple((module, "UNIT_SEPARATOR", _AnyByte(stream.UNIT_SEPARATOR)) for module in (stream, scan)),
            "heka.stream/0.10/scan/separators-64",
        ),
    },
)

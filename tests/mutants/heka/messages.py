"""Codecs of Heka messages with one planted fault each, of real readers and writers: heka.md, section 4.

Most of them change one function of the reference's own codec, and nothing else.
"""

from collections.abc import Callable
from typing import Any

from attrs import evolve

from tests.mutants.base import REFERENCE, in_codec, mutant, patched
from tests.mutants.heka.helpers import PatchedHeka, ReadArray, in_arrays, no_rule, only
from wireproof.formats import Decoded, Format
from wireproof.heka.message import FIELD, MESSAGE
from wireproof.wire.options import Options
from wireproof.wire.protobuf import VARINT, WireField
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

# --- messages ---


def _bools(read_one: Callable[[Reader, WireField], int]) -> Callable[[ReadArray], ReadArray]:
    def change(read_array: ReadArray) -> ReadArray:
        def read(reader: Reader, name: str, field: WireField) -> list[Any]:
            if name != "value_bool":
                return read_array(reader, name, field)
            if field.wire == VARINT:
                return [read_one(reader, field)]
            return list(reader.take(name, field.length))

        return read

    return change


def _reversed_doubles(read_doubles: ReadArray) -> ReadArray:
    return lambda reader, name, field: [bits[::-1] for bits in read_doubles(reader, name, field)]


@mutant(PatchedHeka, "read", "heka-sniffs-snappy", "heka.message/0.10/snappy/plain-that-inflates")
def sniffs_snappy(row: Format, data: bytes, options: Options) -> Decoded:
    """Tries snappy on every message, and takes the bytes as they are if that fails."""
    try:
        return REFERENCE.read(row, data, evolve(options, compression="snappy"))
    except Rejected as rejected:
        if rejected.cls == "decompress-failed":
            return REFERENCE.read(row, data, options)
        raise


# --- other parts in the modules of the reference ---

patched(
    PatchedHeka,
    {
        "heka-uuid-any-length": (
            "Takes a uuid of any length, as Go and protobuf do.",
            in_codec(MESSAGE, uuid_wrong_size=no_rule),
        ),
        "heka-timestamp-double": (
            "Keeps a timestamp in a double, as Lua does.",
            in_codec(MESSAGE, _as_int64=lambda meaning: lambda number: int(float(meaning(number)))),
            "heka.message/0.10/timestamp/nanoseconds",
        ),
        "heka-packed-only": (
            "Takes packed numbers only.",
            in_arrays(only(packed=True)),
            "heka.message/0.10/integer/unpacked",
        ),
        "heka-bool-as-byte": (
            "Reads the first byte of an unpacked bool and no more: 80 00 is true to it.",
            in_arrays(_bools(lambda reader, field: reader.data[field.start])),
            "heka.message/0.10/bool/zero-in-two-bytes",
        ),
        "heka-bool-low-32-bits": (
            "Looks at the low 32 bits of a bool, as Lua does: 2^32 is false to it.",
            in_arrays(_bools(lambda _, field: field.value & 0xFFFF_FFFF)),
            "heka.message/0.10/bool/2-to-the-32",
        ),
        "heka-double-big-endian": (
            "Reads the bytes of a double in the wrong order.",
            in_codec(FIELD, _read_doubles=_reversed_doubles),
            "heka.message/0.10/double/packed",
        ),
    },
)

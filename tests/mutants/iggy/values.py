"""Iggy codecs with one fault in the values that they read, the numbers of typed headers among them.

iggy.md §2.3.
"""

import struct

from tests.mutants.base import mutant, walk
from tests.mutants.iggy.helpers import IggyMutant, header_values_of, maps_of, messages_of
from wireproof.adapters.contract import Request
from wireproof.iggy.header_kinds import KINDS_BY_NAME, float_text
from wireproof.wire.json_values import Json


@mutant(IggyMutant, "patch_value", "iggy-kind-swap", "iggy.headers/0.0.30/kinds/only-uint32")
def kind_swap(value: Json) -> None:
    """Takes signed numbers for unsigned ones and the reverse."""
    for held in header_values_of(value):
        kind = held["kind"]
        held["kind"] = kind[1:] if kind.startswith("uint") else f"u{kind}" if "int" in kind else kind


@mutant(IggyMutant, "patch_value", "iggy-value-size-padded", "iggy.headers/0.0.30/kinds/int32-3-bytes")
def value_padded(value: Json) -> None:
    """Pads or cuts a header value to the size of its kind."""
    for held in header_values_of(value):
        size = KINDS_BY_NAME[held["kind"]].size
        if size is not None:
            held["value"] = held["value"][: 2 * size].ljust(2 * size, "0")


@mutant(IggyMutant, "patch_value", "iggy-text-replaced", "iggy.headers/0.0.30/kinds/string-bad-utf8")
def text_replaced(value: Json) -> None:
    """Puts U+FFFD in the place of bytes that are no UTF-8, as Node and Java do."""
    for held in header_values_of(value):
        if held["kind"] == "string":
            held["value"] = bytes.fromhex(held["value"]).decode(errors="replace").encode().hex()


@mutant(IggyMutant, "patch_value", "iggy-bool-normalised", "iggy.headers/0.0.30/kinds/bool-is-2")
def bool_normalised(value: Json) -> None:
    """Reads every bool that is not 1 as false, as Java and Node do."""
    for held in header_values_of(value):
        if held["kind"] == "bool":
            held["value"] = "01" if held["value"] == "01" else "00"


@mutant(IggyMutant, "patch_value", "iggy-keys-lowercased", "iggy.headers/0.0.30/map/upper-case-key")
def keys_lowercased(value: Json) -> None:
    """Lowercases header keys, as HeaderKey::new of Rust does up to 0.8.x."""
    for part in maps_of(value):
        part["headers"] = [[_lowered(key), held] for key, held in part["headers"]]


def _lowered(key: Json) -> Json:
    """Return the key in lower case; it is text in TLV v1, and has a kind in TLV v2."""
    if isinstance(key, dict):
        return {**key, "value": _lowered(key["value"])}
    return bytes.fromhex(str(key)).lower().hex()


@mutant(IggyMutant, "patch_value", "iggy-state-ignored", "iggy.poll/0.0.40/state/poisoned")
def state_ignored(value: Json) -> None:
    """Hands on a poisoned message as an available one."""
    for part in messages_of(value):
        if "state" in part:
            part["state"] = "available"


@mutant(IggyMutant, "patch_value", "iggy-json-numbers-as-doubles", "iggy.json.send/0.0.30/id/above-2-53")
def numbers_as_doubles(value: Json, request: Request) -> None:
    """Reads the numbers of JSON as doubles."""
    for part in messages_of(value) if ".json." in request.format else ():
        part.update({name: str(int(float(part[name]))) for name in ("id", "offset") if name in part})


class NumberMutant(IggyMutant):
    """Replaces the numbers of typed headers, but no bool, and no bytes that the accessor refuses."""

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        for part in walk(value):
            if isinstance(part.get("typed"), str):
                part["typed"] = self.number(part["kind"], bytes.fromhex(part["value"]))
        return value

    def number(self, kind: str, data: bytes) -> str:
        """Return the number of a kind; this one has no fault."""
        return _number(kind, data)


def _number(kind: str, data: bytes) -> str:
    if kind.startswith("float"):
        return float_text(data)
    return str(int.from_bytes(data, "little", signed=kind.startswith("int")))


@mutant(NumberMutant, "number", "iggy-typed-unsigned", "iggy.headers/0.0.30/kinds/int16-high-bit")
def typed_unsigned(kind: str, data: bytes) -> str:
    """Reads signed numbers as unsigned ones."""
    return _number(f"u{kind}" if kind.startswith("int") else kind, data)


@mutant(NumberMutant, "number", "iggy-typed-low-64-bits", "iggy.headers/0.0.30/numbers/uint128-high-half")
def typed_low_64_bits(kind: str, data: bytes) -> str:
    """Reads 64 of 128 bits, as a language without wider integers does."""
    return _number(kind, data[:8])


@mutant(NumberMutant, "number", "iggy-typed-float-widened", "iggy.headers/0.10/numbers/float32-tenth")
def typed_float_widened(kind: str, data: bytes) -> str:
    """Shows a float32 with the digits of the float64 that it was widened to."""
    wide = struct.pack("<d", *struct.unpack("<f", data)) if kind == "float32" else data
    return float_text(wide) if kind == "float32" else _number(kind, data)


@mutant(NumberMutant, "number", "iggy-typed-as-double", "iggy.headers/0.0.30/numbers/uint64-above-2-53")
def typed_as_double(kind: str, data: bytes) -> str:
    """Reads integers as doubles, which hold 53 bits."""
    found = _number(kind, data)
    return found if kind.startswith("float") else str(int(float(found)))

"""Iggy writers with one fault each: iggy.md §11.1."""

from tests.mutants.base import mutant, walk
from tests.mutants.iggy.helpers import IggyMutant, header_values_of
from wireproof.adapters.contract import Request
from wireproof.iggy.header_kinds import KINDS_BY_NAME
from wireproof.wire.json_values import Json


@mutant(
    IggyMutant,
    "patch_value_to_write",
    "iggy-writes-big-endian-values",
    "iggy.headers/0.0.30/encode/only-uint32",
)
def writes_big_endian_numbers(value: Json) -> None:
    """Writes the numbers of header values in network order."""
    for held in header_values_of(value):
        if KINDS_BY_NAME[held["kind"]].size:
            held["value"] = bytes.fromhex(held["value"])[::-1].hex()


@mutant(IggyMutant, "patch_output", "iggy-writes-utf16-lengths", "iggy.identifier/0.0.30/encode/string-utf8")
def writes_utf16_lengths(data: bytes, request: Request) -> bytes:
    """Counts the length of a name in UTF-16 units, as the Java SDK does."""
    if request.format != "iggy.identifier" or data[0] != 2:
        return data
    units = len(data[2:].decode().encode("utf-16-le")) // 2
    return data[:1] + bytes([units]) + data[2:]


@mutant(
    IggyMutant, "patch_value_to_write", "iggy-writes-any-header", "iggy.headers/0.0.30/encode/int32-3-bytes"
)
def writes_any_header(value: Json) -> None:
    """Writes header values without a look at them, as Node does."""
    for held in header_values_of(value):
        size = KINDS_BY_NAME[held["kind"]].size if held["kind"] in KINDS_BY_NAME else None
        if size is not None and len(held["value"]) != 2 * size:
            held["kind"] = "raw"


@mutant(
    IggyMutant, "patch_value_to_write", "iggy-writes-raw-as-string", "iggy.headers/0.0.30/encode/only-string"
)
def writes_raw_as_string(value: Json) -> None:
    """Writes every raw value as a string and every string as raw."""
    for held in header_values_of(value):
        held["kind"] = {"raw": "string", "string": "raw"}.get(held["kind"], held["kind"])


@mutant(
    IggyMutant,
    "patch_value_to_write",
    "iggy-writes-small-kinds-as-raw",
    "iggy.headers/0.0.30/encode/only-bool",
)
def writes_small_as_raw(value: Json) -> None:
    """Writes bools and numbers of one byte as raw, as Node has no kinds for them."""
    for held in header_values_of(value):
        known = KINDS_BY_NAME.get(held["kind"])
        if known is not None and known.size == 1:
            held["kind"] = "raw"


@mutant(IggyMutant, "patch_value_to_write", "iggy-writes-balanced", "iggy.send/0.0.30/encode/partition-id")
def writes_balanced(value: Json) -> None:
    """Leaves the choice of the partition to the server, ignoring the request."""
    for part in walk(value):
        if part.get("kind") in ("partition_id", "messages_key"):
            part.update(kind="balanced", value="")

"""Iggy writers with one fault each: iggy.md §11.1."""

from copy import deepcopy

from tests.mutants.base import walk
from tests.mutants.iggy.helpers import IggyMutant, header_values_of
from wireproof.adapters.contract import Request
from wireproof.iggy.header_kinds import KINDS_BY_NAME
from wireproof.wire.json_values import Json


class WritesBigEndianNumbers(IggyMutant):
    """Writes the numbers of header values in network order."""

    name = "iggy-writes-big-endian-values"
    killed_by = ("iggy.headers/0.0.30/encode/only-uint32",)

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        value = deepcopy(value)
        for held in header_values_of(value):
            if KINDS_BY_NAME[held["kind"]].size:
                held["value"] = bytes.fromhex(held["value"])[::-1].hex()
        return value


class WritesUtf16Lengths(IggyMutant):
    """Counts the length of a name in UTF-16 units, as the Java SDK does."""

    name = "iggy-writes-utf16-lengths"
    killed_by = ("iggy.identifier/0.0.30/encode/string-utf8",)

    def patch_output(self, data: bytes, request: Request) -> bytes:
        if request.format != "iggy.identifier" or data[0] != 2:
            return data
        units = len(data[2:].decode().encode("utf-16-le")) // 2
        return data[:1] + bytes([units]) + data[2:]


class WritesAnyHeader(IggyMutant):
    """Writes header values without a look at them, as Node does."""

    name = "iggy-writes-any-header"
    killed_by = ("iggy.headers/0.0.30/encode/int32-3-bytes",)

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        value = deepcopy(value)
        for held in header_values_of(value):
            size = KINDS_BY_NAME[held["kind"]].size if held["kind"] in KINDS_BY_NAME else None
            if size is not None and len(held["value"]) != 2 * size:
                held["kind"] = "raw"
        return value


class WritesRawAsString(IggyMutant):
    """Writes every raw value as a string and every string as raw."""

    name = "iggy-writes-raw-as-string"
    killed_by = ("iggy.headers/0.0.30/encode/only-string",)

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        value = deepcopy(value)
        for held in header_values_of(value):
            held["kind"] = {"raw": "string", "string": "raw"}.get(held["kind"], held["kind"])
        return value


class WritesSmallAsRaw(IggyMutant):
    """Writes bools and numbers of one byte as raw, as Node has no kinds for them."""

    name = "iggy-writes-small-kinds-as-raw"
    killed_by = ("iggy.headers/0.0.30/encode/only-bool",)

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        value = deepcopy(value)
        for held in header_values_of(value):
            known = KINDS_BY_NAME.get(held["kind"])
            if known is not None and known.size == 1:
                held["kind"] = "raw"
        return value


class WritesBalanced(IggyMutant):
    """Leaves the choice of the partition to the server, ignoring the request."""

    name = "iggy-writes-balanced"
    killed_by = ("iggy.send/0.0.30/encode/partition-id",)

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        value = deepcopy(value)
        for part in walk(value):
            if part.get("kind") in ("partition_id", "messages_key"):
                part.update(kind="balanced", value="")
        return value

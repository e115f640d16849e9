"""Faults in what an encoder writes.

Each class is one; `kafka.MUTANTS` lists them.
"""

from collections.abc import Callable

from tests.mutants.base import JsonObject
from tests.mutants.kafka_helpers import (
    KafkaMutant,
)
from wireproof.adapters.contract import Request
from wireproof.wire.json_values import Json

# --- encoders ---


class EncodeNullAsEmpty(KafkaMutant):
    """Writes an empty key and value where there is none."""

    name = "encode-null-as-empty"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Empty for null in every record."""
        del request
        return _each_record(value, lambda one: {**one, "key": one["key"] or "", "value": one["value"] or ""})


class EncodeTimestampsAbsolute(KafkaMutant):
    """Writes whole timestamps where deltas belong."""

    name = "encode-timestamps-absolute"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Add the base to every delta."""
        del request
        if not isinstance(value, dict) or "baseTimestamp" not in value:
            return value
        base = int(str(value["baseTimestamp"]))
        return _each_record(
            value, lambda one: {**one, "timestampDelta": str(base + int(one["timestampDelta"]))}
        )


class EncodeOffsetDeltasZero(KafkaMutant):
    """Writes every record with offset delta 0."""

    name = "encode-offset-deltas-zero"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Set the deltas to zero."""
        del request
        return _each_record(value, lambda one: {**one, "offsetDelta": "0"})


class EncodeHeadersDropped(KafkaMutant):
    """Writes records without their headers."""

    name = "encode-headers-dropped"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Remove the headers."""
        del request
        return _each_record(value, lambda one: {**one, "headers": []})


class EncodeCodecIgnored(KafkaMutant):
    """Writes every batch uncompressed."""

    name = "encode-codec-ignored"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Attributes without a codec; a wrapper stays, as nothing else can hold its messages."""
        del request
        if not isinstance(value, dict) or "records" not in value:
            return value
        return {**value, "attributes": str(int(str(value["attributes"])) & ~7)}


class EncodeLengthIncludesItself(KafkaMutant):
    """Counts the length field of an entry in the length that it writes."""

    name = "encode-length-includes-itself"

    def patch_output(self, data: bytes, request: Request) -> bytes:
        """Write a length that is four too large; no checksum covers it."""
        del request
        return data[:8] + (int.from_bytes(data[8:12], "big") + 4).to_bytes(4, "big") + data[12:]


def _each_record(value: Json, change: Callable[[JsonObject], JsonObject]) -> Json:
    if not isinstance(value, dict) or not isinstance(found := value.get("records"), list):
        return value
    return {**value, "records": [change(one) for one in found if isinstance(one, dict)]}

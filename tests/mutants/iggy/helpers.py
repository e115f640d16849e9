"""Helpers of the Iggy mutants: the messages and headers of a value, and the reference of a revision."""

from collections.abc import Iterator
from typing import Any, ClassVar

from tests.mutants.base import JsonObject, Patched, ReferenceCodec, walk
from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.formats import FORMATS, Format
from wireproof.wire.json_values import Json, canonical_json


class IggyMutant(ReferenceCodec):
    """A codec of the Iggy formats only."""

    system: ClassVar[str] = "iggy"


class PatchedIggy(Patched, IggyMutant):
    """An Iggy codec with other parts; a base class, no mutant itself."""


def row_of(request: Request) -> Format:
    """Return the row of the format table for a request."""
    return FORMATS[f"{request.format}/{request.revision}"]


def messages_of(value: Json) -> Iterator[JsonObject]:
    """Return every message inside a value."""
    return (part for part in walk(value) if "payload" in part)


def maps_of(value: Json) -> Iterator[JsonObject]:
    """Return every object with a header map in `headers`; not one whose `headers` is an undecoded block."""
    return (part for part in walk(value) if isinstance(part.get("headers"), list))


def header_values_of(value: Json) -> Iterator[JsonObject]:
    """Return every header value: the second item of each pair."""
    return (pair[1] for part in maps_of(value) for pair in part["headers"])


def collapsed(headers: list[Any]) -> list[Any]:
    """Return the map with the last entry of each key."""
    last = {canonical_json(key): [key, held] for key, held in headers}
    return list(last.values())


def position_after(request: Request, value: JsonObject, count: int) -> int:
    """Return the position after `count` messages of a reader that counts the bytes it would write."""
    part = {**value, "messages": value["messages"][:count]}
    return len(formats.encode(row_of(request), part, request.options))

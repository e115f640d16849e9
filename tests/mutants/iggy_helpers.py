"""What the Iggy mutants share: where messages and headers stand in a value, and the reference by revision."""

from collections.abc import Iterator
from typing import Any, ClassVar

from tests.mutants.base import JsonObject, ReferenceCodec, walk
from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.formats import FORMATS, Format
from wireproof.wire.values import Json, canonical


class IggyMutant(ReferenceCodec):
    """A codec of the Iggy formats only."""

    system: ClassVar[str] = "iggy"


def row_of(request: Request) -> Format:
    """The row of the format that is asked for."""
    return FORMATS[f"{request.format}/{request.revision}"]


def messages_of(value: Json) -> Iterator[JsonObject]:
    """Every message inside a value."""
    return (part for part in walk(value) if "payload" in part)


def maps_of(value: Json) -> Iterator[JsonObject]:
    """Every object that holds a header map, under `headers`, and no block that is none."""
    return (part for part in walk(value) if isinstance(part.get("headers"), list))


def header_values_of(value: Json) -> Iterator[JsonObject]:
    """Every header value: the second of each pair."""
    return (pair[1] for part in maps_of(value) for pair in part["headers"])


def collapsed(headers: list[Any]) -> list[Any]:
    """The map with the last entry of each key."""
    last = {canonical(key): [key, held] for key, held in headers}
    return list(last.values())


def position_after(request: Request, value: JsonObject, count: int) -> int:
    """Where a reader stands after `count` messages, if it counts the bytes that it would write for them."""
    part = {**value, "messages": value["messages"][:count]}
    return len(formats.encode(row_of(request), part, request.options))

"""Generated HTTP bodies of Iggy: the messages of `iggy`, in every revision of the JSON form (iggy.md §8).

A send goes to partition 7; the stream and the topic are in the path of its request.
"""

import json
from base64 import b64encode
from collections.abc import Iterable
from typing import Any, Final

from wireproof.cases.generated_bytes import Recipe
from wireproof.iggy.family.made_messages import payloads, poll_30_value, poll_70_value
from wireproof.wire.json_values import Json

PARTITION_7: Final = bytes((7, 0, 0, 0))

NAMED_HEADERS: Final[dict[str, Any]] = {"0.7": {}, "0.9": {"user_headers": []}, "0.10": {"user_headers": []}}
"""The member for headers of a message without any, from 0.7 on."""

RESERVED: Final[dict[str, dict[str, int]]] = {"0.7": {}, "0.9": {"reserved": 0}, "0.10": {"reserved": 0}}


def _text(tree: Any) -> bytes:  # noqa: ANN401 - a JSON tree
    return json.dumps(tree, separators=(",", ":")).encode()


def _base64(data: bytes) -> str:
    return b64encode(data).decode()


def send(recipe: Recipe) -> bytes:
    """Return a send of any revision: its messages have no headers."""
    rows = [{"id": n + 1, "payload": _base64(payload)} for n, payload in enumerate(payloads(recipe))]
    place = {"kind": "partition_id", "value": _base64(PARTITION_7)}
    return _text({"partitioning": place, "messages": rows})


def send_value(recipe: Recipe) -> Json:
    """Return its value."""
    rows: list[Json] = [
        {"id": str(n + 1), "headers": [], "payload": payload.hex()}
        for n, payload in enumerate(payloads(recipe))
    ]
    return {"partitioning": {"kind": "partition_id", "value": PARTITION_7.hex()}, "messages": rows}


def poll_30(recipe: Recipe, *, revision: str) -> bytes:
    """Return a poll of 0.0.30, 0.0.40 or 0.0.60: an array of messages, or an object that has one."""
    value: Any = poll_30_value(recipe, revision=revision)
    rows = [
        {**_numbers(row), "headers": None, "payload": _base64(payload)}
        for row, payload in zip(value["messages"], payloads(recipe), strict=True)
    ]
    return _text({**_numbers(value), "messages": rows} if revision == "0.0.60" else rows)


def _numbers(row: dict[str, Any], without: Iterable[str] = ()) -> dict[str, Any]:
    """Return the members of a value that are numbers in JSON, or names of a state."""
    return {
        name: int(part) if part.isdecimal() else part
        for name, part in row.items()
        if isinstance(part, str) and name not in ("payload", *without)
    }


def poll_70(recipe: Recipe, *, revision: str) -> bytes:
    """Return a poll of 0.7, 0.9 or 0.10: each message has an object `header`."""
    value: Any = poll_70_value(recipe, revision="0.7" if revision == "0.7" else "0.9")
    rows = [
        {"header": _header(row, len(payload), revision), "payload": _base64(payload)}
        | NAMED_HEADERS[revision]
        for row, payload in zip(value["messages"], payloads(recipe), strict=True)
    ]
    return _text({**_numbers(value), "count": recipe.records, "messages": rows})


def _header(row: dict[str, Any], size: int, revision: str) -> dict[str, Any]:
    lengths = {"user_headers_length": 0, "payload_length": size}
    return {**_numbers(row), **lengths, **RESERVED[revision]}


def poll_70_json_value(recipe: Recipe, *, revision: str) -> Json:
    """Return its value: that of the binary poll with the same checksums."""
    return poll_70_value(recipe, revision="0.7" if revision == "0.7" else "0.9")

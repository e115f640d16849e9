"""Generated Heka messages, alone or in frames: a UUID, a timestamp and a payload of text. heka.md §1, §2.

Message n has the timestamp n + 1 and the payload of its number.
"""

from typing import Final

from wireproof.cases.generated_bytes import Recipe, joined, snappy_block, value_pieces
from wireproof.cases.made_case import alike
from wireproof.wire.json_values import Json

UUID: Final = bytes(range(16))

RECORD: Final = b"\x1e"
"""The separator before the header of a frame."""

UNIT: Final = b"\x1f"
"""The separator between the header and the message."""


def message(recipe: Recipe) -> bytes:
    """Return one message, as raw snappy if the recipe says so."""
    data = _message(recipe, 0)
    return snappy_block([data]) if recipe.codec == "snappy-raw" else data


def _message(recipe: Recipe, number: int) -> bytes:
    payload = joined(value_pieces(recipe.fill, recipe.value, number))
    stamp = b"\x10" + _base128(number + 1)
    return b"\x0a\x10" + UUID + stamp + b"\x32" + _base128(len(payload)) + payload


def _base128(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def message_value(recipe: Recipe, number: int = 0) -> Json:
    """Return the value of a message."""
    absent = ("type", "logger", "severity", "env_version", "pid", "hostname")
    payload = joined(value_pieces(recipe.fill, recipe.value, number))
    named: dict[str, Json] = {"uuid": UUID.hex(), "timestamp": str(number + 1), "payload": payload.hex()}
    return {**named, **dict.fromkeys(absent), "fields": []}


def stream(recipe: Recipe) -> bytes:
    """Return the frames of all messages."""
    return b"".join(_frame(_message(recipe, n)) for n in range(recipe.records))


def _frame(body: bytes) -> bytes:
    head = b"\x08" + _base128(len(body))
    return RECORD + bytes((len(head),)) + head + UNIT + body


def stream_value(recipe: Recipe) -> Json:
    """Return the value of the stream."""
    return {"frames": [_frame_value(recipe, n) for n in range(recipe.records)]}


def _frame_value(recipe: Recipe, number: int) -> Json:
    unsigned = ("hmac_hash_function", "hmac_signer", "hmac_key_version", "hmac")
    size = str(len(_message(recipe, number)))
    header: dict[str, Json] = {"message_length": size, **dict.fromkeys(unsigned)}
    return {"header": header, "message": message_value(recipe, number), "signer": None}


# --- the generators ---

GENERATORS: Final = {
    "heka.message/0.10": alike(message, message_value),
    "heka.stream/0.10": alike(stream, stream_value),
}
"""The generator of each kind."""

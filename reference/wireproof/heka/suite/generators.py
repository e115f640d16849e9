"""The generators of large messages, alone or in frames: a UUID, a timestamp and a payload of text.

Message n has the timestamp n + 1 and the payload of its number.
"""

from typing import Any, Final

from wireproof.cases.generated_bytes import MAX_PAYLOAD, Recipe, joined, snappy_block, value_pieces
from wireproof.cases.made_case import Generator
from wireproof.derive.mutate.encodings import generator_by_codec
from wireproof.derive.mutate.values_of_type import filled
from wireproof.heka.message import HEKA_MESSAGE
from wireproof.heka.stream import FrameStream
from wireproof.heka.suite.mutation import UUID
from wireproof.wire.options import Options


def _message(recipe: Recipe, number: int = 0) -> dict[str, Any]:
    """Return the parts of a message."""
    payload = joined(value_pieces(recipe.fill, recipe.value, number))
    return {"uuid": UUID, "timestamp": number + 1, "payload": payload}


def _frames(recipe: Recipe) -> FrameStream:
    frames = [{"header": {}, "message": _message(recipe, number)} for number in range(recipe.records)]
    value: FrameStream = filled(FrameStream, {"frames": frames})
    return value


_MESSAGE: Final = generator_by_codec(lambda recipe: filled(HEKA_MESSAGE.type, _message(recipe)))


def _packed(recipe: Recipe) -> bytes:
    """Return one message, as raw snappy if the recipe says so."""
    data = _MESSAGE.data(recipe)
    return snappy_block([data]) if recipe.codec == "snappy-raw" else data


GENERATORS: Final = {
    "heka.message/0.10": Generator(_packed, _MESSAGE.value, _MESSAGE.given),
    "heka.stream/0.10": generator_by_codec(_frames, Options(max_message=MAX_PAYLOAD + 1024)),
}
"""The generator of each kind."""

"""The generators of large messages and streams."""

from typing import Final

from wireproof.cases.made_case import alike
from wireproof.heka.family import made_messages

GENERATORS: Final = {
    "heka.message/0.10": alike(made_messages.message, made_messages.message_value),
    "heka.stream/0.10": alike(made_messages.stream, made_messages.stream_value),
}
"""The generator of each kind."""

"""The generators of large messages and streams."""

from typing import Final

from wireproof.cases.generate import heka
from wireproof.cases.made_case import alike

GENERATORS: Final = {
    "heka.message/0.10": alike(heka.message, heka.message_value),
    "heka.stream/0.10": alike(heka.stream, heka.stream_value),
}
"""The generator of each kind."""

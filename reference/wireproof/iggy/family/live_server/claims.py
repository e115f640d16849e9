"""What a server is asked: the sends of its revision."""

from typing import Final

from wireproof.adapters.contract import Claim, Hello
from wireproof.formats import FORMATS
from wireproof.iggy.family.live_server.stored import FIELDS

OBSERVED: Final = tuple(f"messages[].{name}" for name in FIELDS)
"""A poll shows the messages; the stream, the topic and the partition are those of this adapter."""


def hello_of_server(name: str, version: str, revision: str) -> Hello:
    """Return the claims about a server that takes sends of `revision`."""
    format_id = f"iggy.send/{revision}"
    features = tuple(
        atom.partition(":")[2] for atom in FORMATS[format_id].capabilities if atom.startswith("feature:")
    )
    claim = Claim(("decode",), ("none",), ("reader", "produce"), OBSERVED, features)
    return Hello(name, version, {format_id: claim}, errors="coarse", cost="slow")

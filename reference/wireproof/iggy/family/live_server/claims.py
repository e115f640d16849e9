"""What a server is asked: the sends of its revision."""

from typing import Final

from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.steps import SEQUENCE
from wireproof.formats import FORMATS
from wireproof.iggy.family.live_server import http_case, stored

OBSERVED: Final = {False: stored.FIELDS, True: http_case.FIELDS}
"""The fields of messages that a poll shows, over TCP and over HTTP; the partition is that of this adapter."""


SEQUENCES: Final = Claim((SEQUENCE,), ("none",), ("reader", "produce"))
"""Only cases with steps are about polls of a server: it writes polls, and reads none."""


def hello_of_server(name: str, version: str, format_id: str, *, over_http: bool) -> Hello:
    """Return the claims about a server that takes sends of a format."""
    observed = tuple(f"messages[].{field}" for field in OBSERVED[over_http])
    features = tuple(
        atom.partition(":")[2] for atom in FORMATS[format_id].capabilities if atom.startswith("feature:")
    )
    claim = Claim(("decode",), ("none",), ("reader", "produce"), observed, features)
    sequences = {} if over_http else {format_id.replace("send", "poll"): SEQUENCES}
    return Hello(name, version, {format_id: claim, **sequences}, errors="coarse", cost="slow")

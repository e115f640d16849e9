"""iggy-py 0.4.0 (Rust SDK 0.6.202), as a client of a fake server."""

from importlib.metadata import version
from typing import Any, Final

import iggy_py

from wireproof.adapters.contract import Claim
from wireproof.wire.json_values import Json
from wireproof_peers.iggy_sdk import SdkClient

STATES: Final = (
    (iggy_py.MessageState.Available, "available"),
    (iggy_py.MessageState.Unavailable, "unavailable"),
    (iggy_py.MessageState.Poisoned, "poisoned"),
    (iggy_py.MessageState.MarkedForDeletion, "marked_for_deletion"),
)
SHOWN: Final = ("offset", "state", "timestamp", "id", "checksum", "payload")


def _message(message: Any) -> Json:  # noqa: ANN401 - of the library
    state = message.state()
    return {
        "offset": str(message.offset()),
        "state": next(name for known, name in STATES if known == state),
        "timestamp": str(message.timestamp()),
        "id": str(message.id()),
        "checksum": str(message.checksum()),
        "payload": bytes(message.payload()).hex(),
    }


adapter: Final = SdkClient(
    sdk=iggy_py,
    name="iggy-py",
    version=version("iggy-py"),
    revisions={
        "iggy.poll/0.0.60": Claim(
            ops=("decode",), profiles=("reader",), observes=tuple(f"messages[].{name}" for name in SHOWN)
        ),
        "iggy.send/0.0.30": Claim(ops=("encode",), profiles=("reader",), features=()),
    },
    shown=_message,
    binary=False,
)

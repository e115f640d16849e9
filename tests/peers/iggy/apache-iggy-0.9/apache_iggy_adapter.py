"""apache-iggy 0.5 to 0.9 (Rust SDK 0.7 to 0.11), behind a server on the loopback.

Every edition bears the same module name: each stands in a folder of its own, which the environment names.
"""

import importlib
import os
import sys
from importlib.metadata import distributions
from typing import Any, Final

from attrs import evolve

from wireproof.adapters.contract import Claim
from wireproof.wire.values import Json
from wireproof_peers.iggy_sdk import ASKED, ASKED_OVER_HTTP, SdkClient
from wireproof_peers.iggy_vsr import VsrClient

FOLDER: Final = "WIREPROOF_APACHE_IGGY"
"""The variable of the environment that names the folder."""

SHOWN: Final = ("offset", "timestamp", "id", "checksum", "payload")
REVISIONS: Final = {"0.5": "0.7", "0.6": "0.8", "0.7": "0.9", "0.8": "0.9"}
"""Of a poll and of a send, by the edition of the SDK."""

VSR: Final = ("0.9",)
"""Editions that speak the framing from 0.11.0 on."""

JSON: Final = {"0.6": ("0.8", "0.7"), "0.7": ("0.9", "0.9"), "0.8": ("0.10", "0.10")}
"""Of a send and of a poll over HTTP; 0.5 has no HTTP client."""


def adapter() -> SdkClient:
    """The edition in the folder; raises `ImportError` where there is none."""
    folder = os.environ.get(FOLDER, "")
    sys.path.insert(0, folder)
    sdk = importlib.import_module("apache_iggy")
    found = next(iter(distributions(name="apache-iggy", path=[folder]))).version
    edition = found.rpartition(".")[0]
    if edition in VSR:
        return VsrClient(sdk, f"apache-iggy-{edition}", found)
    return SdkClient(
        sdk=sdk,
        name=f"apache-iggy-{edition}",
        version=found,
        revisions=_revisions(edition),
        shown=_message,
        binary=edition != "0.5",
    )


def _revisions(edition: str) -> dict[str, Claim]:
    polled = tuple(f"messages[].{name}" for name in SHOWN)
    read = Claim(ops=("decode",), profiles=("reader",), observes=polled)
    written = Claim(ops=("encode",), profiles=("reader",), features=(), observes=ASKED)
    revision = REVISIONS[edition]
    claims = {f"iggy.poll/{revision}": read, f"iggy.send/{revision}": written}
    if edition in JSON:
        send, poll = JSON[edition]
        over_http = evolve(written, observes=ASKED_OVER_HTTP)
        claims |= {f"iggy.json.send/{send}": over_http, f"iggy.json.poll/{poll}": read}
    return claims


def _message(message: Any) -> Json:  # noqa: ANN401 - of the library
    return {
        "offset": str(message.offset()),
        "timestamp": str(message.timestamp()),
        "id": str(message.id()),
        "checksum": str(message.checksum()),
        "payload": bytes(message.payload()).hex(),
    }

"""apache-iggy 0.5 to 0.9 (Rust SDK 0.7 to 0.11), as clients of a fake server.

All versions have the same module name, so each is installed into its own folder, which the environment names.
"""

import importlib
import os
import sys
from importlib.metadata import distributions
from typing import Any, Final

from attrs import evolve

from wireproof.adapters.contract import Claim
from wireproof.wire.json_values import Json
from wireproof_peers.iggy_sdk import ASKED, ASKED_OVER_HTTP, SdkClient
from wireproof_peers.iggy_vsr import VsrClient

FOLDER: Final = "WIREPROOF_APACHE_IGGY"
"""The environment variable with the folder."""

SHOWN: Final = ("offset", "timestamp", "id", "checksum", "payload")
REVISIONS: Final = {"0.5": "0.7", "0.6": "0.8", "0.7": "0.9", "0.8": "0.9"}
"""The revision of polls and sends by the version of the SDK."""

VSR: Final = ("0.9",)
"""The versions that speak the framing from 0.11.0 on."""

JSON: Final = {"0.6": ("0.8", "0.7"), "0.7": ("0.9", "0.9"), "0.8": ("0.10", "0.10")}
"""The revisions of a send and of a poll over HTTP; 0.5 has no HTTP client."""


def adapter() -> SdkClient:
    """Return the adapter of the version in the folder; raises `ImportError` if there is none."""
    folder = os.environ.get(FOLDER, "")
    sys.path.insert(0, folder)
    sdk = importlib.import_module("apache_iggy")
    found = next(iter(distributions(name="apache-iggy", path=[folder]))).version
    release = found.rpartition(".")[0]
    if release in VSR:
        return VsrClient(sdk, f"apache-iggy-{release}", found)
    return SdkClient(
        sdk=sdk,
        name=f"apache-iggy-{release}",
        version=found,
        revisions=_revisions(release),
        shown=_message,
        binary=release != "0.5",
    )


def _revisions(release: str) -> dict[str, Claim]:
    polled = tuple(f"messages[].{name}" for name in SHOWN)
    read = Claim(ops=("decode",), profiles=("reader",), observes=polled)
    written = Claim(ops=("encode",), profiles=("reader",), features=(), observes=ASKED)
    revision = REVISIONS[release]
    claims = {f"iggy.poll/{revision}": read, f"iggy.send/{revision}": written}
    if release in JSON:
        send, poll = JSON[release]
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

"""Records of answers in the notation of kafka.md §6: `offset/timestamp/key/value/headers`, `x` before hex."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hostile_kafka_bytes import STAMP

from wireproof.adapters.contract import Request
from wireproof.adapters.controller import Controller
from wireproof.cases.outcome import Outcome

EXAMPLES: Final[list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "examples" / "kafka.json").read_text()
)
HEX: Final[dict[str, str]] = {example["id"]: example["hex"] for example in EXAMPLES}
LOG: Final = ("kafka.log", "mixed")
V2: Final = ("kafka.batch", "v2")


_RECORD: Final = {"attributes": "0", "timestampDelta": "0", "offsetDelta": "0", "key": "6b", "value": "76"}

E01: Final[Mapping[str, Any]] = {
    "baseOffset": "0",
    "partitionLeaderEpoch": "0",
    "magic": "2",
    "attributes": "0",
    "lastOffsetDelta": "0",
    "baseTimestamp": str(STAMP),
    "maxTimestamp": str(STAMP),
    "producerId": "-1",
    "producerEpoch": "-1",
    "baseSequence": "-1",
    "records": [{**_RECORD, "headers": []}],
}
"""The first example as a value."""


def line(record: dict[str, Any]) -> str:
    headers = (f"{bytes.fromhex(key).decode()}={blob(part)}," for key, part in record.get("headers", []))
    parts = (record["offset"], record["timestamp"], blob(record["key"]), blob(record["value"]))
    return "/".join([*parts, "".join(headers)])


def blob(text: str | None) -> str:
    return "null" if text is None else f"x{text}"


def lines(entry: dict[str, Any]) -> list[str]:
    """The records of a batch, the messages of a wrapper, or the message itself."""
    return [
        line(record) for record in (entry["records"] if "records" in entry else entry["messages"] or [entry])
    ]


def ask(controller: Controller, question: Request, seconds: float = 20.0) -> Outcome:
    controller.send([question])
    ((_, outcome),) = controller.receive(seconds)
    return outcome

"""Small segments as fixtures: `python fixtures.py DIR`, DIR being what `collect.py` filled.

The expectation is what Kafka's own record classes give (the adapter `kafka-clients`, run on the segment)
with what they do not show worked out from it: deltas against the batch's first offset and time, and the
marker of a control record as `DumpLogSegments` names it. The reference, which has no part in it, has to
agree; what it remarks stands with the value. What has landed is not written again: a run on its segments
says whether it would come out byte for byte the same.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import dump
from attrs import frozen

from tests.independent.derived_fields import bare, completed
from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.adapters.controller import Controller
from wireproof.adapters.registry import open_adapter
from wireproof.cases.examples import capabilities_of
from wireproof.cases.fixture_writer import page_text
from wireproof.cases.outcome import Accepted
from wireproof.cases.reference_answers import decode_answer
from wireproof.formats import FORMATS
from wireproof.wire.options import DEFAULT_OPTIONS

TARGET = Path(__file__).resolve().parents[2] / "fixtures" / "kafka.log" / "mixed"
TOPICS = ("brief", "compacted")
PATIENCE = 600.0
"""Seconds for which Kafka's classes are waited for."""

INLINE = 512
"""Size in bytes up to which a segment is inside the page."""

WITH_COMPACTED = ("kafka-clients",)
"""The clients whose compacted segments are taken too: the cleaner writes them, whoever produced."""

MARKERS = {name: str(number) for number, name in dump.MARKERS.items()}
WHY = {
    "brief": "What a real client sent and a real broker wrote: a batch of each codec, markers between.",
    "compacted": "What a real cleaner leaves: gaps, tombstones with a delete horizon, empty batches.",
}
TITLES = {
    "brief": "A segment of {client}'s batches",
    "compacted": "A segment of {client}'s batches, compacted",
}


def cases(folder: Path) -> list[dict[str, Any]]:
    """The rows of the fixture file; the larger segments are copied beside it."""
    manifest = json.loads((folder / "manifest.json").read_text())
    taken = [segment for segment in manifest["segments"] if _is_taken(segment)]
    printed = dump.printed([folder / segment["name"] for segment in taken])
    controller = open_adapter("kafka-clients", hello_seconds=PATIENCE)
    try:
        rows = [
            _row(folder / segment["name"], segment, manifest, _Kafka(controller, printed))
            for segment in taken
        ]
    finally:
        controller.close()
    return sorted(rows, key=lambda row: str(row["id"]))


def _is_taken(segment: dict[str, Any]) -> bool:
    client, topic = segment["client"], segment["topic"]
    return bool(segment["bytes"]) and (
        topic == "brief" or (topic == "compacted" and client in WITH_COMPACTED)
    )


@frozen
class _Kafka:
    """Run Kafka's record classes and its tool on segments."""

    controller: Controller
    printed: dict[str, list[dump.Line]]

    def value(self, path: Path) -> Any:
        """The whole value of a segment."""
        data = path.read_bytes()
        self.controller.send([Request("1", "decode", "kafka.log", "mixed", data)])
        ((_, outcome),) = self.controller.receive(PATIENCE)
        if not isinstance(outcome, Accepted) or outcome.consumed != len(data):
            raise SystemExit(f"kafka-clients: {str(outcome)[:200]}")
        lines = iter(self.printed[dump.named(path)])
        value: Any = outcome.value
        return {"batches": [_whole(batch, lines) for batch in bare(value)["batches"]]}


def _row(path: Path, segment: dict[str, Any], manifest: dict[str, Any], kafka: _Kafka) -> dict[str, Any]:
    client, topic = segment["client"], segment["topic"]
    data, value = path.read_bytes(), kafka.value(path)
    name = f"{client}-{topic}-{int(path.stem)}"
    ours = decode_answer(formats.get("kafka.log", "mixed"), data, DEFAULT_OPTIONS).outcome
    if not isinstance(ours, Accepted) or bare(ours.value) != value:
        raise SystemExit(f"{dump.named(path)}: the reference does not agree")
    remarks = {"remarks": list(ours.remarks)} if ours.remarks else {}
    document = f"Apache Kafka {manifest['broker']}, {client} {manifest['clients'][client]}"
    row = {
        "id": f"kafka.log/mixed/broker/{name}",
        "title": TITLES[topic].format(client=client),
        "why": WHY[topic],
        "op": "decode",
        "level": "must",
        "rules": ["kafka.log.join", "kafka.log.aborted"],
        "input": _input(name, data),
        "expect": {"accept": {"value": value, "consumed": len(data)} | remarks},
        "needs": list(capabilities_of(FORMATS["kafka.log/mixed"], data)),
        "source": {
            "origin": "broker",
            "document": document,
            "witnesses": [
                {"name": "kafka-clients", "version": kafka.controller.hello.version},
                {"name": "DumpLogSegments", "version": "4.3.0"},
            ],
        },
    }
    return row | {"expect": completed(row, TARGET)}


def _input(name: str, data: bytes) -> dict[str, str]:
    """Return the input of the page; write the files beside it unless they exist."""
    if len(data) <= INLINE:
        return {"hex": data.hex()}
    path = TARGET / f"broker.{name}.bin"
    if not path.exists():
        path.write_bytes(data)
    elif path.read_bytes() != data:
        raise SystemExit(f"{path} has landed; its bytes may not change")
    return {"file": path.name, "sha256": hashlib.sha256(data).hexdigest()}


def _whole(batch: Any, lines: Any) -> Any:
    next(lines)
    return batch | {"records": [_record(batch, record, next(lines)) for record in batch["records"]]}


def _record(batch: Any, record: Any, line: dump.Line) -> Any:
    return record | {
        "timestampDelta": str(int(record["timestamp"]) - int(batch["baseTimestamp"])),
        "offsetDelta": str(int(record["offset"]) - int(batch["baseOffset"])),
        "control": _control(line) if "endTxnMarker" in line else None,
    }


def _control(line: dump.Line) -> dict[str, str | None]:
    rest = ("leaderId", "voters", "grantingVoters", "lastContainedLogTimestamp", "kraftVersion")
    told = {
        "type": MARKERS[line["endTxnMarker"]],
        "version": "0",
        "coordinatorEpoch": line["coordinatorEpoch"],
    }
    return told | dict.fromkeys(rest)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    path = TARGET / "broker.json"
    rows = cases(parser.parse_args().folder)
    page = {"schema": 1, "format": "kafka.log", "revision": "mixed", "cases": rows}
    text = page_text(page)
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    elif path.read_text(encoding="utf-8") != text:
        raise SystemExit(f"{path} has landed; it would come out otherwise")
    sys.stdout.write(f"{len(rows)} cases, {path.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()

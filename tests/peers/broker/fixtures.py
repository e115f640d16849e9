"""Small segments as fixtures: `python fixtures.py DIR`, DIR being what `collect.py` filled.

The expectation is what Kafka's own record classes give (the adapter `kafka-clients`, run on the segment)
with what they do not show worked out from it: deltas against the batch's first offset and time, and the
marker of a control record as `DumpLogSegments` names it. The reference, which has no part in it, has to
agree. An id that has landed keeps its bytes.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import dump

from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.adapters.registry import open_adapter
from wireproof.cases.needs import atoms_of
from wireproof.cases.outcome import Accepted
from wireproof.formats import FORMATS
from wireproof.trial.reference import decoded
from wireproof.wire.options import DEFAULT

TARGET = Path(__file__).resolve().parents[3] / "fixtures" / "kafka.log" / "mixed"
TOPICS = ("brief", "compacted")
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
    """The rows of the fixture file; the segments are copied beside it."""
    manifest = json.loads((folder / "manifest.json").read_text())
    rows = []
    for segment in manifest["segments"]:
        client, topic = segment["client"], segment["topic"]
        if segment["bytes"] and (topic == "brief" or (topic == "compacted" and client in WITH_COMPACTED)):
            rows.append(_row(folder / segment["name"], segment, manifest))
    return sorted(rows, key=lambda row: str(row["id"]))


def _row(path: Path, segment: dict[str, Any], manifest: dict[str, Any]) -> dict[str, Any]:
    client, topic = segment["client"], segment["topic"]
    data = path.read_bytes()
    name = f"{client}-{topic}-{int(path.stem)}"
    value, version = _read(data, dump.printed([path])[dump.named(path)])
    ours = decoded(formats.get("kafka.log", "mixed"), data, DEFAULT).outcome
    if not isinstance(ours, Accepted) or ours.value != value:
        raise SystemExit(f"{dump.named(path)}: the reference does not agree")
    file = f"broker.{name}.bin"
    (TARGET / file).write_bytes(data)
    document = f"Apache Kafka {manifest['broker']}, {client} {manifest['clients'][client]}"
    return {
        "id": f"kafka.log/mixed/broker/{name}",
        "title": TITLES[topic].format(client=client),
        "why": WHY[topic],
        "op": "decode",
        "level": "must",
        "rules": ["kafka.log.join", "kafka.log.aborted"],
        "input": {"file": file, "sha256": hashlib.sha256(data).hexdigest()},
        "expect": {"accept": {"value": value, "consumed": len(data)}},
        "needs": list(atoms_of(FORMATS["kafka.log/mixed"], data)),
        "source": {
            "origin": "broker",
            "document": document,
            "witnesses": [
                {"name": "kafka-clients", "version": version},
                {"name": "DumpLogSegments", "version": "4.3.0"},
            ],
        },
    }


def _read(data: bytes, printed: list[dump.Line]) -> tuple[Any, str]:
    """The whole value of a segment, by Kafka's own classes, and their version."""
    controller = open_adapter("kafka-clients")
    try:
        controller.send([Request("1", "decode", "kafka.log", "mixed", data)])
        ((_, outcome),) = controller.receive(30)
        version = controller.hello.version
    finally:
        controller.close()
    if not isinstance(outcome, Accepted) or outcome.consumed != len(data):
        raise SystemExit(f"kafka-clients: {str(outcome)[:200]}")
    lines = iter(printed)
    value: Any = outcome.value
    return {"batches": [_whole(batch, lines) for batch in value["batches"]]}, version


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
    if path.exists():
        raise SystemExit(f"{path} has landed; its bytes may not change")
    rows = cases(parser.parse_args().folder)
    page = {"schema": 1, "format": "kafka.log", "revision": "mixed", "cases": rows}
    path.write_text(json.dumps(page, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(rows)} cases, {path.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()

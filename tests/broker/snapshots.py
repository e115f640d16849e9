"""The producers of a snapshot as Kafka's own tool prints them, and where wireproof reads them otherwise."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import ground

from wireproof.kafka.files import producer_snapshot
from wireproof.kafka.files.producer_snapshot import NONE

_PAIR = re.compile(r"(\w+): (OptionalLong\S*|\S+)")


def printed(files: Sequence[Path]) -> dict[str, list[dict[str, str]]]:
    """The tool's lines by the path of the file; raises `CalledProcessError`."""
    return {
        str(path): [dict(_PAIR.findall(text)) for text in lines if text.startswith("producerId: ")]
        for path, lines in ground.dumped(files).items()
    }


def expected(one: Any) -> dict[str, str]:
    """The same line, of what wireproof reads; the tool prints no batch if none is known."""
    opened = (
        "OptionalLong.empty"
        if one.current_txn_first_offset == NONE
        else f"OptionalLong[{one.current_txn_first_offset}]"
    )
    line = {
        "producerId": one.producer_id,
        "producerEpoch": one.producer_epoch,
        "coordinatorEpoch": one.coordinator_epoch,
        "currentTxnFirstOffset": opened,
        "lastTimestamp": one.timestamp,
    }
    if one.last_offset != NONE:
        first = (one.last_sequence - one.offset_delta) % (1 << 31)
        line |= {"firstSequence": first, "lastSequence": one.last_sequence, "lastOffset": one.last_offset}
        line |= {"offsetDelta": one.offset_delta, "timestamp": one.timestamp}
    return {name: str(value) for name, value in line.items()}


def differences(path: Path, theirs: Sequence[dict[str, str]]) -> Iterator[str]:
    """A line for each field that differs."""
    found = producer_snapshot.read(path.read_bytes())
    yield from (f"{path}: {finding.message}" for finding in found.findings)
    ours = [expected(one) for one in found.producers]
    if len(ours) != len(theirs):
        yield f"{path}: {len(ours)} producers, DumpLogSegments prints {len(theirs)}"
    for left, right in zip(ours, theirs, strict=False):
        for name in {**left, **right}:
            if left.get(name) != right.get(name):
                yield f"{path} {name}: wireproof {left.get(name)}, DumpLogSegments {right.get(name)}"

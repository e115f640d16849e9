"""Compares the producers in data directories with what Kafka's own tool prints: `python snapshots.py DIR…`.

Every field that `DumpLogSegments` prints of a producer is compared with the file as wireproof reads it. The
exit code is 1 if one differs, or if there is no producer at all.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import dump
import ground

from wireproof.kafka.files import producer_snapshot
from wireproof.kafka.files.producer_snapshot import NONE

SHOWN = 10
"""Differences that are printed."""

_PAIR = re.compile(r"(\w+): (OptionalLong\S*|\S+)")


def printed(files: Sequence[Path]) -> dict[str, list[dict[str, str]]]:
    """The tool's lines by the path of the file; raises `CalledProcessError`."""
    command = ground.tool(dump.TOOL, "--files", ",".join(map(str, files)))
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found: dict[str, list[dict[str, str]]] = {}
    lines: list[dict[str, str]] = []
    for text in done.stdout.decode().splitlines():
        if text.startswith("Dumping "):
            lines = found.setdefault(text.removeprefix("Dumping "), [])
        elif text.startswith("producerId: "):
            lines.append(dict(_PAIR.findall(text)))
    return found


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


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    files = sorted(
        path for folder in parser.parse_args().folders for path in folder.rglob(f"{'[0-9]' * 20}.snapshot")
    )
    lines = printed(files)
    wrong = [text for path in files for text in differences(path, lines.get(str(path), []))]
    producers = [line for found in lines.values() for line in found]
    fields = sum(map(len, producers))
    sys.stdout.write(
        f"{len(files)} snapshots, {len(producers)} producers, {fields} fields: {len(wrong)} differences\n"
    )
    sys.stdout.writelines(f"  {text}\n" for text in wrong[:SHOWN])
    return 1 if wrong or not producers else 0


if __name__ == "__main__":
    sys.exit(main())

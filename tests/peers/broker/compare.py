"""Holds the reference to what Kafka says of a real broker's segments: `python compare.py DIR`.

DIR is what `collect.py` filled. For every segment, field by field: the reference and `DumpLogSegments`;
the reference and the plan that the clients were given (header values, nulls and the times that a client
asked for, which the tool does not print); the adapters that are named, on each entry, judged as `check`
judges. Exit code 1 if the reference differs anywhere.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import dump
import plan
from attrs import define, evolve, field

from wireproof import formats
from wireproof.adapters.bindings.delivered import log_of
from wireproof.cases.case import Case, Data, Reject, Source
from wireproof.cases.outcome import Accepted
from wireproof.trial.engine import Engine
from wireproof.trial.judge import judge
from wireproof.trial.reference import decoded, expectation
from wireproof.wire.options import DEFAULT

LOG = formats.get("kafka.log", "mixed")
SHOWN = 10
"""Differences that are printed."""


@define
class Counts:
    """What was compared, and what differed."""

    segments: int = 0
    batches: int = 0
    records: int = 0
    fields: int = 0
    told: int = 0
    differences: list[str] = field(factory=list)


def compare(folder: Path, counts: Counts) -> None:
    """Every segment of `folder` against the tool and the plan."""
    segments = sorted(folder.glob("*.log"))
    printed = dump.printed(segments)
    for segment in segments:
        data = segment.read_bytes()
        outcome = decoded(LOG, data, DEFAULT).outcome
        if not isinstance(outcome, Accepted) or outcome.consumed != len(data):
            counts.differences.append(f"{segment.name}: the reference: {str(outcome)[:200]}")
            continue
        counts.segments += 1
        _held(segment.name, dump.expected(data, outcome.value), printed[segment.name], counts)
        _told(segment.name, outcome.value, counts)


def _held(name: str, ours: Sequence[dump.Line], theirs: Sequence[dump.Line], counts: Counts) -> None:
    if len(ours) != len(theirs):
        counts.differences.append(f"{name}: {len(ours)} lines, DumpLogSegments has {len(theirs)}")
    for number, (left, right) in enumerate(zip(ours, theirs, strict=False)):
        counts.fields += len(right)
        counts.batches += "baseOffset" in right
        counts.records += "offset" in right
        counts.differences += [
            f"{name} line {number} {key}: reference {left.get(key)}, DumpLogSegments {right.get(key)}"
            for key in {**left, **right}
            if left.get(key) != right.get(key)
        ]


def _told(name: str, value: Any, counts: Counts) -> None:
    """The data records of a topic that keeps all, against the plan."""
    client, _, topic = name.partition(".")[0].rpartition("-")
    if topic == "compacted":
        return
    wanted = [
        (step["codec"], record)
        for step in plan.steps(client)
        if step["topic"] == f"{client}-{topic}"
        for batch in step["batches"]
        for record in batch
    ]
    got = [
        (batch, record)
        for batch in value["batches"]
        if not int(batch["attributes"]) & dump.CONTROL
        for record in batch["records"]
    ]
    if len(wanted) != len(got):
        counts.differences.append(f"{name}: {len(got)} records, the plan has {len(wanted)}")
    for place, (told, found) in enumerate(zip(wanted, got, strict=False)):
        pairs = _pairs(client, topic, told, found)
        counts.told += len(pairs)
        counts.differences += [
            f"{name} record {place} {what}: reference {left}, the plan {right}"
            for what, left, right in pairs
            if left != right
        ]


def _pairs(client: str, topic: str, told: Any, found: Any) -> list[tuple[str, object, object]]:
    """What a client was told and what the reference reads; kafkajs has no header without a value."""
    (codec, wanted), (batch, record) = told, found
    headers = [[key, part] for key, part in wanted["headers"] if part is not None or client != "kafkajs"]
    pairs: list[tuple[str, object, object]] = [
        ("key", record["key"], _hex(wanted["key"])),
        ("value", record["value"], _hex(wanted["value"])),
        ("headers", record["headers"], [[_hex(key), _hex(part)] for key, part in headers]),
        ("codec", dump.CODECS[int(batch["attributes"]) & 7], codec),
    ]
    if topic != "stamped":
        pairs.append(("timestamp", record["timestamp"], str(wanted["timestamp"])))
    return pairs


def _hex(text: str | None) -> str | None:
    return None if text is None else text.encode().hex()


def entries(folder: Path) -> Iterator[Case]:
    """Each entry of each segment as a case, whose expectation is the reference's answer."""
    for segment in sorted(folder.glob("*.log")):
        at = 0
        for entry in log_of(segment.read_bytes()).entries:
            name = f"kafka.log/mixed/{segment.stem}/{at}"
            case = Case(name, "kafka.log", "mixed", Data(entry.data), Reject("other"))
            yield evolve(case, expect=expectation(case), source=Source("broker", segment.name))
            at += len(entry.data)


def judged(folder: Path, adapter: str) -> Counter[str]:
    """How the adapter did on the entries: verdicts and signatures, as a check tells them."""
    found: Counter[str] = Counter()
    with Engine(adapter) as engine:
        for ran in engine.run(entries(folder)):
            verdict = judge(ran.case, ran.outcome, hello=engine.hello)
            found[f"{verdict.label} {verdict.path}".strip()] += 1
    return found


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--adapter", action="append", default=[])
    arguments = parser.parse_args()
    counts = Counts()
    compare(arguments.folder, counts)
    read = f"{counts.segments} segments, {counts.batches} batches, {counts.records} records"
    held = f"{counts.fields} fields of DumpLogSegments and {counts.told} of the plan"
    sys.stdout.write(f"{read}: {held}, {len(counts.differences)} differences\n")
    for difference in counts.differences[:SHOWN]:
        sys.stdout.write(f"  {difference}\n")
    for adapter in arguments.adapter:
        sys.stdout.write(f"{adapter} {dict(judged(arguments.folder, adapter))}\n")
    return 1 if counts.differences or not counts.segments else 0


if __name__ == "__main__":
    sys.exit(main())

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
from attrs import define, field
from wireproof import formats
from wireproof.adapters.bindings.delivered import log_of
from wireproof.cases.case import Case, Data, Source
from wireproof.cases.outcome import Accepted
from wireproof.trial.engine import Engine
from wireproof.trial.judge import judge
from wireproof.trial.reference import answer, decoded, expectation
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
    """The data records of a topic that keeps all, against the plan; kafkajs has no header without value."""
    client, _, topic = name.split(".")[0].rpartition("-")
    if topic == "compacted":
        return
    wanted = [
        (codec, step["codec"] if False else codec, record)
        for step in plan.steps(client)
        if step["topic"] == f"{client}-{topic}"
        for codec in [step["codec"]]
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
    for place, ((codec, _, told), (batch, record)) in enumerate(zip(wanted, got, strict=False)):
        pairs = _pairs(client, topic, codec, told, batch, record)
        counts.told += len(pairs)
        counts.differences += [
            f"{name} record {place} {what}: reference {left}, the plan {right}"
            for what, left, right in pairs
            if left != right
        ]


def _pairs(
    client: str, topic: str, codec: str, told: Any, batch: Any, record: Any
) -> list[tuple[str, object, object]]:
    headers = [[key, part] for key, part in told["headers"] if part is not None or client != "kafkajs"]
    pairs: list[tuple[str, object, object]] = [
        ("key", record["key"], _hex(told["key"])),
        ("value", record["value"], _hex(told["value"])),
        ("headers", record["headers"], [[_hex(key), _hex(part)] for key, part in headers]),
        ("codec", dump.CODECS[int(batch["attributes"]) & 7], codec),
    ]
    if topic == "kept":
        pairs.append(("timestamp", record["timestamp"], str(told["timestamp"])))
    return pairs


def _hex(text: str | None) -> str | None:
    return None if text is None else text.encode().hex()


def entries(folder: Path) -> Iterator[Case]:
    """Each entry of each segment as a case, whose expectation is the reference's answer."""
    for segment in sorted(folder.glob("*.log")):
        at = 0
        for entry in log_of(segment.read_bytes()).entries:
            source = Source("broker", segment.name)
            case = Case(
                f"broker/{segment.stem}/{at}", "decode", "kafka.log", "mixed", Data(entry.data), None, source
            )
            yield case
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
    print(
        f"{counts.segments} segments, {counts.batches} batches, {counts.records} records: {counts.fields} fields of "
        f"DumpLogSegments and {counts.told} of the plan, {len(counts.differences)} differences"
    )
    for difference in counts.differences[:SHOWN]:
        print("  " + difference)
    for adapter in arguments.adapter:
        print(adapter, dict(judged(arguments.folder, adapter)))
    return 1 if counts.differences or not counts.segments else 0


if __name__ == "__main__":
    sys.exit(main())

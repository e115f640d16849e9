"""Holds the reference to what Kafka says of a real broker's segments: `python compare.py DIR`.

DIR is what `collect.py` filled. For every segment, field by field: the reference and `DumpLogSegments`;
the reference and the plan that the clients were given (header values, nulls and the times that a client
asked for, which the tool does not print); the adapters that are named, on each entry, judged as `check`
judges. Exit code 1 if the reference differs anywhere.
"""

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import dump
import plan
import pyarrow.parquet as pq
from attrs import define, evolve, field

from wireproof import formats
from wireproof.cases.case import Case, Data, Reject, Source
from wireproof.cases.outcome import Accepted
from wireproof.cases.reference_answers import decode_answer, reference_expectation
from wireproof.judge.judge import judge
from wireproof.judge.signature import signature
from wireproof.run.engine import Engine
from wireproof.wire.options import DEFAULT_OPTIONS

sys.path.append(str(Path(__file__).resolve().parents[1] / "peers" / "_shared" / "python"))
from wireproof.live.loopback_broker.regroup_records import split_log

LOG = formats.get("kafka.log", "mixed")
SCANNED = (0, 1)
"""The exit codes of a scan that came to its end."""

NO_NULL = ("kafkajs", "kafka-python")
"""The clients whose producers cannot send a header without a value; they get no such header."""

PATIENCE = 600.0
"""Seconds for which an adapter is waited for."""

SHOWN = 10
"""Differences that are printed."""


@define
class Counts:
    """The result of a comparison: what was compared, and the differences."""

    segments: int = 0
    batches: int = 0
    records: int = 0
    fields: int = 0
    told: int = 0
    differences: list[str] = field(factory=list)


def compare(folder: Path, counts: Counts) -> None:
    """Every segment of `folder` against the tool and the plan."""
    segments = sorted(folder.glob("*/*.log"))
    printed = dump.printed(segments)
    topics: dict[str, list[Any]] = {}
    for segment in segments:
        data = segment.read_bytes()
        outcome = decode_answer(LOG, data, DEFAULT_OPTIONS).outcome
        if not isinstance(outcome, Accepted) or outcome.consumed != len(data):
            counts.differences.append(f"{dump.named(segment)}: the reference: {str(outcome)[:200]}")
            continue
        counts.segments += 1
        name = dump.named(segment)
        _held(name, dump.expected(data, outcome.value), printed[name], counts)
        value: Any = outcome.value
        topics.setdefault(segment.parent.name, []).extend(value["batches"])
    for topic, batches in topics.items():
        _told(topic, batches, counts)


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


def _told(name: str, batches: list[Any], counts: Counts) -> None:
    """The data records of a topic that keeps all, against the plan."""
    client, _, topic = name.rpartition("-")
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
        for batch in batches
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
    """Compare the messages that a client should send with those that the reference reads."""
    (codec, wanted), (batch, record) = told, found
    headers = [[key, part] for key, part in wanted["headers"] if part is not None or client not in NO_NULL]
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
    for segment in sorted(folder.glob("*/*.log")):
        at = 0
        for entry in split_log(segment.read_bytes()).entries:
            name = f"kafka.log/mixed/{dump.named(segment)}/{at}"
            case = Case(name, "kafka.log", "mixed", Data(entry.data), Reject("other"))
            yield evolve(
                case, expect=reference_expectation(case), source=Source("broker", dump.named(segment))
            )
            at += len(entry.data)


Signatures = Counter[tuple[str, str, str]]
"""Kind, class and path without indices, and how many entries show it."""


def checked(folder: Path, adapter: str) -> Signatures:
    """How the adapter did on the entries, judged as `check` judges."""
    found: Signatures = Counter()
    with Engine(adapter, hello_seconds=PATIENCE) as engine:
        for ran in engine.run(entries(folder)):
            verdict = judge(ran.case, ran.outcome, hello=engine.hello)
            said = signature(adapter, ran.case, verdict)
            found[said.kind, said.cls, said.path] += 1
    return found


def scanned(folder: Path, out: Path, adapters: Sequence[str]) -> dict[str, Signatures]:
    """The same of `wireproof scan`, from its table of signatures."""
    asked = [part for adapter in adapters for part in ("--adapter", adapter)]
    command = [sys.executable, "-m", "wireproof", "scan", *map(str, sorted(folder.glob("*/*.log")))]
    done = subprocess.run([*command, "--out", str(out), *asked], check=False)
    if done.returncode not in SCANNED:
        raise SystemExit(f"the scan ended with {done.returncode}")
    found: dict[str, Signatures] = {adapter: Counter() for adapter in adapters}
    for row in pq.read_table(out / "signatures.parquet").to_pylist():
        if row["implementation"] in found:
            key = row["kind"], row["class"], row["path"]
            found[row["implementation"]][key] += row["count"]
    return found


def same(folder: Path, out: Path, adapters: Sequence[str]) -> bool:
    """Compare the results of a scan with those of a check, for each adapter; print both."""
    scan = scanned(folder, out, adapters)
    alike = True
    for adapter in adapters:
        check = checked(folder, adapter)
        agrees = dict(scan[adapter]) == dict(check)
        word = "as its scan" if agrees else f"but its scan {dict(scan[adapter])}"
        sys.stdout.write(f"{adapter}: {dict(check)}, {word}\n")
        alike = alike and agrees
    return alike


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--adapter", action="append", default=[], help="held to the reference, entry by entry"
    )
    parser.add_argument("--scan", type=Path, metavar="OUT", help="and scanned, which has to find the same")
    arguments = parser.parse_args()
    counts = Counts()
    compare(arguments.folder, counts)
    read = f"{counts.segments} segments, {counts.batches} batches, {counts.records} records"
    held = f"{counts.fields} fields of DumpLogSegments and {counts.told} of the plan"
    sys.stdout.write(f"{read}: {held}, {len(counts.differences)} differences\n")
    for difference in counts.differences[:SHOWN]:
        sys.stdout.write(f"  {difference}\n")
    alike = True
    if arguments.scan:
        alike = same(arguments.folder, arguments.scan, arguments.adapter)
    else:
        for adapter in arguments.adapter:
            sys.stdout.write(f"{adapter}: {dict(checked(arguments.folder, adapter))}\n")
    return 1 if counts.differences or not counts.segments or not alike else 0


if __name__ == "__main__":
    sys.exit(main())

"""What `explain --records --json` prints of logs, in the form of `dump`: the fields of Kafka's tool by name.

The lines are made of the printed JSON alone, so that two outputs are compared and not two decoders.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from struct import unpack_from
from typing import Any, Final

import dump

from wireproof.schema.tagged import uuid_text

Tree = dict[str, Any]

MARKERS: Final = ("ABORT", "COMMIT")
"""The control records of transactions."""

UUID_BYTES: Final = 16


def explained(paths: Sequence[Path], detail: str = "--records") -> Iterator[list[Tree]]:
    """Yield the JSON lines of each file, the summary last; raises `RuntimeError` if one has none."""
    command = [sys.executable, "-m", "wireproof", "explain", detail, "--json", *map(str, paths)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert child.stdout is not None
        lines = map(json.loads, child.stdout)
        for path in paths:
            trees = [*takewhile(lambda tree: tree["type"] != "summary", lines)]
            if not trees and child.poll() is not None:
                raise RuntimeError(f"{path}: explain ended with {child.returncode}")
            yield trees


def fields_needed(trees: Sequence[Tree]) -> bool:
    """Return whether the tool prints fields that only `--fields` has: of inner messages and of KRaft."""
    wrapped = any(tree["type"] == "entry" and tree["magic"] < 2 and tree["codec"] != "none" for tree in trees)
    return wrapped or any(tree["type"] == "record" and is_kraft(tree) for tree in trees)


def is_kraft(record: Tree) -> bool:
    """Return whether a record is a control record, but of no transaction."""
    return record["control"] is not None and record["control"] not in MARKERS


def inner_checksums(fields: Sequence[Tree]) -> Iterator[str]:
    """Yield the checksums of the messages in wrappers, in order."""
    yield from (
        str(one["value"])
        for one in fields
        if one["type"] == "field" and re.fullmatch(r"batches\[\d+\]\.messages\[\d+\]\.crc", one["path"])
    )


def kraft_values(fields: Sequence[Tree]) -> Iterator[list[str]]:
    """Yield the values of the fields of each control record, in the order of the bytes.

    Lengths, counts and tags are no fields of Kafka's schema.
    """
    found: dict[str, list[str]] = {}
    for one in fields:
        if one["type"] == "field" and (part := _KRAFT_FIELD.fullmatch(one["path"])):
            values = found.setdefault(part[1], [])
            if not part[2].endswith(("Count", "Length")) and part[2] != "version":
                values.append(_value(one))
            elif part[2] == "version":
                values.insert(0, _value(one))
    yield from found.values()


_KRAFT_FIELD: Final = re.compile(r"(batches\[\d+\]\.records\[\d+\])\.value\.(.+)")


def _value(one: Tree) -> str:
    """Return the value of a field as Kafka's JSON has it."""
    if one["kind"] == "bytes" and one["size"] == UUID_BYTES and "irectoryId" in one["path"]:
        return uuid_text(bytes.fromhex(one["value"]))
    return bytes.fromhex(one["value"]).decode() if one["kind"] == "bytes" else str(one["value"])


def leaves(tree: Any) -> Iterator[str]:
    """Yield the values of JSON, in order."""
    match tree:
        case dict():
            for part in tree.values():
                yield from leaves(part)
        case list():
            for part in tree:
                yield from leaves(part)
        case _:
            yield str(tree)


def lines(trees: Sequence[Tree]) -> Iterator[tuple[str, dump.Line]]:
    """Yield what each line is, and its fields: a batch, a message of v0 or v1, a record of either."""
    entry: Tree = {}
    for tree in trees:
        match tree["type"]:
            case "entry":
                entry = tree
                yield ("batch", _batch(tree)) if tree["magic"] > 1 else ("message", _message(tree))
            case "record":
                yield "record", _record(entry, tree) if entry["magic"] > 1 else _legacy_record(entry, tree)
            case other:
                yield "damage", {"unread": f"{other} of {tree['bytes']} bytes at {tree['position']}"}


def _batch(entry: Tree) -> dump.Line:
    horizon = entry["deleteHorizon"]
    return {
        "baseOffset": str(entry["baseOffset"]),
        "lastOffset": str(entry["lastOffset"]),
        "count": str(entry["count"]),
        "baseSequence": str(entry["baseSequence"]),
        "lastSequence": str(entry["lastSequence"]),
        "producerId": str(entry["producerId"]),
        "producerEpoch": str(entry["producerEpoch"]),
        "partitionLeaderEpoch": str(entry["partitionLeaderEpoch"]),
        "isTransactional": str(entry["transactional"]).lower(),
        "isControl": str(entry["control"] is not None).lower(),
        "deleteHorizonMs": "OptionalLong.empty" if horizon is None else f"OptionalLong[{horizon}]",
        **_of_file(entry),
    }


def _of_file(entry: Tree) -> dump.Line:
    """What the tool prints of a batch and of a message alike."""
    return {
        "position": str(entry["position"]),
        _time(entry): str(entry["maxTimestamp"]),
        "size": str(entry["bytes"]),
        "magic": str(entry["magic"]),
        "compresscodec": entry["codec"],
        "crc": str(entry["crc"]),
        "isvalid": str(not entry["wrong"]).lower(),
    }


def _message(entry: Tree) -> dump.Line:
    return {"offset": str(entry["lastOffset"]), **_of_file(entry)}


def _record(entry: Tree, record: Tree) -> dump.Line:
    sequence = record["sequence"]
    line = _of_record(entry, record) | {
        "sequence": "-1" if sequence is None else str(sequence),
        "headerKeys": f"[{','.join(bytes.fromhex(name).decode() for name, _ in record['headers'])}]",
    }
    if record["control"] in MARKERS:
        epoch = unpack_from(">i", bytes.fromhex(record["value"]), 2)[0]
        return line | {"endTxnMarker": record["control"], "coordinatorEpoch": str(epoch)}
    return line if record["control"] else line | _texts(record)


def _legacy_record(entry: Tree, record: Tree) -> dump.Line:
    return _of_record(entry, record) | {"isValid": str(not entry["wrong"]).lower()} | _texts(record)


def _of_record(entry: Tree, record: Tree) -> dump.Line:
    key, value = record["key"], record["value"]
    return {
        "offset": str(record["offset"]),
        _time(entry): str(record["timestamp"]),
        "keySize": str(-1 if key is None else len(key) // 2),
        "valueSize": str(-1 if value is None else len(value) // 2),
    }


def _texts(record: Tree) -> dump.Line:
    """Key and value that are text; of others the tool prints what it cannot print as question marks."""
    named = {"key": record.get("keyText", record["key"]), "payload": record.get("valueText", record["value"])}
    return {
        name: text
        for (name, text), field in zip(named.items(), ("key", "value"), strict=True)
        if text is not None and (not record[field] or f"{field}Text" in record)
    }


def _time(entry: Tree) -> str:
    return entry["timestampType"] or "NoTimestampType"

"""Payloads of Kafka's internal topics as `DumpLogSegments` prints them, and as wireproof reads them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.broker import ground
from tests.support.kafka_payloads import kafka_json
from wireproof import formats
from wireproof.kafka.payloads import Payload, PayloadPart, decode_payload
from wireproof.kafka.payloads.tables import TABLES
from wireproof.kafka.values import Log, RecordBatch
from wireproof.schema.tables import Table
from wireproof.schema.tagged import Held
from wireproof.wire.options import Options

DECODERS = {
    "__consumer_offsets": "--offsets-decoder",
    "__transaction_state": "--transaction-log-decoder",
    "__share_group_state": "--share-group-state-decoder",
    "__cluster_metadata": "--cluster-metadata-decoder",
    "__remote_log_metadata": "--remote-log-metadata-decoder",
}

_RECORD = re.compile(r"\| offset: (\d+) .*?headerKeys: \[.*?\] (?:key: (\{.*?\}) )?payload: (.*)$")


def printed(path: Path, topic: str) -> dict[int, tuple[Any, Any]]:
    """Return the key and the value of each record as the tool prints them, by offset."""
    (lines,) = ground.dumped([path], "--deep-iteration", DECODERS[topic]).values()
    found = filter(None, map(_RECORD.match, lines))
    return {int(one[1]): (one[2] and json.loads(one[2]), _json(one[3])) for one in found}


def _json(text: str) -> Any:
    """Return what the tool prints: JSON, or the text of an object of the remote log."""
    if text == "<DELETE>":
        return None
    return json.loads(text) if text.startswith("{") else text


def decoded(path: Path, topic: str) -> Iterator[tuple[int, Payload]]:
    """Yield the payloads of the records that are no control records, with their offsets."""
    fmt = formats.get("kafka.log", "mixed")
    log: Log = formats.decode(fmt, path.read_bytes(), Options(source="segment")).value
    for batch in log.batches:
        if isinstance(batch, RecordBatch):
            for record in batch.records:
                if record.control is None:
                    yield record.offset, decode_payload(topic, record.key, record.value)


def in_words_of_the_tool(payload: Payload) -> tuple[Any, Any]:
    """Return the key and the value as the tool prints them."""
    if payload.key is not None:
        key = {"type": str(payload.type), "data": _fields(payload.key)}
        value = payload.value and {"version": str(payload.version), "data": _fields(payload.value)}
        return key, value
    assert payload.value is not None, "a framed record has a value"
    if payload.name in _REMOTE:
        return None, _remote(payload.name, payload.value.fields)
    name = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", payload.name).upper()
    return None, {"type": name, "version": payload.version, "data": _fields(payload.value)}


_PARTITION = "{id[topicIdPartition][id]}:{id[topicIdPartition][name]}-{id[topicIdPartition][partition]}"
_SEGMENT = f"remoteLogSegmentId=RemoteLogSegmentId{{{{topicIdPartition={_PARTITION}, id={{id[id]}}}}}}"

_REMOTE = {
    "RemoteLogSegmentMetadataRecord": (
        f"RemoteLogSegmentMetadata{{{{{_SEGMENT}, startOffset={{startOffset}}, endOffset={{endOffset}}, "
        "brokerId={brokerId}, maxTimestampMs={maxTimestampMs}, eventTimestampMs={eventTimestampMs}, "
        "segmentLeaderEpochs={{{epochs}}}, segmentSizeInBytes={segmentSizeInBytes}, "
        "customMetadata={custom}, state={state}, txnIdxEmpty={empty}}}"
    ),
    "RemoteLogSegmentMetadataUpdateRecord": (
        f"RemoteLogSegmentMetadataUpdate{{{{{_SEGMENT}, customMetadata={{custom}}, state={{state}}, "
        "eventTimestampMs={eventTimestampMs}, brokerId={brokerId}}}"
    ),
}
"""The texts that the tool prints of the records of a remote log."""


def _remote(name: str, values: Any) -> str:
    """Return the text that the tool prints of a record of a remote log."""
    custom = values["customMetadata"]
    epochs = (f"{one['leaderEpoch']}={one['offset']}" for one in values.get("segmentLeaderEpochs", ()))
    return _REMOTE[name].format(
        **values,
        id=values["remoteLogSegmentId"],
        custom="Optional.empty"
        if custom is None
        else f"Optional[CustomMetadata{{{len(custom) // 2} bytes}}]",
        epochs=", ".join(epochs),
        state=TABLES.codes["RemoteLogSegmentState"][int(values["remoteLogSegmentState"])],
        empty=str(values.get("txnIndexEmpty")).lower(),
    )


def _fields(part: PayloadPart) -> Any:
    assert part.struct is not None, "the broker of the directory writes known types only"
    tree = kafka_json(part.struct, part.version, part.value)
    for member, shown in zip(getattr(part.value, "members", ()), tree.get("members", ()), strict=True):
        for name in ("subscription", "assignment"):
            if isinstance(found := getattr(member, name), Held):
                shown[name] = _held(part.struct, name, found)
    return tree


def _held(struct: Table, name: str, held: Held) -> Any:
    """Return the bytes of a member as the tool prints them."""
    members = next(row.type for row in struct.rows if row.name == "members")
    table = next(row.holds for row in members.rows if row.name == name)  # type: ignore[union-attr] # a table
    assert table is not None, "it holds a message"
    return kafka_json(table, min(held.version, table.newest), held.value)

"""What a consumer receives of a log, and what a topic stores of a request: kafka.md §1.9 and §1.12.

Both are worked out from what `reader` reads, to check the golden cases of `kafka.log`.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from tests.independent.kafka.next_offset import log_end, with_offsets
from tests.independent.kafka.reader import BIT_3, INT32, entry_end, read_entry, read_log, refused_produce
from tests.independent.refused import RefusedError

Json = Any

TRANSACTIONAL, CONTROL, HORIZON = 0x10, 0x20, 0x40
NOW: Final = 2_000_000_000_000
"""The time of an append in expected values: §1.12."""
CODECS: Final = ("uncompressed", "gzip", "snappy", "lz4", "zstd")


# --- a consumer ---


def delivered(data: bytes, options: Mapping[str, Any]) -> tuple[Json, int]:
    """Return what a consumer receives: no markers, no aborted records and none before its offset."""
    at, entries = 0, []
    first, committed = options.get("fetch_offset"), options.get("isolation") == "read_committed"
    listed = sorted((int(offset), int(producer)) for producer, offset in options.get("aborted", ()))
    aborted: set[int] = set()
    try:
        while (end := entry_end(data, at)) is not None:
            if not _is_passed(data, at, first, committed=committed, listed=listed, aborted=aborted):
                entries += list(_from(read_entry(data, at, end), first))
            at = end
    except RefusedError as refused:
        raise RefusedError(refused.cls, refused.at, {"batches": entries, "nextOffset": None}) from None
    return {"batches": entries, "nextOffset": log_end(data[:at])}, at


def _is_passed(
    data: bytes,
    at: int,
    first: int | None,
    *,
    committed: bool,
    listed: list[tuple[int, int]],
    aborted: set[int],
) -> bool:
    """Return whether an entry is passed over: a marker, one of an aborted transaction, or one before `first`.

    Only the first record of a control batch is looked at. A batch before the offset still begins or ends a
    transaction.
    """
    base, _, _, magic = struct.unpack_from(">qiib", data, at)
    if magic != 2:
        return first is not None and base < first
    _, _, attributes, delta = struct.unpack_from(">bIhi", data, at + 16)
    last = base + delta
    (producer,) = struct.unpack_from(">q", data, at + 43)
    if committed:
        while listed and listed[0][0] <= last:
            aborted.add(listed.pop(0)[1])
    if attributes & CONTROL:
        end = entry_end(data, at)
        records = read_entry(data, at, end)["records"] if end else ()
        if committed and records and (records[0]["control"] or {}).get("type") == "0":
            aborted.discard(producer)
        return True
    return (committed and bool(attributes & TRANSACTIONAL) and producer in aborted) or (
        first is not None and last < first
    )


def _from(entry: Json, first: int | None) -> Iterator[Json]:
    """Yield an entry with its records from an offset on, if there are any."""
    name = "records" if entry["magic"] == "2" else "messages"
    if entry[name] is None:
        if first is None or int(entry["offset"]) >= first:
            yield entry
        return
    rows = [row for row in entry[name] if first is None or int(row["offset"]) >= first]
    if rows:
        yield {**entry, name: rows}


# --- a topic ---


def stored(data: bytes, options: Mapping[str, Any]) -> tuple[Json, int]:
    """Return what a topic without records stores of a request: one batch of v2, or messages of v0 and v1."""
    topic = options["topic"]
    nothing: Json = {"batches": [], "nextOffset": None}
    try:
        value, end = read_log(data, {})
        entries = value["batches"]
        _check_entries(data, entries, topic)
    except RefusedError as refused:
        raise RefusedError(refused.cls, refused.at, nothing) from None
    batch = _new_batch(entries, topic)
    return {"batches": [batch], "nextOffset": batch["nextOffset"]}, end


def _check_entries(data: bytes, entries: Sequence[Json], topic: Mapping[str, str]) -> None:
    single = [entry for entry in entries if entry["magic"] == "2" or entry["messages"] is not None]
    if not entries or (single and len(entries) > 1) or len({entry["magic"] for entry in entries}) > 1:
        raise RefusedError("not-permitted", len(data))  # one batch, one wrapper, or messages of one magic
    if (end := entry_end(data, 0)) and end > int(topic.get("max.message.bytes", INT32)):
        raise RefusedError("limit-exceeded", 0)
    stamped = topic.get("message.timestamp.type") == "LogAppendTime"
    for entry in entries:
        if stamped and int(entry["attributes"]) & BIT_3:
            raise RefusedError("invalid-value", 0)
        if refused := refused_produce(entry, 0):
            raise refused
    rows = _rows(entries)
    if "compact" in topic.get("cleanup.policy", "").split(",") and any(row["key"] is None for row in rows):
        raise RefusedError("not-permitted", 0)
    before, after = (
        int(topic.get(f"message.timestamp.{side}.max.ms", 1 << 63)) for side in ("before", "after")
    )
    times = [int(row["timestamp"]) for row in rows if row["timestamp"] != "-1"]
    if not stamped and any(not NOW - before <= time <= NOW + after for time in times):
        raise RefusedError("invalid-value", 0)


def _rows(entries: Iterable[Json]) -> list[Json]:
    """Return the records of all entries."""
    return [row for entry in entries for row in (entry.get("records") or entry.get("messages") or [entry])]


def _new_batch(entries: Sequence[Json], topic: Mapping[str, str]) -> Json:
    """Return the batch as it is stored: as it was sent if it is of v2 and its codec stays, else a new one."""
    first, rows = entries[0], _rows(entries)
    bits = int(first["attributes"])
    codec, target = bits & 7, topic.get("compression.type", "producer")
    new_codec = codec if target == "producer" else CODECS.index(target)
    times = [int(row["timestamp"]) for row in rows]
    latest = max(times)
    if first["magic"] == "2" and codec == new_codec and (not codec or _counts(rows)):
        changed = bits & BIT_3 or int(first["maxTimestamp"]) != latest
        kept = {
            **first,
            "attributes": str(bits & (7 | TRANSACTIONAL | CONTROL | HORIZON) if changed else bits),
        }
        base = int(first["baseTimestamp"])
        kept["records"] = [{**row, "timestamp": str(base + int(row["timestampDelta"]))} for row in rows]
    else:
        kept = _rebuilt(
            first, rows, times, new_codec | bits & TRANSACTIONAL if first["magic"] == "2" else new_codec
        )
    batch = {**kept, "baseOffset": "0", "partitionLeaderEpoch": "0", "maxTimestamp": str(latest)}
    if topic.get("message.timestamp.type") == "LogAppendTime":
        batch |= {"attributes": str(int(batch["attributes"]) | BIT_3), "maxTimestamp": str(NOW)}
        batch["records"] = [{**row, "timestamp": str(NOW)} for row in batch["records"]]
    return with_offsets(batch)


def _counts(rows: Sequence[Json]) -> bool:
    return [int(row["offsetDelta"]) for row in rows] == list(range(len(rows)))


def _rebuilt(first: Json, rows: Sequence[Json], times: Sequence[int], attributes: int) -> Json:
    """Return a new batch of the same keys, values, headers and times, counted from the first record."""
    none = {"producerId": "-1", "producerEpoch": "-1", "baseSequence": "-1"}
    records = [
        {
            "attributes": "0", "timestampDelta": str(time - times[0]), "offsetDelta": str(number),
            "key": row["key"], "value": row["value"],
            "headers": row.get("headers", []), "offset": str(number), "timestamp": str(time), "control": None,
        }
        for number, (row, time) in enumerate(zip(rows, times, strict=True))
    ]  # fmt: skip
    return {
        "magic": "2", "attributes": str(attributes), "lastOffsetDelta": str(len(rows) - 1),
        "baseTimestamp": str(times[0]),
        **{name: first.get(name, default) for name, default in none.items()}, "records": records,
    }  # fmt: skip

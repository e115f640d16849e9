"""Check the answers of Kafka's cases with steps: what is fetched is what was produced before.

The records of an acknowledged request have the offsets from its answer on. Every record, message and time of
a later answer must be one of these.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.independent.kafka.reader import read_log

Json = Any

TRANSACTIONAL, BIT_3 = 0x10, 0x08
STAMPED: Final = {"message.timestamp.type": "LogAppendTime"}


def problem_of(row: Mapping[str, Any]) -> str | None:
    """Return the first answer that does not follow from the requests before it."""
    logs: dict[str, dict[int, Json]] = {}
    is_stamped = STAMPED.items() <= ((row.get("options") or {}).get("topic") or {}).items()
    for number, step in enumerate(row["steps"]):
        partition = step.get("partition", "0")
        for one in row["steps"][number : number + 1 + int(step.get("meanwhile", 0))]:
            _store(logs, one)
        for answer in _answers(step["expect"]):
            for name, entries in _fetched(answer, partition):
                for entry in entries:
                    if problem := _entry_problem(logs.get(name, {}), entry, is_stamped=is_stamped):
                        return f".steps[{number}]: {problem}"
            if problem := _time_problem(logs.get(partition, {}), answer, is_stamped=is_stamped):
                return f".steps[{number}]: {problem}"
    return None


def _answers(expect: Json) -> Iterator[Json]:
    yield from expect["either"].values() if "either" in expect else (expect,)


def _store(logs: dict[str, dict[int, Json]], step: Json) -> None:
    """Keep the records of an acknowledged request under their offsets, each with its batch."""
    for answer in _answers(step["expect"]) if step["op"] == "produce" else ():
        if "baseOffset" not in answer:
            continue
        log = logs.setdefault(step.get("partition", "0"), {})
        (batch,) = read_log(bytes.fromhex(step["hex"]), {})[0]["batches"]
        for row in batch["records"]:
            log[int(answer["baseOffset"]) + int(row["offsetDelta"])] = {
                **row,
                "batch": batch,
                "base": answer["baseOffset"],
            }


def _fetched(answer: Json, partition: str) -> Iterator[tuple[str, list[Json]]]:
    """Yield the entries of an answer with their partition; a fetch session has several."""
    if "entries" in answer:
        yield partition, answer["entries"]
    rows = answer.get("partitions")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and "entries" in row:
            yield row["partition"], row["entries"]


def _entry_problem(log: Mapping[int, Json], entry: Json, *, is_stamped: bool) -> str | None:
    if "magic" in entry:
        inner = entry["messages"] if entry["messages"] is not None else [entry]
        return next(filter(None, (_message_problem(log, one, is_stamped=is_stamped) for one in inner)), None)
    for offset, value in (entry.get("records") or {}).items():
        sent = log.get(int(offset))
        if sent is None:
            return f"no record was produced at offset {offset}"
        if problem := _unlike(_shown(sent, value), _stated(entry, value)):
            return f"offset {offset}: {problem}"
    return None


def _stated(entry: Json, value: Json) -> Json:
    head = {
        name: entry.get(name)
        for name in ("baseOffset", "lastOffset", "producerId", "producerEpoch", "baseSequence", "kind")
    }
    return {**head, **(value if isinstance(value, dict) else {"value": value})}


def _shown(sent: Json, value: Json) -> Json:
    """Return what an entry must say of a record that was sent."""
    batch = sent["batch"]
    last = int(sent["base"]) + int(batch["lastOffsetDelta"])
    head: dict[str, Any] = {"baseOffset": sent["base"], "lastOffset": str(last)}
    has_producer = batch["producerId"] != "-1"
    head |= {
        name: batch[name] if has_producer else None
        for name in ("producerId", "producerEpoch", "baseSequence")
    }
    head["kind"] = "transaction" if int(batch["attributes"]) & TRANSACTIONAL else "data"
    return {
        **head,
        **({name: sent.get(name) for name in value} if isinstance(value, dict) else {"value": sent["value"]}),
    }


def _message_problem(log: Mapping[int, Json], message: Json, *, is_stamped: bool) -> str | None:
    """Return how a message of an old version of Fetch departs from the record that was sent."""
    sent = log.get(int(message["offset"]))
    if sent is None:
        return f"no record was produced at offset {message['offset']}"
    names = ["key", "value"] + ([] if is_stamped or message["magic"] == "0" else ["timestamp"])
    return _unlike({name: sent[name] for name in names}, {name: message[name] for name in names})


def _time_problem(log: Mapping[int, Json], answer: Json, *, is_stamped: bool) -> str | None:
    """Return how the answer of a ListOffsets departs from the record at its offset."""
    if is_stamped or "timestamp" not in answer or int(answer.get("offset", -1)) not in log:
        return None
    return _unlike(log[int(answer["offset"])]["timestamp"], answer["timestamp"])


def _unlike(sent: Json, stated: Json) -> str | None:
    return None if sent == stated else f"the request has {sent}, the answer {stated}"

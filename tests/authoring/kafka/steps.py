"""The parts of cases with steps: requests, and answers that are stated apart from them."""

from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Any

from attrs import frozen

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.entry_bytes import batch, gzip, message_value, record, zstd

Step = dict[str, Any]
Answer = dict[str, Any]

FUTURE = 4_000_000_000_000
"""The time of all records, in 2096: a broker forgets producers by the times of their batches."""

TOO_EARLY, OLD_EPOCH = "OUT_OF_ORDER_SEQUENCE_NUMBER", "INVALID_PRODUCER_EPOCH"
"""The errors of a sequence that is not the next one, and of an epoch that is not the last one."""

APPENDED = 2_000_000_000_000
"""Stands for a time that the broker answered to a Produce."""

CODECS: Mapping[int, Callable[[bytes], bytes]] = {0: bytes, 1: gzip, 4: zstd}
GZIP, ZSTD = 1, 4

LOG_APPEND_TIME = 0x08
"""Attribute bit 3 of a message of v1."""

LIMITS = {"ms": 60_000}
"""A case waits until its topic is created, and for the markers of its transactions."""

RESTART_LIMITS = {"ms": 180_000}
"""A restart waits until the other cases that have begun are ready."""

FORMAT = "kafka.log/mixed"
TRANSACTIONAL = 0x10
NONE = -1


@frozen
class Batch:
    """A batch of records: its values, its producer, and its keys if there are any.

    Attributes:
        producer, epoch, sequence: of the batch; -1 without a producer.
        transactional: attribute bit 4.
        shift: milliseconds after FUTURE.
        deltas: milliseconds of each record after that; none of them without any.
        headers: of each record.
    """

    values: tuple[str | None, ...]
    producer: int = NONE
    epoch: int = NONE
    sequence: int = NONE
    transactional: bool = False
    keys: tuple[str | None, ...] = ()
    codec: int = 0
    shift: int = 0
    deltas: tuple[int, ...] = ()
    headers: tuple[tuple[bytes, bytes | None], ...] = ()

    def bytes(self) -> bytes:
        raw = b"".join(
            record(_encoded(key), _encoded(value), self.headers, ts=delta, off=n)
            for n, (key, value, delta) in enumerate(self._rows())
        )
        time = FUTURE + self.shift
        return batch(
            CODECS[self.codec](raw), len(self.values), epoch=-1, base_ts=time, max_ts=time + max(self.deltas, default=0),
            attributes=self.codec | (TRANSACTIONAL if self.transactional else 0),
            pid=self.producer, pepoch=self.epoch, seq=self.sequence,
        )  # fmt: skip

    def _rows(self) -> Sequence[tuple[str | None, str | None, int]]:
        """Return key, value and delta of each record."""
        keys, deltas = self.keys or repeat("k"), self.deltas or repeat(0)
        return [(key, value, delta) for value, key, delta in zip(self.values, keys, deltas, strict=False)]

    def messages(self, magic: int, base: int, *, kept: Sequence[int] | None = None, stamp: int | None = None) -> list[Answer]:
        """Return the records as an old version of Fetch has them; `stamp` is the time of the append.

        `kept` are the places of the records that are left.
        """
        rows = self._rows()
        bits = LOG_APPEND_TIME if magic and stamp is not None else 0
        found = [
            message_value(
                magic, _encoded(rows[place][0]), _encoded(rows[place][1]), offset=base + place, attributes=bits,
                ts=FUTURE + self.shift + rows[place][2] if stamp is None else stamp,
            )
            for place in (range(len(rows)) if kept is None else kept)
        ]  # fmt: skip
        return [self._wrapper(magic, found, bits)] if self.codec else found

    def _wrapper(self, magic: int, inner: list[Answer], bits: int) -> Answer:
        """Return the wrapper of messages: it has the offset of the last one, and the greatest of their times."""
        time = max(int(one["timestamp"]) for one in inner)
        return message_value(magic, offset=int(inner[-1]["offset"]), attributes=bits | self.codec, ts=time, messages=inner)

    def stored(self, base: int, *, kept: Sequence[int] | None = None) -> Answer:
        """Return the batch as it is fetched; `kept` are the places of the records that are left."""
        places = range(len(self.values)) if kept is None else kept
        records = {str(base + place): None if (value := self.values[place]) is None else value.encode().hex() for place in places}
        kind = "transaction" if self.transactional else "data"
        head = _head(base, base + len(self.values) - 1, self.producer, self.epoch, self.sequence)
        if kept and kept[0]:
            head["baseTimestamp"] = str(FUTURE + self.shift + self._rows()[kept[0]][2])
        return {**head, "kind": kind, "records": records}

    def stamped(self, base: int) -> Answer:
        """Return the batch as a fetch with `times` has it in a topic with append time."""
        return {**self.stored(base), "timestampType": "append", "maxTimestamp": str(APPENDED)}


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def plain(*values: str | None, **more: Any) -> Batch:
    return Batch(values, **more)


def idempotent(*values: str, sequence: int, producer: int = 1000, epoch: int = 0, **more: Any) -> Batch:
    return Batch(values, producer, epoch, sequence, **more)


def _head(base: int, last: int, producer: int, epoch: int, sequence: int) -> Answer:
    head = {"baseOffset": str(base), "lastOffset": str(last)}
    if producer == NONE:
        return head
    return {**head, "producerId": str(producer), "producerEpoch": str(epoch), "baseSequence": str(sequence)}


def marker(kind: str, offset: int, producer: int, epoch: int = 0) -> Answer:
    """Return the marker of the end of a transaction as it is fetched."""
    return {**_head(offset, offset, producer, epoch, NONE), "kind": kind}


# --- requests ---


def produce(sent: Batch, expect: int | str | Answer, *, partition: int = 0, name: str | None = None, **more: Any) -> Step:
    fields = {"partition": str(partition)} if partition else {}
    fields |= {} if name is None else {"transactionalId": name}
    answer = expect if isinstance(expect, dict) else {"error": expect} if isinstance(expect, str) else {"baseOffset": str(expect)}
    return {"op": "produce", **fields, **more, "hex": sent.bytes().hex(), "expect": answer}


def fetch(
    end: int, *entries: Answer, offset: int = 0, stable: int | None = None, start: int = 0,
    aborted: Sequence[Sequence[str]] = (), **fields: Any,
) -> Step:  # fmt: skip
    """A fetch of a log that ends at `end`; without `stable` no transaction is open."""
    return {"op": "fetch", "offset": str(offset), **fields, "expect": log(end, *entries, stable=stable, start=start, aborted=aborted)}


def log(end: int, *entries: Answer, stable: int | None = None, start: int = 0, aborted: Sequence[Sequence[str]] = ()) -> Answer:
    return {
        "highWatermark": str(end),
        "lastStableOffset": str(end if stable is None else stable),
        "logStartOffset": str(start),
        "aborted": [list(pair) for pair in aborted],
        "entries": list(entries),
    }


def old_fetch(version: int, end: int, *entries: Answer, offset: int = 0, **fields: Any) -> Step:
    """A fetch in a version before 4, whose answer has messages and no last stable offset."""
    expect = {"highWatermark": str(end), "entries": list(entries)}
    return {"op": "fetch", "offset": str(offset), "version": str(version), **fields, "expect": expect}


def restart() -> Step:
    return {"op": "restart", "expect": {"restarted": True}}


def await_expiry(of: str) -> Step:
    return {"op": "await-expiry", "of": of, "expect": {"waited": True}}


def refused_fetch(offset: int, error: str, **fields: Any) -> Step:
    return {"op": "fetch", "offset": str(offset), **fields, "expect": {"error": error}}


def session(epoch: int, *rows: Answer, partitions: Sequence[tuple[int, int]] = (), alive: bool = True, **fields: Any) -> Step:
    asked = {"partitions": [[str(number), str(offset)] for number, offset in partitions]} if partitions else {}
    return {"op": "fetch-session", "epoch": str(epoch), **asked, **fields, "expect": {"session": alive, "partitions": list(rows)}}


def refused_session(epoch: int, error: str, **fields: Any) -> Step:
    return {"op": "fetch-session", "epoch": str(epoch), **fields, "expect": {"error": error}}


def delete(offset: int, expect: int | str, *, partition: int = 0) -> Step:
    answer = {"error": expect} if isinstance(expect, str) else {"lowWatermark": str(expect)}
    return {"op": "delete-records", "partition": str(partition), "offset": str(offset), "expect": answer}


def offset_of(timestamp: int, expect: int, **fields: Any) -> Step:
    return {"op": "list-offset", "timestamp": str(timestamp), **fields, "expect": {"offset": str(expect)}}


def offset_at(timestamp: int, expect: tuple[int, int], **fields: Any) -> Step:
    """ListOffsets of a time, or of -3: offset and time of the record; (-1, -1) if there is none."""
    offset, time = expect
    answer = {"offset": str(offset), "timestamp": str(time)}
    return {"op": "list-offset", "timestamp": str(timestamp), **fields, "expect": answer}


@frozen
class Producer:
    """A transactional producer of a case: its id in the bytes, and its transactional id."""

    number: int = 7001
    name: str = "t"

    def init(self, expect: int | str | Answer, epoch: int | None = None) -> Step:
        answer = expect if isinstance(expect, dict) else {"error": expect} if isinstance(expect, str) else {"producerEpoch": str(expect)}
        known = {} if epoch is None else {"producerEpoch": str(epoch)}
        return {"op": "init-producer", "transactionalId": self.name, "producerId": str(self.number), **known, "expect": answer}

    def batch(self, *values: str, sequence: int, epoch: int = 0, transactional: bool = True) -> Batch:
        return Batch(values, self.number, epoch, sequence, transactional)

    def add(self, *partitions: int, epoch: int = 0, error: str = "", number: int | None = None) -> Step:
        return self._step("add-partitions", epoch, {"error": error} if error else {"added": True}, number, partitions=[str(one) for one in partitions])

    def produce(self, sent: Batch, expect: int | str | Answer, *, partition: int = 0, **more: Any) -> Step:
        return produce(sent, expect, partition=partition, name=self.name, **more)

    def end(self, *, commit: bool, epoch: int = 0, error: str = "", number: int | None = None) -> Step:
        return self._step("end-transaction", epoch, {"error": error} if error else {"ended": True}, number, commit=commit)

    def end_v2(self, *, commit: bool, epoch: int, expect: int | str) -> Step:
        answer = {"error": expect} if isinstance(expect, str) else {"producerEpoch": str(expect)}
        return self._step("end-transaction", epoch, answer, None, commit=commit, transactionVersion="2")

    def _step(self, op: str, epoch: int, expect: Answer, number: int | None, **fields: Any) -> Step:
        who = {"transactionalId": self.name, "producerId": str(number or self.number), "producerEpoch": str(epoch)}
        return {"op": op, **who, **fields, "expect": expect}


class Sequences:
    """Adds the cases of one topic."""

    def __init__(self, writer: FixtureWriter, topic: str, section: str, needs: Sequence[str]) -> None:
        self._writer = writer
        self._prefix = f"{FORMAT}/{topic}/"
        self._document = f"kafka.md {section}"
        self._needs = needs

    def case(
        self, name: str, title: str, why: str, rules: Sequence[str], *steps: Step, level: str = "must",
        twin: str = "", topic: Mapping[str, str] | None = None, needs: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self._writer.add({
            "id": self._prefix + name, "title": title, "why": why, "op": "sequence", "profile": "produce",
            "options": {"topic": dict(topic or {})}, "level": level, "rules": list(rules), "steps": list(steps),
            "twin": self._prefix + twin if twin else None, "needs": sorted({*self._needs, *needs}),
            "source": {"origin": "builder", "document": self._document},
            "limits": RESTART_LIMITS if any(step["op"] == "restart" for step in steps) else LIMITS,
        })  # fmt: skip

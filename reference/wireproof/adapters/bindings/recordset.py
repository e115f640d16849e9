"""What the two readers and writers of Kafka record sets in Python share: kafka-python and aiokafka.

Both show a log as batches and their records and both build one entry at a time; they differ in the
fields that they show, told by `Library`. A log is read as their consumers read it (their fetchers'
`_unpack_records`): the checksum of each entry before its records, control records parsed by the
library's own class. Nothing that the library gives is put right here.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from attrs import Factory, define, frozen

from wireproof.adapters.bindings.refusing import Refusals
from wireproof.adapters.contract import Claim, Request
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.wire.values import Json

CODEC_BITS: Final = 0x07
TRANSACTIONAL: Final = 0x10
ATTRIBUTES_AT: Final = 17
"""Where a v0 or v1 message has its attributes: kafka.md §2.1."""

ROOMY: Final = 1 << 30
"""The builders' batch size: no case is near it."""

RECORD_FIELDS: Final = ("offset", "timestamp", "key", "value")
BATCH_FIELDS: Final = (
    "baseOffset",
    "lastOffsetDelta",
    "baseTimestamp",
    "maxTimestamp",
    "producerId",
    "producerEpoch",
    "baseSequence",
)
OBSERVES: Final = (
    *(f"batches[].{name}" for name in (*RECORD_FIELDS, *BATCH_FIELDS)),
    *(f"batches[].messages[].{name}" for name in RECORD_FIELDS),
    *(f"batches[].records[].{name}" for name in (*RECORD_FIELDS, "headers")),
)
"""What both show."""

READS: Final = (
    "wrapper",
    "partial-tail",
    "headers",
    "empty-batch",
    "log-append-time",
    "mixed-magic",
    "delete-horizon",
    "idempotent",
    "control-batch",
)
"""What both read. Aborted transactions are left out by their fetchers, not by their codecs."""


TOLD: Final = (
    *("baseOffset", "magic", "attributes", *BATCH_FIELDS[1:]),
    *(
        f"records[].{name}"
        for name in ("attributes", "timestampDelta", "offsetDelta", *RECORD_FIELDS, "headers")
    ),
)
"""What their builders write of a v2 batch as told; the leader epoch (0 or -1) is theirs to choose."""


def writes(codecs: dict[str, tuple[str, ...]]) -> tuple[tuple[str, Claim], ...]:
    """What both write, with the codecs of each revision; wrappers only as a producer sends them."""
    further: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {"v2": (("headers", "idempotent"), TOLD)}
    claims = []
    for revision, names in codecs.items():
        features, told = further.get(revision, ((), ()))
        claim = Claim(("encode",), names, ("reader",), observes=told, features=features)
        claims.append((f"kafka.batch/{revision}", claim))
    return tuple(claims)


@frozen
class Library:
    """The parts of a client library that its consumer and its producer call.

    Attributes:
        name, version: of the adapter and of the library.
        records: makes its reader of a whole log.
        modern: the class of its v2 batches; whatever else the reader gives is a v0 or v1 entry.
        legacy: makes a v0 or v1 entry of its bytes and magic.
        header: the further fields that its v2 batches show, by attribute name.
        legacy_header: the same for its v0 and v1 entries.
        control: reads a control record as its fetcher does.
        consumed: how many bytes a finished reader used, or None.
        modern_builder, legacy_builder: its writers.
        refusals: what its exceptions mean.
        bad_crc: the exception its fetcher raises for a wrong checksum.
        codecs: the codecs of v2; zstd is none of v0 and v1 (kafka.md §2.2).
    """

    name: str
    version: str
    records: Callable[[bytes], Any]
    modern: type
    legacy: Callable[[bytes, int], Any]
    header: tuple[tuple[str, str], ...]
    legacy_header: tuple[tuple[str, str], ...]
    control: Callable[[Any], object]
    consumed: Callable[[Any], int | None]
    modern_builder: Callable[..., Any]
    legacy_builder: Callable[..., Any]
    refusals: Refusals
    bad_crc: Callable[[str], Exception]


@define
class _Seen:
    """The entries delivered so far, and where the next one starts."""

    batches: list[Json] = Factory(list)
    start: int = 0

    def value(self) -> Json:
        return {"batches": self.batches}

    def delivered(self) -> Json:
        """What came before an error: an entry of which no record was delivered yet does not count."""
        last = self.batches[-1] if self.batches else None
        begun = isinstance(last, dict) and [] in (last.get("records"), last.get("messages"))
        return {"batches": self.batches[:-1] if begun else self.batches}


class RecordSet:
    """One client library as an adapter of `kafka.log`, and of `kafka.batch` for encoding."""

    def __init__(self, library: Library, claims: tuple[tuple[str, Claim], ...]) -> None:
        """Bind `library`; `claims` are what it can do by format and revision."""
        self.library = library
        self.name, self.version = library.name, library.version
        self.documented = library.refusals.documented
        self.revisions = dict(claims)

    def decode(self, request: Request) -> Outcome:
        """Read `request.data` as a log."""
        seen = _Seen()
        try:
            reader = self.library.records(request.data)
            self._read(reader, request.data, seen)
            return Accepted(value=seen.value(), consumed=self.library.consumed(reader))
        except Exception as error:  # noqa: BLE001 - whatever the library raises is its answer
            return self.library.refusals.outcome(error, seen.delivered())

    def _read(self, reader: Any, data: bytes, seen: _Seen) -> None:  # noqa: ANN401 - of the library
        while reader.has_next():
            batch = reader.next_batch()
            if not batch.validate_crc():
                raise self.library.bad_crc(f"entry {len(seen.batches)} failed its crc check")
            size = int.from_bytes(data[seen.start + 8 : seen.start + 12]) + 12
            entry = memoryview(data)[seen.start : seen.start + size]
            seen.start += size
            if isinstance(batch, self.library.modern):
                self._modern(batch, seen)
            else:
                self._legacy(batch, bytes(entry), seen)

    def _modern(self, batch: Any, seen: _Seen) -> None:  # noqa: ANN401 - of the library
        entry: dict[str, Json] = _fields(batch, self.library.header)
        records: list[Json] = []
        seen.batches.append(entry | {"records": records})
        for record in batch:
            if batch.is_control_batch:
                self.library.control(record)
            headers: list[Json] = [[key.encode().hex(), _hex(value)] for key, value in record.headers]
            records.append(_record(record) | {"headers": headers})

    def _legacy(self, batch: Any, entry: bytes, seen: _Seen) -> None:  # noqa: ANN401 - of the library
        """A plain message is one record; a wrapper's records are its inner messages (kafka.md §2.2)."""
        shown = _fields(batch, self.library.legacy_header)
        if not entry[ATTRIBUTES_AT] & CODEC_BITS:
            record = next(self._checked(batch))
            seen.batches.append(shown | _record(record) | {"messages": None})
            return
        messages: list[Json] = []
        seen.batches.append(shown | self._wrapper(entry) | {"messages": messages})
        messages.extend(_record(record) for record in self._checked(batch))

    def _checked(self, batch: Any) -> Iterator[Any]:  # noqa: ANN401 - of the library
        """The records of a v0 or v1 entry, each with the checksum that the fetcher asks for, if it does."""
        for record in batch:
            if hasattr(record, "validate_crc") and not record.validate_crc():
                raise self.library.bad_crc("an inner message failed its crc check")
            yield record

    def _wrapper(self, entry: bytes) -> dict[str, Json]:
        """A wrapper's own fields: as the library reads the same message without its codec bits.

        Neither library shows them of a wrapper. The value is compressed bytes, of which no value speaks.
        """
        plain = bytearray(entry)
        plain[ATTRIBUTES_AT] &= ~CODEC_BITS
        record = next(iter(self.library.legacy(bytes(plain), entry[16])))
        return _record(record) | {"value": None}

    def encode(self, request: Request) -> Outcome:
        """Build one entry of `request.value`; a value that the builder has no way to write is refused."""
        assert isinstance(request.value, dict)
        build = self._build_modern if request.revision == "v2" else self._build_legacy
        try:
            return build(request.value)
        except Exception as error:  # noqa: BLE001 - whatever the library raises is its answer
            return self.library.refusals.outcome(error)

    def _build_modern(self, value: Any) -> Outcome:  # noqa: ANN401 - a JSON value
        if beyond := _beyond_modern(value):
            return Refused(cls="invalid-value", path=beyond, text=f"the builder has no say over {beyond}")
        attributes = int(value["attributes"])
        builder = self.library.modern_builder(
            magic=int(value["magic"]),
            compression_type=attributes & CODEC_BITS,
            is_transactional=bool(attributes & TRANSACTIONAL),
            producer_id=int(value["producerId"]),
            producer_epoch=int(value["producerEpoch"]),
            base_sequence=int(value["baseSequence"]),
            batch_size=ROOMY,
        )
        for record in value["records"]:
            headers = [(bytes.fromhex(key).decode(), _bytes(part)) for key, part in record["headers"]]
            timestamp = int(value["baseTimestamp"]) + int(record["timestampDelta"])
            body = _bytes(record["key"]), _bytes(record["value"])
            builder.append(int(record["offsetDelta"]), timestamp, *body, headers)
        return Accepted(data=bytes(builder.build()))

    def _build_legacy(self, value: Any) -> Outcome:  # noqa: ANN401 - a JSON value
        if beyond := _beyond_legacy(value):
            return Refused(cls="invalid-value", path=beyond, text=f"the builder has no say over {beyond}")
        codec = int(value["attributes"]) & CODEC_BITS
        builder = self.library.legacy_builder(
            magic=int(value["magic"]), compression_type=codec, batch_size=ROOMY
        )
        for message in value["messages"] or [value]:
            body = _bytes(message["key"]), _bytes(message["value"])
            builder.append(int(message["offset"]), int(message["timestamp"]), *body)
        return Accepted(data=bytes(builder.build()))


def _fields(batch: Any, names: tuple[tuple[str, str], ...]) -> dict[str, Json]:  # noqa: ANN401 - of the library
    return {name: str(getattr(batch, attribute)) for name, attribute in names}


def _record(record: Any) -> dict[str, Json]:  # noqa: ANN401 - of the library
    """The fields of a record; a v0 message has no timestamp, which Kafka reads as -1 (kafka.md §2.1)."""
    timestamp = -1 if record.timestamp is None else record.timestamp
    return {
        "offset": str(record.offset),
        "timestamp": str(timestamp),
        "key": _hex(record.key),
        "value": _hex(record.value),
    }


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def _beyond_modern(value: Any) -> str | None:  # noqa: ANN401 - a JSON value
    """The first field that a producer's builder sets by itself, to something else than `value` asks for."""
    records = value["records"]
    base = int(value["baseTimestamp"])
    stamps = [base + int(record["timestampDelta"]) for record in records]
    set_by_builder: tuple[tuple[str, object, object], ...] = (
        ("baseOffset", value["baseOffset"], "0"),
        ("attributes", int(value["attributes"]) & ~(CODEC_BITS | TRANSACTIONAL), 0),
        ("lastOffsetDelta", value["lastOffsetDelta"], records[-1]["offsetDelta"] if records else "0"),
        ("baseTimestamp", base, stamps[0] if stamps else 0),
        ("maxTimestamp", int(value["maxTimestamp"]), max(stamps, default=0)),
        ("records[].attributes", {record["attributes"] for record in records} | {"0"}, {"0"}),
    )
    return next((name for name, asked, done in set_by_builder if asked != done), None)


def _beyond_legacy(value: Any) -> str | None:  # noqa: ANN401 - a JSON value
    """The same of a v0 or v1 entry: the builders leave a wrapper's offset and time to the broker."""
    wrapped = value["messages"] is not None
    time = "-1" if value["magic"] == "0" else "0"
    attributes = int(value["attributes"])
    set_by_builder: tuple[tuple[str, object, object], ...] = (
        ("attributes", attributes & ~CODEC_BITS, 0),
        ("messages", wrapped, bool(attributes & CODEC_BITS)),
        ("offset", value["offset"], "0"),
        ("timestamp", value["timestamp"], time),
        ("key", value["key"], None),
        ("messages[].attributes", {part["attributes"] for part in value["messages"] or ()} | {"0"}, {"0"}),
    )
    plain = ("attributes", "messages")
    found = (name for name, asked, done in set_by_builder if asked != done and (wrapped or name in plain))
    return next(found, None)

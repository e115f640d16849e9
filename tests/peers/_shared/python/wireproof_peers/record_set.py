"""The common part of the adapters of kafka-python and aiokafka, which read and write Kafka record sets.

Both libraries return a log as batches with records and build one entry at a time; `Library` has the
differences. A log is read as their consumers read it (`_unpack_records` of their fetchers): the checksum of
each entry before its records, control records parsed by the library's own class. Values are reported as the
library returns them.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from attrs import Factory, define, frozen

from wireproof.adapters.contract import Claim, Request
from wireproof.cases.outcome import Accepted, Outcome, Unsupported
from wireproof.wire.json_values import Json
from wireproof_peers.build_entries import CODEC_BITS, build_batch, build_message
from wireproof_peers.exception_map import Refusals
from wireproof_peers.record_fields import FIELDS, observed_fields, record_json, to_hex
from wireproof_peers.record_fields import READS as EVERYBODY_READS

ATTRIBUTES_AT: Final = 17
"""The position of the attributes of a v0 or v1 message: kafka.md §2.1."""

BATCH_FIELDS: Final = (
    "baseOffset",
    "lastOffsetDelta",
    "baseTimestamp",
    "maxTimestamp",
    "producerId",
    "producerEpoch",
    "baseSequence",
)
TIMESTAMP_TYPES: Final = ("batches[].timestampType", "batches[].messages[].timestampType")
OBSERVES: Final = (
    *observed_fields(BATCH_FIELDS),
    *TIMESTAMP_TYPES,
    "batches[].records[].timestampType",
)
"""The fields that both return; the timestamp type is a derived field."""

TIMESTAMP_TYPE: Final = {0: "create", 1: "log-append", None: "none"}
"""The libraries' numbers of the types, which they give to the records of their consumers."""

READS: Final = (*EVERYBODY_READS, "control-batch")
"""The features that both read. Their fetchers, not their codecs, leave out aborted transactions."""


WRITTEN: Final = (
    *("baseOffset", "magic", "attributes", *BATCH_FIELDS[1:]),
    *(f"records[].{name}" for name in ("attributes", "timestampDelta", "offsetDelta", *FIELDS, "headers")),
)
"""The fields of a v2 batch that the builders write as given; they choose the leader epoch (0 or -1)."""


def write_claims(codecs: dict[str, tuple[str, ...]]) -> tuple[tuple[str, Claim], ...]:
    """Return the claims for encoding with the codecs of each revision; wrappers are those of a producer."""
    further: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
        "v2": (("headers", "idempotent", "transactional"), WRITTEN)
    }
    claims = []
    for revision, names in codecs.items():
        features, observed = further.get(revision, ((), ()))
        claim = Claim(("encode",), names, ("reader",), observes=observed, features=features)
        claims.append((f"kafka.batch/{revision}", claim))
    return tuple(claims)


@frozen
class Library:
    """The parts of a client library that its consumer and its producer call.

    Attributes:
        name, version: of the adapter and of the library.
        records: returns the library's reader of a whole log.
        modern: the class of its v2 batches; any other entry of the reader is a v0 or v1 entry.
        legacy: returns a v0 or v1 entry from its bytes and magic.
        header: pairs of field and attribute name, of the header of a v2 batch.
        legacy_header: the same for its v0 and v1 entries.
        control: reads a control record as its fetcher does.
        consumed: how many bytes a finished reader used, or None.
        modern_builder, legacy_builder: return its builders of v2 and of v0 and v1 entries.
        refusals: the meaning of its exceptions.
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
    """The entries read so far, and the position of the next one."""

    batches: list[Json] = Factory(list)
    start: int = 0

    def value(self) -> Json:
        return {"batches": self.batches}

    def delivered(self) -> Json:
        """Return the entries before an error, without a last entry of which no record was delivered."""
        last = self.batches[-1] if self.batches else None
        begun = isinstance(last, dict) and [] in (last.get("records"), last.get("messages"))
        return {"batches": self.batches[:-1] if begun else self.batches}


class RecordSet:
    """One client library as an adapter of `kafka.log`, and of `kafka.batch` for encoding."""

    def __init__(self, library: Library, claims: tuple[tuple[str, Claim], ...]) -> None:
        """Keep the library; `claims` are pairs of a format with its revision and the claim."""
        self.library = library
        self.name, self.version = library.name, library.version
        self.documented = library.refusals.documented
        self.revisions = dict(claims)

    def decode(self, request: Request) -> Outcome:
        """Read `request.data` as a log; options of a fetcher are unsupported, for these are codecs."""
        if request.options.fetch_offset is not None or request.options.isolation == "read_committed":
            return Unsupported("offsets and aborted transactions are its fetcher's, not its codec's")
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
            headers: list[Json] = [[key.encode().hex(), to_hex(value)] for key, value in record.headers]
            records.append(_record_json(record) | {"headers": headers})

    def _legacy(self, batch: Any, entry: bytes, seen: _Seen) -> None:  # noqa: ANN401 - of the library
        """Add a v0 or v1 entry; the records of a wrapper are its inner messages (kafka.md §2.2)."""
        outer = _fields(batch, self.library.legacy_header)
        if not entry[ATTRIBUTES_AT] & CODEC_BITS:
            record = next(self._checked(batch))
            seen.batches.append(outer | _record_json(record) | {"messages": None})
            return
        messages: list[Json] = []
        seen.batches.append(outer | self._wrapper(entry) | {"messages": messages})
        messages.extend(_record_json(record) for record in self._checked(batch))

    def _checked(self, batch: Any) -> Iterator[Any]:  # noqa: ANN401 - of the library
        """Yield the records of a v0 or v1 entry, each checked as the fetcher does."""
        for record in batch:
            if hasattr(record, "validate_crc") and not record.validate_crc():
                raise self.library.bad_crc("an inner message failed its crc check")
            # kafka-python's fetcher takes the size of each record, which fails where its magic is below 0.
            getattr(record, "size_in_bytes", None)
            yield record

    def _wrapper(self, entry: bytes) -> dict[str, Json]:
        """Return a wrapper's own fields, as the library reads the same message without its codec bits.

        Neither library returns them for a wrapper. The compressed bytes are not part of the value.
        """
        plain = bytearray(entry)
        plain[ATTRIBUTES_AT] &= ~CODEC_BITS
        record = next(iter(self.library.legacy(bytes(plain), entry[16])))
        return _record_json(record) | {"value": None}

    def encode(self, request: Request) -> Outcome:
        """Build one entry of `request.value`; unsupported if the builder cannot write this value."""
        assert isinstance(request.value, dict)
        build = build_batch if request.revision == "v2" else build_message
        make = self.library.modern_builder if request.revision == "v2" else self.library.legacy_builder
        try:
            return build(make, request.value)
        except Exception as error:  # noqa: BLE001 - whatever the library raises is its answer
            return self.library.refusals.outcome(error)


def _record_json(record: Any) -> dict[str, Json]:  # noqa: ANN401 - of the library
    return record_json(record) | {"timestampType": TIMESTAMP_TYPE[record.timestamp_type]}


def _fields(batch: Any, names: tuple[tuple[str, str], ...]) -> dict[str, Json]:  # noqa: ANN401 - of the library
    return {name: str(getattr(batch, attribute)) for name, attribute in names}

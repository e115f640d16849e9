"""What the two readers and writers of Kafka record sets in Python share: kafka-python and aiokafka.

Both show a log as batches and their records and both build one entry at a time; they differ in the
fields that they show, told by `Library`. A log is read as their consumers read it (their fetchers'
`_unpack_records`): the checksum of each entry before its records, control records parsed by the
library's own class. Nothing that the library gives is put right here.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from attrs import Factory, define, frozen

from wireproof.adapters.contract import Claim, Request
from wireproof.cases.outcome import Accepted, Outcome, Unsupported
from wireproof.wire.values import Json
from wireproof_peers.build_entries import CODEC_BITS, built_batch, built_message
from wireproof_peers.exception_map import Refusals
from wireproof_peers.record_fields import FIELDS, observed, shown, to_hex
from wireproof_peers.record_fields import READS as EVERYBODY_READS

ATTRIBUTES_AT: Final = 17
"""Where a v0 or v1 message has its attributes: kafka.md §2.1."""

BATCH_FIELDS: Final = (
    "baseOffset",
    "lastOffsetDelta",
    "baseTimestamp",
    "maxTimestamp",
    "producerId",
    "producerEpoch",
    "baseSequence",
)
OBSERVES: Final = observed(BATCH_FIELDS)
"""What both show."""

READS: Final = (*EVERYBODY_READS, "control-batch")
"""What both read. Aborted transactions are left out by their fetchers, not by their codecs."""


TOLD: Final = (
    *("baseOffset", "magic", "attributes", *BATCH_FIELDS[1:]),
    *(f"records[].{name}" for name in ("attributes", "timestampDelta", "offsetDelta", *FIELDS, "headers")),
)
"""What their builders write of a v2 batch as told; the leader epoch (0 or -1) is theirs to choose."""


def writes(codecs: dict[str, tuple[str, ...]]) -> tuple[tuple[str, Claim], ...]:
    """What both write, with the codecs of each revision; wrappers only as a producer sends them."""
    further: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
        "v2": (("headers", "idempotent", "transactional"), TOLD)
    }
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
        """Read `request.data` as a log; what a fetcher leaves out of one is not a codec's to say."""
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
            records.append(shown(record) | {"headers": headers})

    def _legacy(self, batch: Any, entry: bytes, seen: _Seen) -> None:  # noqa: ANN401 - of the library
        """A plain message is one record; a wrapper's records are its inner messages (kafka.md §2.2)."""
        outer = _fields(batch, self.library.legacy_header)
        if not entry[ATTRIBUTES_AT] & CODEC_BITS:
            record = next(self._checked(batch))
            seen.batches.append(outer | shown(record) | {"messages": None})
            return
        messages: list[Json] = []
        seen.batches.append(outer | self._wrapper(entry) | {"messages": messages})
        messages.extend(shown(record) for record in self._checked(batch))

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
        return shown(record) | {"value": None}

    def encode(self, request: Request) -> Outcome:
        """Build one entry of `request.value`; a value that the builder has no way to write is unsupported."""
        assert isinstance(request.value, dict)
        build = built_batch if request.revision == "v2" else built_message
        make = self.library.modern_builder if request.revision == "v2" else self.library.legacy_builder
        try:
            return build(make, request.value)
        except Exception as error:  # noqa: BLE001 - whatever the library raises is its answer
            return self.library.refusals.outcome(error)


def _fields(batch: Any, names: tuple[tuple[str, str], ...]) -> dict[str, Json]:  # noqa: ANN401 - of the library
    return {name: str(getattr(batch, attribute)) for name, attribute in names}

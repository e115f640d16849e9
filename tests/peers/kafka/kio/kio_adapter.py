"""kio: one uncompressed v2 batch at a time, `kio.records`."""

import io
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Final

from kio.records.readers import read_batch
from kio.records.schema import NewRecordBatch, Record, RecordBatch, RecordHeader
from kio.records.writers import write_new_batch
from kio.serial.errors import SerialError
from kio.static.primitive import TZAwareMicros, i8, i16, i32, i64

from wireproof.adapters.contract import Claim, Request
from wireproof.cases.outcome import Accepted, Outcome, Unsupported
from wireproof.wire.json_values import Json
from wireproof_peers.exception_map import Refusals
from wireproof_peers.record_fields import to_bytes, to_hex

HEADER: Final = (
    ("baseOffset", "base_offset"),
    ("partitionLeaderEpoch", "partition_leader_epoch"),
    ("magic", "magic"),
    ("attributes", "attributes"),
    ("lastOffsetDelta", "last_offset_delta"),
    ("baseTimestamp", "base_timestamp"),
    ("maxTimestamp", "max_timestamp"),
    ("producerId", "producer_id"),
    ("producerEpoch", "producer_epoch"),
    ("baseSequence", "base_sequence"),
)
RECORD: Final = ("attributes", "offset", "timestamp", "key", "value", "headers")

REFUSALS: Final = Refusals(
    documented=(SerialError,),
    classes=(
        ("Checksum mismatch", "crc-mismatch"),
        ("magic byte == 2", "bad-magic"),
        ("does not match the record length", "length-mismatch"),
        ("does not match the batch length", "length-mismatch"),
    ),
)


class Kio:
    """kio as an adapter of `kafka.batch/v2`; it delivers a batch whole or not at all."""

    name = "kio"
    version = version("kio")
    documented = REFUSALS.documented
    revisions: Final = {
        "kafka.batch/v2": Claim(
            ops=("decode", "encode"),
            codecs=("none",),
            profiles=("reader",),
            observes=(*(name for name, _ in HEADER), *(f"records[].{name}" for name in RECORD)),
            features=(
                "control-batch",
                "headers",
                "log-append-time",
                "delete-horizon",
                "idempotent",
                "transactional",
                "empty-batch",
            ),
        )
    }

    def decode(self, request: Request) -> Outcome:
        try:
            batch, size = read_batch(request.data, 0)
            return Accepted(value=_shown(batch), consumed=size)
        except BaseException as error:  # noqa: BLE001 - a panic of its Rust code is no Exception
            return REFUSALS.outcome(error)

    def encode(self, request: Request) -> Outcome:
        """Write `request.value` as a new batch; unsupported if the writer derives a field otherwise."""
        if derived := _derived_field(request.value):
            return Unsupported(f"write_new_batch derives {derived} by itself")
        try:
            out = io.BytesIO()
            write_new_batch(out, _asked(request.value))
            return Accepted(data=out.getvalue())
        except BaseException as error:  # noqa: BLE001 - a panic of its Rust code is no Exception
            return REFUSALS.outcome(error)


def _shown(batch: RecordBatch) -> Json:
    header: dict[str, Json] = {name: str(getattr(batch, attribute)) for name, attribute in HEADER}
    return header | {"records": [_record(record) for record in batch.records]}


def _record(record: Record) -> Json:
    """Return the fields of a record, whose timestamp kio has cut to whole seconds."""
    return {
        "attributes": str(record.attributes),
        "offset": str(record.offset),
        "timestamp": str(int(record.timestamp.timestamp()) * 1000 + record.timestamp.microsecond // 1000),
        "key": to_hex(record.key),
        "value": to_hex(record.value),
        "headers": [[to_hex(header.key), to_hex(header.value)] for header in record.headers],
    }


def _asked(value: Any) -> NewRecordBatch:  # noqa: ANN401 - a JSON value
    return NewRecordBatch(
        producer_id=i64(int(value["producerId"])),
        producer_epoch=i16(int(value["producerEpoch"])),
        partition_leader_epoch=i32(int(value["partitionLeaderEpoch"])),
        base_sequence=i32(int(value["baseSequence"])),
        attributes=i16(int(value["attributes"])),
        records=tuple(_asked_record(value, record) for record in value["records"]),
    )


def _asked_record(value: Any, record: Any) -> Record:  # noqa: ANN401 - JSON values
    stamp = (int(value["baseTimestamp"]) + int(record["timestampDelta"])) / 1000
    return Record(
        attributes=i8(int(record["attributes"])),
        timestamp=TZAwareMicros.parse(datetime.fromtimestamp(stamp, UTC)),
        offset=i64(int(value["baseOffset"]) + int(record["offsetDelta"])),
        key=to_bytes(record["key"]),
        value=to_bytes(record["value"]),
        headers=tuple(
            RecordHeader(key=to_bytes(key), value=to_bytes(part)) for key, part in record["headers"]
        ),
    )


def _derived_field(value: Any) -> str | None:  # noqa: ANN401 - a JSON value
    """Return the first field that the writer derives from the records otherwise than `value` has it."""
    records = value["records"]
    if not records:  # the writer refuses these by itself
        return None
    stamps = [int(record["timestampDelta"]) for record in records]
    derived = (
        ("magic", value["magic"], "2"),
        ("baseOffset", records[0]["offsetDelta"], "0"),
        ("lastOffsetDelta", value["lastOffsetDelta"], records[-1]["offsetDelta"]),
        ("baseTimestamp", stamps[0], 0),
        ("maxTimestamp", int(value["maxTimestamp"]) - int(value["baseTimestamp"]), max(stamps)),
    )
    return next((name for name, asked, done in derived if asked != done), None)


adapter: Final = Kio()

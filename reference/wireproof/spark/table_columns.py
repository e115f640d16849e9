"""The columns of the tables of scans and campaigns: what each holds, in which unit, with an example."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from attrs import frozen

from wireproof.formats import FORMATS

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


@frozen
class TableColumn:
    """A column: its name and type, what it holds in which unit, and an example."""

    name: str
    type: pa.DataType
    text: str
    example: str


def schema_of(columns: Sequence[TableColumn]) -> pa.Schema:
    """Return the Arrow schema of some columns."""
    return pa.schema([(column.name, column.type) for column in columns])


def spark_schema(columns: Sequence[TableColumn]) -> "StructType":
    """Return the schema of some columns as Spark has it."""
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415 - the tasks of a scan need it not

    return from_arrow_schema(schema_of(columns))


OFFSET_ORDER: Final = "offsets-not-monotonic"
EPOCH_ORDER: Final = "leader-epoch-order"


SEGMENT: Final = r"(^|/)\d{20}\.log(\.gz|\.bz2|\.zst|\.lz4)?$"
"""The name of a segment, whose entries belong to one partition; other objects may mix partitions."""

_FORMAT: Final = next(iter(FORMATS))

TEXT, NUMBER, TEXTS = pa.string(), pa.int64(), pa.list_(pa.string())

_PATH: Final = TableColumn("path", TEXT, "the object, without credentials", "/logs/orders-0/…0.log")
_POSITION: Final = TableColumn("position", NUMBER, "the first byte, in the decompressed object", "4096")
_LENGTH: Final = TableColumn("length", NUMBER, "bytes", "512")
_COUNT: Final = TableColumn("count", NUMBER, "entries; cases of a campaign", "1200")
_BYTES: Final = TableColumn("bytes", NUMBER, "their bytes", "614400")
PLACE: Final = (
    _PATH,
    TableColumn("topic", TEXT, "the topic that the path names; null if it names none", "orders"),
    TableColumn("partition", pa.int32(), "the partition that the path names", "0"),
    _POSITION,
    _LENGTH,
)
ENTRY: Final = (
    TableColumn("first_offset", NUMBER, "offset of the first record; null above 2^63 − 1", "1000"),
    TableColumn("last_offset", NUMBER, "offset of the last record", "1009"),
    TableColumn(
        "timestamp", pa.timestamp("us", tz="UTC"), "the time in the header: of a Kafka batch the largest, "
        "of a batch of Iggy the first one; null where the number is no time", "2026-11-29 08:00:00",
    ),
    TableColumn(
        "timestamp_number", NUMBER, "the same as it is in the bytes: milliseconds for Kafka, microseconds "
        "for Iggy, nanoseconds for Heka", "1764403200000",
    ),
)  # fmt: skip

SIGNATURE: Final = (
    TableColumn("implementation", TEXT, "the adapter, or `reference`", "reference"),
    TableColumn("format", TEXT, "the format of the entry, and its revision", _FORMAT),
    TableColumn("op", TEXT, "what was asked: `decode`, `encode` or `scan`", "decode"),
    TableColumn(
        "verdict",
        TEXT,
        "the verdict of the judge; of the reference the kind of the entry",
        "fail:wrong-accept",
    ),
    TableColumn("class", TEXT, "the class of the refusal; empty without one", "crc-mismatch"),
    TableColumn("field", TEXT, "the field that differs; empty if none does", "records[].key"),
)
"""The parts of a signature, in its order."""

SIGNATURE_PARTS: Final = tuple(column.name for column in SIGNATURE)

_FINDING: Final = TableColumn(
    "finding", TEXT, "the name of the finding for `promote`; null if it is none", "5d41402abc4b2a76"
)
_CLUSTER: Final = TableColumn(
    "cluster", TEXT, "equal for implementations that read the same: `accepted` as the reference, `refused`, "
    "or the beginning of the value's digest", "accepted",
)  # fmt: skip
VERDICT: Final = (*SIGNATURE, _CLUSTER, _FINDING)

VERDICTS: Final = pa.list_(pa.struct([(column.name, column.type) for column in VERDICT]))
ANSWERS: Final = pa.list_(pa.struct([(column.name, column.type) for column in (*SIGNATURE, _FINDING)]))

FRAMES: Final = (
    *PLACE,
    TableColumn("span", NUMBER, "the byte of the object at which the reading task began", "0"),
    SIGNATURE[1],
    TableColumn(
        "kind", TEXT, "`frame` is an entry, `garbage` bytes that a conforming reader refuses, `tail` an "
        "entry that is cut by the end; `stopped` is where a compressed object cannot be decompressed, `lost` "
        "an object that a task could not read", "frame",
    ),
    TableColumn("fault", TEXT, "the class of the error; null for an entry", "crc-mismatch"),
    TableColumn("remarks", TEXTS, "what the format leaves open", "[non-minimal-varint]"),
    TableColumn("damage", TEXTS, "what is wrong, also in the order of entries", "[crc-mismatch]"),
    *ENTRY,
    TableColumn("leader_epoch", pa.int32(), "of a Kafka batch", "3"),
    TableColumn("codec", TEXT, "the compression of a Kafka entry", "zstd"),
    TableColumn("records", NUMBER, "records in the entry", "10"),
    _FINDING,
    TableColumn("verdicts", VERDICTS, "the verdict on each adapter, as in `failures`", "[]"),
)  # fmt: skip
"""One row for each entry, or run of bytes that is none. What follows `remarks` is null if it is no frame."""

TABLES: Final[Mapping[str, tuple[TableColumn, ...]]] = {
    "frames": FRAMES,
    "damage": (
        *PLACE,
        TableColumn("class", TEXT, "what is wrong", "crc-mismatch"),
        *ENTRY,
    ),
    "failures": (*PLACE, *VERDICT),
    "signatures": (*SIGNATURE, _FINDING, _COUNT, _BYTES),
    "matrix": (
        TableColumn("answers", ANSWERS, "the answers of all implementations, the reference first", "[…]"),
        _COUNT,
        _BYTES,
        TableColumn("path", TEXT, "the object of the first; empty in a campaign", "/logs/orders-0/…0.log"),
        TableColumn("position", NUMBER, "its first byte; of a case its number", "4096"),
    ),
    "samples": (
        *SIGNATURE,
        _FINDING,
        _PATH,
        _POSITION,
        _LENGTH,
        TableColumn("codec_format", TEXT, "the format of the case; empty if it is none", _FORMAT),
        TableColumn("raw", pa.binary(), "the bytes of the entry", "0x00…"),
    ),
    "files": (
        _PATH,
        TableColumn("size", NUMBER, "bytes as stored", "1048576"),
        TableColumn("bytes_read", NUMBER, "bytes of all three kinds: the size, unless compressed", "1048576"),
        *(
            column
            for name, text in (("frames", "entries"), ("garbage", "runs of it"), ("tails", "cut entries"))
            for column in (
                TableColumn(name, NUMBER, text, "2048"),
                TableColumn(f"{name.rstrip('s')}_bytes", NUMBER, "their bytes", "1048000"),
            )
        ),
        TableColumn("damaged_places", NUMBER, "rows of `damage`", "1"),
        TableColumn("fault", TEXT, "why it was not decompressed to its end", "decompress-failed"),
        TableColumn("certain", NUMBER, "appended bytes change nothing before this byte", "1048064"),
    ),
    "skipped": (
        _PATH,
        TableColumn("size", NUMBER, "bytes as stored", "0"),
        TableColumn("reason", TEXT, "why it was not read", "empty"),
    ),
    "index_files": (
        TableColumn("path", TEXT, "the index file of a local Kafka log", "/logs/orders-0/…0.index"),
        TableColumn("position", NUMBER, "the first byte of the wrong entry", "8"),
        TableColumn("is_error", pa.bool_(), "whether it misleads a reader", "true"),
        TableColumn("message", TEXT, "what is wrong", "…"),
        TableColumn("next_step", TEXT, "what to do", "delete the file: the broker makes it anew"),
    ),
    "run": (
        TableColumn("version", TEXT, "of wireproof", "0.1.0"),
        TableColumn("started", pa.timestamp("us", tz="UTC"), "when the scan began", "2026-11-29 08:00:00"),
        TableColumn("seconds", pa.float64(), "how long it took", "12.5"),
        TableColumn("source", TEXT, "the source", f"wireproof.{_FORMAT.partition('.')[0]}_log"),
        TableColumn("options", TEXTS, "its options, without paths and keys", "[max_message=1048588]"),
        TableColumn("adapters", TEXTS, "the adapters", "[reference]"),
        TableColumn("objects", NUMBER, "objects in the tables", "3"),
        TableColumn("bytes", NUMBER, "their bytes as stored", "3145728"),
        TableColumn("new_bytes", NUMBER, "the bytes that this scan read", "1048576"),
    ),
}  # fmt: skip
"""The columns of each table of a scan, beside its date and its id (`scan_date`, `scan_id`)."""

ORDER: Final[Mapping[str, tuple[str, ...]]] = {
    "damage": ("path", "position", "class"),
    "failures": ("path", "position", "implementation"),
    "signatures": SIGNATURE_PARTS,
    "matrix": ("path", "position"),
    "samples": (*SIGNATURE_PARTS, "length", "path", "position", "case_number"),
    "files": ("path",),
    "skipped": ("path",),
}
"""The columns by which the rows of a stored table are sorted, so that equal scans give equal tables."""

CAMPAIGN_TABLES: Final[Mapping[str, tuple[TableColumn, ...]]] = {
    "cases": (
        TableColumn("case_number", NUMBER, "the number of the case, from which it is made", "0"),
        TableColumn("length", NUMBER, "bytes of its input", "512"),
        TableColumn("question", TEXT, "equal for equal questions", "9e107d9d372bb682"),
        TableColumn("verdicts", VERDICTS, "the verdict on each adapter", "[…]"),
    ),
    "signatures": (
        *SIGNATURE,
        _FINDING,
        _COUNT,
        TableColumn("first_case", NUMBER, "the number of the first case", "17"),
    ),
    "samples": (
        *SIGNATURE,
        _FINDING,
        TableColumn("case_number", NUMBER, "the number of the case", "17"),
        _LENGTH,
        TableColumn("codec_format", TEXT, "the format of the case", _FORMAT),
        TableColumn("token", TEXT, "replays the case; after `@` it is a file in the folder", "wp1.…"),
        TableColumn("raw", pa.binary(), "the bytes of the input", "0x00…"),
    ),
    "matrix": TABLES["matrix"],
    "run": (
        *(column for column in TABLES["run"] if column.name in {"version", "started", "seconds", "adapters"}),
        TableColumn("formats", TEXTS, "the formats of the cases", f"[{_FORMAT}]"),
        TableColumn("ops", TEXTS, "what was asked", "[decode]"),
        TableColumn("seed", NUMBER, "the seed of the cases", "0"),
        TableColumn("cases", NUMBER, "the number of cases", "100000"),
    ),
}
"""The columns of each table of a campaign."""

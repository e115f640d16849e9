"""The position of each rejection in the golden cases: the first wrong byte, by the tables of the specifications.

Every number here is the sum of the sizes of the fields before it, as the tables give them. `Back` counts from the
end of the input, `Behind` from a text in it. The reference is checked against these numbers.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from attrs import frozen


@frozen
class Back:
    """So many bytes before the end."""

    count: int = 0


@frozen
class Behind:
    """The byte behind the last place (or the first one) where `text` stands."""

    text: bytes
    first: bool = False


At = int | str | Back | Behind
Table = Sequence[tuple[At, str]]
"""Places, and the names of the cases there; in a dict no two places may be one."""


def starts(base: int = 0, **sizes: int) -> dict[str, int]:
    """Where each field starts, from the size of each in order."""
    return dict(zip(sizes, accumulate([base, *sizes.values()]), strict=False))


# --- Kafka ---

V2 = starts(
    base_offset=8, batch_length=4, leader_epoch=4, magic=1, crc=4, attributes=2, last_offset_delta=4, base_timestamp=8, max_timestamp=8,
    producer_id=8, producer_epoch=2, base_sequence=4, records_count=4, records=0,
)  # fmt: skip
"""kafka.md §1.1."""

ALL = V2["records"]
RECORD = starts(ALL, length=1, attributes=1, timestamp_delta=1, offset_delta=1, key_length=1, key=1, value_length=1, value=1, header_count=1,
                header_key_length=1, header_key=1, header_value_length=1, header_value=1)  # fmt: skip
"""kafka.md §1.3, all varints and texts of one byte."""

CONTROL = starts(RECORD["key_length"], key_length=1, key=4, value_length=1, value=0)
"""kafka.md §1.9."""

V1 = starts(
    offset=8, size=4, crc=4, magic=1, attributes=1, timestamp=8, key_length=4, key=1, value_length=4, value=1
)
V0 = starts(offset=8, size=4, crc=4, magic=1, attributes=1, key_length=4, key=1, value_length=4, value=1)
"""kafka.md §2.1, key and value of one byte."""

WRAPPER = starts(V1["key_length"], key_length=4, value_length=4, value=0)
"""kafka.md §2.2: a v1 wrapper has no key."""

MESSAGE = V1["value"] + 1
"""Bytes of one inner message."""

RECORD_SIZE = RECORD["header_count"] + 1 - ALL
XERIAL = starts(ALL, magic=8, version=4, compatible=4, length=4, block=0)
GZIP = starts(ALL, magic=2, method=1, flags=1, mtime=4, extra_flags=1, os=1, behind=0)
LZ4 = starts(ALL, magic=4, flg=1, bd=1, hc=1, length=4, data=2 * RECORD_SIZE, behind=0)
ZSTD = starts(ALL, magic=4, descriptor=1, second=1, block=3, data=0)
"""kafka.md §3; zstd's second byte is window, dictionary id or content size."""


def inner(at: int, outer: int = ALL) -> str:
    return f"{outer}>{at}"


PLAIN: Table = (
    (ALL, "attributes/codec-none-but-gzip headers/count-as-int32 headers/count-zero-of-one records/length-minus-one records/tail-byte-inside varints/unsigned-lengths varints/unterminated"),
    (RECORD["timestamp_delta"], "varints/varlong-eleven-bytes"),
    (RECORD["offset_delta"], "varints/six-bytes"),
    (RECORD["key"], "control/key-2-bytes control/key-version-negative records/key-past-end"),
    (CONTROL["value"], "control/value-5-bytes control/value-version-negative"),
    (RECORD["header_count"], "headers/count-int-max headers/count-minus-1 headers/count-without-bytes"),
    (RECORD["header_key_length"], "headers/key-minus-2 headers/key-null"),
    (RECORD["header_value"], "headers/value-past-end"),
    (RECORD["key"] + 4, "records/attributes-as-int16 records/key-length-int-max"),
    (ALL + RECORD_SIZE, "counts/one-of-two"),
    (ALL + 2 * RECORD_SIZE, "counts/int-max counts/three-of-two"),
    (Back(), "framing/truncated-before-length-ends framing/truncated-before-magic framing/truncated-empty framing/truncated-in-header framing/truncated-one-byte-short"),
    (Back(), "headers/count-two-of-one"),
    (V2["base_offset"], "produce/base-offset-5"),
    (V2["attributes"], "produce/control"),
    (V2["last_offset_delta"], "produce/count-not-range"),
    (V2["records_count"], "produce/empty"),
    (V2["base_sequence"], "produce/no-sequence"),
)  # fmt: skip

PACKED: Table = (
    (ALL, "attributes/codec-gzip-but-plain compression/snappy-framing-format gzip/raw-deflate gzip/zlib lz4/legacy-magic lz4/raw-block"),
    (XERIAL["length"], "compression/snappy-negative-block compression/snappy-truncated-block compression/snappy-zero-chunk"),
    (XERIAL["block"], "compression/snappy-bomb"),
    (inner(2 * RECORD_SIZE), "counts/gzip-int-max counts/gzip-three-of-two counts/gzip-trailing-zero"),
    (inner(RECORD_SIZE), "counts/gzip-one-of-two"),
    (Back(), "lz4/content-checksum-missing lz4/no-end-mark"),
    (Back(8), "gzip/crc-wrong"),
    (Back(4), "gzip/isize-wrong lz4/content-checksum-wrong zstd/checksum-wrong"),
    (Back(3), "gzip/trailer-truncated"),
    (Back(len(b"garbage")), "zstd/trailing-garbage"),
    (GZIP["behind"], "gzip/header-crc-wrong"),
    (GZIP["method"], "gzip/method-7"),
    (GZIP["flags"], "gzip/reserved-flag-0x20"),
    (LZ4["flg"], "lz4/dictionary-bit lz4/reserved-flg lz4/version-0"),
    (LZ4["bd"], "lz4/bd-3 lz4/bd-reserved"),
    (LZ4["hc"], "lz4/header-byte-kip57 lz4/header-byte-wrong"),
    (LZ4["behind"], "lz4/block-checksum-wrong"),
    (ZSTD["second"], "zstd/dictionary-id zstd/window-log-28"),
    (ZSTD["data"], "zstd/truncated"),
)  # fmt: skip

OLD: dict[At, str] = {
    V0["key"]: "v0/message/key-past-end",
    V0["value"]: "v0/message/value-past-end",
    V1["key"]: "v1/message/key-past-end",
    V1["value"]: "v1/message/value-past-end",
    Back(): "v0/message/truncated v1/message/truncated",
}

WRAPPED: dict[At, str] = {
    WRAPPER["value_length"]: "empty-value null-value",
    inner(V1["crc"], WRAPPER["value"]): "inner-crc-wrong",
    inner(V1["size"], WRAPPER["value"]): "inner-size-minus-12",
    inner(MESSAGE + V1["size"], WRAPPER["value"]): "inner-size-least",
    inner(2 * MESSAGE + V1["size"], WRAPPER["value"]): "inner-trailing-zeros",
    inner(V1["attributes"], WRAPPER["value"]): "nested",
    inner(0, WRAPPER["value"]): "no-inner",
    WRAPPER["value"] + LZ4["hc"] - ALL: "lz4-kip57",
    V1["offset"]: "offset-below-last offset-negative",
}

# --- Iggy ---

ENTRY = starts(key_len=4, key=1, kind=1, val_len=4, value=0)
"""iggy.md §2.3, a key of one byte."""

PLACE = starts(
    stream_kind=1,
    stream_length=1,
    stream=4,
    topic_kind=1,
    topic_length=1,
    topic=6,
    partitioning_kind=1,
    partitioning_length=1,
    messages=0,
)
"""iggy.md §3.1: a number, the six letters of `sample`, and balanced."""

SENT = starts(PLACE["messages"], id=16, headers_len=4, payload_len=4, payload=5, second=0)
"""iggy.md §3.1, without headers; `hello` and `world`."""

HEADERS = SENT["payload_len"]
SECOND = SENT["second"] - PLACE["messages"]


def polled(prefix: int, *, state: int = 0, checksum: int = 0) -> dict[str, int]:
    """iggy.md §3.3: a prefix, the count, and messages of `hello` or `world` without headers."""
    return starts(
        prefix,
        count=4,
        offset=8,
        state=state,
        timestamp=8,
        id=16,
        checksum=checksum,
        headers_len=4,
        payload_len=4,
        payload=5,
        second=0,
    )


def torn(prefix: int, more: str, **widths: int) -> dict[At, str]:
    """The torn bodies of an edition."""
    at = polled(prefix, **widths)
    size = at["second"] - at["offset"]
    third = at["second"] + size
    return {
        at["count"]: "count-cut",
        at["id"] + size: "cut-in-fixed-part",
        at["payload"] + size: "last-payload-missing one-byte-missing",
        third: "one-byte-more",
        at["payload_len"] + 2 * size: more,
        at["payload"]: "payload-length-huge",
    }


POLL30 = polled(0)
IN_POLL30 = {name: POLL30["payload_len"] + at for name, at in ENTRY.items()}
LOG30, LOG40 = (polled(-4, state=state, checksum=4) for state in (0, 1))
"""iggy.md §6: records bear a checksum and no count."""


def logged(at: dict[str, int]) -> dict[At, str]:
    return {
        at["checksum"]: "payload-flipped",
        at["checksum"] + at["second"]: "checksum-wrong",
        at["second"] + at["payload_len"] + ENTRY["kind"]: "kind-16",
    }


JSON_SEND: dict[At, str] = {
    Behind(b'"payload":'): "base64/blank base64/newline base64/no-base64 base64/no-letters base64/no-padding base64/one-letter base64/padding-inside base64/too-much-padding "
                           "base64/url-alphabet send/payload-empty types/payload-null types/payload-number",
    Behind(b'"headers":{'): "headers/key-256-bytes headers/key-empty",
    Behind(b'"kind":'): "headers/kind-empty headers/kind-float headers/kind-str headers/kind-string-title",
    Behind(b'"kind":', first=True): "send/kind-unknown text/bad-escape text/control-character",
    Behind(b'"value":'): "headers/value-256-bytes headers/value-empty send/partition-id-3-bytes",
    Behind(b'"id":'): "id/2-128 id/exponent id/fraction id/negative id/of-1000-digits id/text text/infinity text/nan types/id-null",
    Behind(b'"id":0'): "id/leading-zero",
    Behind(b'"messages":'): "send/messages-none types/messages-object",
    Behind(b'"messages":['): "send/no-payload",
    Behind(b'"partitioning":'): "send/no-partitioning-value",
    0: "send/no-messages send/no-partitioning text/byte-order-mark text/comment text/empty types/array",
    1: "text/single-quotes",
    Back(): "text/cut",
    Back(1): "text/trailing-comma",
}  # fmt: skip


def json_poll(objects: bytes) -> dict[At, str]:
    """The message begins behind `objects`."""
    return {
        Behind(b'"offset":'): "messages/offset-65-bits messages/offset-text",
        Behind(objects, first=True): "messages/offset-missing",
        0: "messages/other-envelope",
    }


STATE: dict[At, str] = {Behind(b'"state":'): "state/code state/unknown"}


TABLES: tuple[tuple[str, Table | Mapping[At, str]], ...] = (
    ("kafka.batch/v2/", PLAIN),
    ("kafka.batch/v2/", PACKED),
    ("kafka.batch/", OLD),
    ("kafka.batch/v1/wrapper/", WRAPPED),
    ("kafka.log/mixed/", {V2["crc"]: "damaged/cut-in-the-middle"}),
    ("iggy.headers/0.0.30/bounds/", {
        ENTRY["key_len"]: "opaque", ENTRY["key"]: "key-cut", ENTRY["kind"]: "kind-missing", ENTRY["val_len"]: "length-cut",
        ENTRY["value"]: "value-missing value-past-end", ENTRY["value"] + 4: "value-cut", Back(1): "one-byte-more one-zero-more",
    }),
    ("iggy.", {2: "identifier/0.0.30/identifier/string-past-end identifier/0.0.30/identifier/truncated partitioning/0.0.30/partitioning/truncated"}),
    ("iggy.poll/0.0.30/torn/", torn(0, "40-bytes-more")),
    ("iggy.poll/0.0.40/torn/", torn(0, "45-bytes-more", state=1, checksum=4)),
    ("iggy.poll/0.0.60/torn/", torn(12, "45-bytes-more", state=1, checksum=4)),
    ("iggy.poll/0.0.60/prefix/", {4: "cut"}),
    ("iggy.poll/0.0.30/headers/", {
        IN_POLL30["key_len"]: "key-empty", IN_POLL30["key"]: "key-bad-utf8", IN_POLL30["kind"]: "kind-0", IN_POLL30["val_len"]: "length-cut", IN_POLL30["value"]: "value-missing",
    }),
    ("iggy.send/0.0.30/", {
        HEADERS + ENTRY["kind"]: "headers/kind-16",
        HEADERS: "headers/length-huge headers/length-past-end",
        PLACE["messages"]: "limits/headers-102401 messages/none",
        SENT["payload"]: "messages/payload-empty torn/payload-length-huge",
        SENT["payload"] + SECOND: "messages/second-payload-empty torn/one-byte-missing torn/payload-missing",
        PLACE["topic"]: "place/body-of-10-bytes",
        PLACE["partitioning_length"]: "place/messages-key-empty",
        PLACE["stream"]: "place/stream-0",
        PLACE["topic_length"]: "place/topic-name-empty",
        SENT["second"] + SECOND: "torn/one-byte-more",
        SENT["payload_len"] + 2 * SECOND: "torn/23-bytes-more",
    }),
    ("iggy.log/0.0.30/records/", logged(LOG30)),
    ("iggy.log/0.0.40/records/", logged(LOG40)),
    ("iggy.json.send/0.0.30/", JSON_SEND),
    ("iggy.json.poll/0.0.30/", json_poll(b"[")),
    ("iggy.json.poll/0.0.40/", json_poll(b"[")),
    ("iggy.json.poll/0.0.60/", json_poll(b'"messages":[')),
    ("iggy.json.poll/0.0.60/", {0: "messages/current-offset-missing"}),
    ("iggy.json.poll/0.0.40/", STATE),
    ("iggy.json.poll/0.0.60/", STATE),
)  # fmt: skip

BY_ID: dict[str, At] = {
    prefix + name: at
    for prefix, table in TABLES
    for at, names in (table.items() if isinstance(table, Mapping) else table)
    for name in names.split()
}


def placed(case: dict[str, Any]) -> None:
    """Tell a refusal of a decode its place, where a table has it."""
    reject = case["expect"].get("reject")
    if reject is None or "hex" not in case["input"] or case["id"] not in BY_ID or "at" in reject:
        return
    at = resolved(BY_ID[case["id"]], bytes.fromhex(case["input"]["hex"]))
    rest = {key: reject.pop(key) for key in ("before",) if key in reject}
    reject |= {"at": at, **rest}


def resolved(at: At, data: bytes) -> int | str:
    """The place in these bytes."""
    match at:
        case Back(count):
            return len(data) - count
        case Behind(text, first):
            return (data.index(text) if first else data.rindex(text)) + len(text)
        case _:
            return at

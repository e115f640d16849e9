"""The remark classes of Kafka: kafka.md, section 5, "IMPL class".

Values that the reader does not check, or that it may answer in several ways. In profile `produce`: values
that no producer should write; a broker stores, clears or recompresses them.
"""

from typing import Final

from wireproof.wire.rejection import Rejected
from wireproof.wire.remark_classes import RemarkClass

KAFKA_REMARKS: Final[dict[str, RemarkClass]] = {
    "size-overflow": RemarkClass(
        "kafka.md section 1.4 step 7, I14, I25: no log contains such an entry", "a size that no log contains"
    ),
    "unknown-attr-bits": RemarkClass(
        "kafka.md sections 1.2, 2.1, C08 to C10, L08 to L10", "attribute bits without a meaning are set"
    ),
    "record-attrs": RemarkClass(
        "kafka.md section 1.11, R09, R10, R45", "the attributes of a record, which are unused, are not 0"
    ),
    "length-below-minus1": RemarkClass(
        "kafka.md sections 1.3, 2.1, R11 to R13, R23, L04", "a length below -1, read as null"
    ),
    "header-key-utf8": RemarkClass(
        "kafka.md section 1.3, R24", "the key of a header is not UTF-8", others=("replaced",)
    ),
    "offset-delta": RemarkClass(
        "kafka.md section 1.5, R26 to R30, R33", "the offsets inside the batch are not those of its header"
    ),
    "last-offset-delta": RemarkClass(
        "kafka.md section 1.5, C17, C18, S01", "the last offset of the batch is not that of its last record"
    ),
    "offset-negative": RemarkClass("kafka.md section 1.5, C15, L40", "an offset is below 0"),
    "offset-overflow": RemarkClass("kafka.md section 1.10, C16", "an offset does not fit into 64 bits"),
    "offsets-not-monotonic": RemarkClass("kafka.md section 1.5, I31", "offsets do not increase"),
    "max-timestamp": RemarkClass(
        "kafka.md section 1.5, C19; in profile produce also of a wrapper, section 2.2",
        "the maximum timestamp of the batch is not that of its records",
    ),
    "producer-fields": RemarkClass(
        "kafka.md section 1.5, C20, C21, C23, C25",
        "a producer id without epoch or sequence, or a transaction without a producer id",
    ),
    "negative-timestamp": RemarkClass(
        "kafka.md sections 1.8, 2, C26, C27, R32, L11", "a timestamp is below 0"
    ),
    "timestamp-overflow": RemarkClass("kafka.md section 1.10, R31", "a timestamp does not fit into 64 bits"),
    "count-zero-with-bytes": RemarkClass(
        "kafka.md section 1.5, N02, N16", "a batch without records has bytes in their place"
    ),
    "compressed-empty-batch": RemarkClass(
        "kafka.md section 1.5, N08, N09, N18 to N21", "a batch without records is marked as compressed"
    ),
    "control-record-count": RemarkClass(
        "kafka.md section 1.5, K09", "a control batch of a transaction does not have exactly one record"
    ),
    "control-not-transactional": RemarkClass(
        "kafka.md section 5, K10", "the marker of a transaction is in a batch that is not transactional"
    ),
    "control-compressed": RemarkClass("kafka.md section 5, K11", "a control batch is compressed"),
    "control-value": RemarkClass(
        "kafka.md section 1.9: KRaft values are opaque to consumers",
        "the value of a control record of KRaft is broken",
    ),
    "legacy-extra-bytes": RemarkClass(
        "kafka.md section 2.1, L07", "there are bytes after the value of a message"
    ),
    "wrapper-key": RemarkClass("kafka.md section 2.2, L15", "a wrapper message has a key"),
    "wrapper-crc": RemarkClass(
        "kafka.md section 2.2, L27", "the checksum of a wrapper message is wrong", mismatch=True
    ),
    "inner-magic": RemarkClass(
        "kafka.md section 2.2, L20, L21", "an inner message has another magic than its wrapper"
    ),
    "inner-truncated": RemarkClass("kafka.md section 2.2, L24, L25", "the last inner message is cut"),
    "inner-offsets": RemarkClass(
        "kafka.md section 2.2, L30, L31", "the offsets of inner messages do not increase by one"
    ),
    "inner-ts-type": RemarkClass(
        "kafka.md section 2.2, L29", "an inner message has another timestamp type than its wrapper"
    ),
    "produce-append-time": RemarkClass(
        "kafka.md section 1.7: cleared, or rejected if the topic uses append time",
        "a producer sets the timestamp type to append time",
    ),
    "produce-delete-horizon": RemarkClass(
        "kafka.md sections 1.2, 1.8: set by the log cleaner, not by a producer",
        "a producer sets the cleaner's bit",
    ),
    "produce-inner-offsets": RemarkClass(
        "kafka.md sections 1.7, 2.2: recompressed", "a producer sets offsets that the broker overwrites"
    ),
    "snappy-unframed": RemarkClass(
        "kafka.md section 3.2: Kafka's own writer adds the framing, but every reader must do without",
        "a producer writes snappy without the framing of snappy-java",
        rejectable=False,
    ),
}


def with_default_detail(rejected: Rejected, detail: str) -> Rejected:
    """Return the rejection with `detail` if it has none: then a primitive of the reader ran out of bytes."""
    if rejected.detail:
        return rejected
    parts = (rejected.cls, rejected.at, rejected.path, rejected.text)
    return Rejected(*parts, detail=detail, before=rejected.before)

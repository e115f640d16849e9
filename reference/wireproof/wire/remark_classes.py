"""The table of remark classes: where the formats leave the answer open, and which other answers are allowed.

A codec adds a remark by the name of its class. Only this table decides if a codec may reject the input
there. The other allowed *values* are computed by the codec, under the names listed in `others`.
architecture.md#verdicts.
"""

from typing import Final

from attrs import frozen


@frozen
class RemarkClass:
    """A class of remarks.

    Attributes:
        source: document, section and test vectors.
        rejectable: True if a codec may reject the input here.
        others: names of the other allowed answers, whose values the codec computes.
    """

    source: str
    rejectable: bool
    others: tuple[str, ...] = ()


REMARK_CLASSES: Final[dict[str, RemarkClass]] = {
    # --- kafka: kafka.md, section 5, "IMPL class" ---
    # Sections 1 and 2: values that Kafka's reader does not check, or that it may answer in several ways.
    "size-overflow": RemarkClass(
        "kafka.md section 1.4 step 7, I14, I25: no log contains such an entry", rejectable=True
    ),
    "unknown-attr-bits": RemarkClass("kafka.md sections 1.2, 2.1, C08 to C10, L08 to L10", rejectable=True),
    "record-attrs": RemarkClass("kafka.md section 1.11, R09, R10, R45", rejectable=True),
    "varint-overlong": RemarkClass("kafka.md section 4, T01, T02, T10, T15", rejectable=True),
    "varint-dropped-bits": RemarkClass(
        "kafka.md section 4, T04, T05, T13, T14", rejectable=True, others=("kept-bits",)
    ),
    "length-below-minus1": RemarkClass("kafka.md sections 1.3, 2.1, R11 to R13, R23, L04", rejectable=True),
    "header-key-utf8": RemarkClass("kafka.md section 1.3, R24", rejectable=True, others=("replaced",)),
    "offset-delta": RemarkClass("kafka.md section 1.5, R26 to R30, R33", rejectable=True),
    "last-offset-delta": RemarkClass("kafka.md section 1.5, C17, C18, S01", rejectable=True),
    "offset-negative": RemarkClass("kafka.md section 1.5, C15, L40", rejectable=True),
    "offset-overflow": RemarkClass("kafka.md section 1.10, C16", rejectable=True),
    "offsets-not-monotonic": RemarkClass("kafka.md section 1.5, I31", rejectable=True),
    "max-timestamp": RemarkClass(
        "kafka.md section 1.5, C19; in profile produce also of a wrapper, section 2.2", rejectable=True
    ),
    "producer-fields": RemarkClass("kafka.md section 1.5, C20 to C25", rejectable=True),
    "negative-timestamp": RemarkClass("kafka.md sections 1.8, 2, C26, C27, R32, L11", rejectable=True),
    "timestamp-overflow": RemarkClass("kafka.md section 1.10, R31", rejectable=True),
    "count-zero-with-bytes": RemarkClass("kafka.md section 1.5, N02, N16", rejectable=True),
    "compressed-empty-batch": RemarkClass("kafka.md section 1.5, N08, N09, N18 to N21", rejectable=True),
    "lat-and-horizon": RemarkClass("kafka.md section 1.8, X03", rejectable=True),
    "control-record-count": RemarkClass("kafka.md section 1.5, K09", rejectable=True),
    "control-not-transactional": RemarkClass("kafka.md section 5, K10", rejectable=True),
    "control-compressed": RemarkClass("kafka.md section 5, K11", rejectable=True),
    "control-value": RemarkClass(
        "kafka.md section 1.9: KRaft values are opaque to consumers", rejectable=True
    ),
    "legacy-extra-bytes": RemarkClass("kafka.md section 2.1, L07", rejectable=True),
    "wrapper-key": RemarkClass("kafka.md section 2.2, L15", rejectable=True),
    "wrapper-crc": RemarkClass("kafka.md section 2.2, L27", rejectable=True),
    "inner-magic": RemarkClass("kafka.md section 2.2, L20, L21", rejectable=True),
    "inner-truncated": RemarkClass("kafka.md section 2.2, L24, L25", rejectable=True),
    "inner-offsets": RemarkClass("kafka.md section 2.2, L30, L31", rejectable=True),
    "inner-ts-type": RemarkClass("kafka.md section 2.2, L29", rejectable=True),
    # Profile `produce`: values that no producer should write; a broker stores, clears or recompresses them.
    "produce-append-time": RemarkClass(
        "kafka.md section 1.7: cleared, or rejected if the topic uses append time", rejectable=True
    ),
    "produce-delete-horizon": RemarkClass(
        "kafka.md sections 1.2, 1.8: set by the log cleaner, not by a producer", rejectable=True
    ),
    "produce-inner-offsets": RemarkClass("kafka.md sections 1.7, 2.2: recompressed", rejectable=True),
    # Section 3: data that Kafka's reader accepts although no conforming writer makes it.
    "gzip-trailing-garbage": RemarkClass("kafka.md section 3, N13", rejectable=True),
    "gzip-reserved-flags": RemarkClass(
        "kafka.md section 3, X07: rejected, but the JDK ignores them", rejectable=True, others=("ignored",)
    ),
    "snappy-unframed": RemarkClass(
        "kafka.md section 3.2, Z01: Kafka's own writer adds a framing, but every reader must do without",
        rejectable=False,
    ),
    "snappy-version": RemarkClass(
        "kafka.md section 3.2, Z02 to Z05: readers compare the magic alone", rejectable=False
    ),
    "snappy-trailing-bytes": RemarkClass("kafka.md section 3, Z08", rejectable=True),
    "snappy-concatenated": RemarkClass("kafka.md section 3, Z11", rejectable=True),
    "lz4-content-checksum": RemarkClass(
        "kafka.md section 3, Z26: rejected, but Kafka passes over it, KAFKA-20528",
        rejectable=True,
        others=("passed-over",),
    ),
    "lz4-content-size": RemarkClass("kafka.md section 3, Z44", rejectable=True),
    "lz4-after-endmark": RemarkClass("kafka.md section 3, Z37, Z38, X10", rejectable=True),
    "lz4-endmark-stored": RemarkClass("kafka.md section 3, X10: others read an empty block", rejectable=True),
    "lz4-v0-hc-good": RemarkClass("kafka.md section 2.3, Z23", rejectable=True),
    "lz4-v0-hc-neither": RemarkClass(
        "kafka.md section 2.3: the reader of v0 ignores the byte", rejectable=True
    ),
    "zstd-empty-packed-block": RemarkClass(
        "RFC 8878, section 3.1.1.3, requires 2 bytes; zstandard accepts 0 when it streams", rejectable=True
    ),
    # --- iggy: iggy.md, sections 9 to 11 ---
    "iggy-duplicate-header": RemarkClass(
        "iggy.md §10.1", rejectable=True, others=("first-wins", "last-wins")
    ),
    "iggy-header-size": RemarkClass("iggy.md §10.3, int32_3bytes", rejectable=True),
    "iggy-header-bool": RemarkClass("iggy.md §10.3, bool_is_2", rejectable=True),
    "iggy-header-utf8": RemarkClass("iggy.md §0 and §2.3, kind string", rejectable=True),
    "iggy-message-count": RemarkClass("iggy.md §3.3, §11.1 R9", rejectable=True),
    "iggy-message-order": RemarkClass("iggy.md §3.3, §5", rejectable=False, others=("sorted-by-offset",)),
    "iggy-empty-payload": RemarkClass("iggy.md §3.3, §11.1 R10", rejectable=True),
    "iggy-payload-checksum": RemarkClass("iggy.md §3.3, checksum", rejectable=True),
    "iggy-message-checksum": RemarkClass("iggy.md §5, §6, §11.1 R9", rejectable=True),
    "iggy-batch-checksum": RemarkClass("iggy.md §6, §11.1 R9", rejectable=True),
    "iggy-batch-count": RemarkClass("iggy.md §6, §11.1 R9", rejectable=True),
    "iggy-offset-delta": RemarkClass("iggy.md §6: producers write the index of the message", rejectable=True),
    "iggy-unminted-id": RemarkClass("iggy.md §2.5: the server does not check it", rejectable=True),
    "iggy-opaque-headers": RemarkClass(
        "iggy.md §5, §6, §10.2: encrypted or damaged, the message is delivered",
        rejectable=False,
        others=("no-headers",),
    ),
    "iggy-unset-field": RemarkClass("iggy.md §2.1, §5: written as 0, ignored by readers", rejectable=True),
    "iggy-flag": RemarkClass("iggy.md §3.2, §5: every value other than 1 means 0", rejectable=True),
    "iggy-request-checksum": RemarkClass("iggy.md §2.1, request_checksum", rejectable=True),
    "iggy-no-request-checksum": RemarkClass(
        "iggy.md §2.1, request_checksum: optional, and 0 where a client leaves it out", rejectable=False
    ),
    "iggy-short-body": RemarkClass(
        "iggy.md §2.1: clients read one byte as an empty body", rejectable=True, others=("empty",)
    ),
    "iggy-balanced-value": RemarkClass("iggy.md §2.2, Partitioning", rejectable=True),
    "iggy-bare-balanced": RemarkClass("iggy.md §2.2, Partitioning", rejectable=True),
    "iggy-lowered-limit": RemarkClass("iggy.md §9, 0.0.30 and 0.0.116", rejectable=True),
    "iggy-json-length": RemarkClass("iggy.md §8.2: no reader compares it", rejectable=True),
    "iggy-json-reserved": RemarkClass("iggy.md §8.2, §11.1 R16: not checked", rejectable=True),
    "iggy-json-unknown-field": RemarkClass("iggy.md §8", rejectable=True),
    "iggy-base64-bits": RemarkClass("RFC 4648 §3.5", rejectable=True),
    # --- heka: heka.md, sections 2.4, 3 and 4 ---
    # Warnings of the strict column: a rejection is allowed only where at least one reader rejects.
    "varint-nonminimal": RemarkClass("heka.md section 4, M12, M13", rejectable=False),
    "int32-five-byte-negative": RemarkClass("heka.md section 4, M15, M19", rejectable=False),
    "severity-range": RemarkClass("heka.md section 4, M14 to M16", rejectable=False),
    "timestamp-negative": RemarkClass("heka.md section 4, M09", rejectable=False),
    "bad-utf8": RemarkClass(
        "heka.md section 4, M36 to M38, M85, M86: kept, replaced or rejected",
        rejectable=True,
        others=("replaced",),
    ),
    "duplicate-scalar": RemarkClass("heka.md section 4, M32 to M35, M88: the last counts", rejectable=False),
    "field-no-value": RemarkClass("heka.md section 4, M51, M66", rejectable=False),
    "field-empty-name": RemarkClass("heka.md section 4, M52", rejectable=False),
    "packed-empty": RemarkClass("heka.md section 4, M66: Lua's reader rejects it", rejectable=True),
    "bool-not-01": RemarkClass("heka.md section 4, M75, M77", rejectable=False),
    "header-order": RemarkClass("heka.md section 2.4, S19: the C reader rejects it", rejectable=True),
    "header-unknown-field": RemarkClass("heka.md section 2.4, S30", rejectable=False),
    "header-unknown-function": RemarkClass(
        "heka.md section 3, A14: an unknown field, the number itself, or cut to 32 bits",
        rejectable=False,
        others=("number", "cut"),
    ),
    "legacy-encoding": RemarkClass("heka.md sections 1 and 2.4, S20", rejectable=False),
    "legacy-encoding-json": RemarkClass(
        "heka.md sections 1 and 8, W11: it meant JSON until 2013-09-18; all readers now ignore it",
        rejectable=True,
    ),
}

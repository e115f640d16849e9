"""The table of remark classes: where the formats leave an answer open, and which other answers are allowed.

Design, section 1 ("remark"): one table, beside the refusal classes. A codec leaves a remark by its
class name; whether a refusal is allowed there is decided here and nowhere else. Other *values* that
are allowed are computed by the codec where it stands, under the names listed in `others`.
"""

from typing import Final

from attrs import frozen


@frozen
class RemarkClass:
    """A row: document and section, whether a refusal is allowed, and the names of other answers."""

    source: str
    refusable: bool
    others: tuple[str, ...] = ()


REMARKS: Final[dict[str, RemarkClass]] = {
    # --- kafka: rulebook kafka.md, section 5, "IMPL class" ---
    # Section 3: what Kafka's reader takes though no conforming writer makes it; a strict reader refuses.
    "gzip-trailing-garbage": RemarkClass("kafka.md section 3, N13", refusable=True),
    "gzip-reserved-flags": RemarkClass("kafka.md section 3, X07", refusable=True),
    "snappy-unframed": RemarkClass("kafka.md section 3, Z01", refusable=True),
    "snappy-version": RemarkClass("kafka.md section 3, Z02 to Z05", refusable=True),
    "snappy-trailing-bytes": RemarkClass("kafka.md section 3, Z08", refusable=True),
    "snappy-concatenated": RemarkClass("kafka.md section 3, Z11", refusable=True),
    "lz4-content-checksum": RemarkClass("kafka.md section 3, Z26", refusable=True),
    "lz4-content-size": RemarkClass("kafka.md section 3, Z44", refusable=True),
    "lz4-after-endmark": RemarkClass("kafka.md section 3, Z37, Z38, X10", refusable=True),
    "lz4-endmark-stored": RemarkClass("kafka.md section 3, X10: others see an empty block", refusable=True),
    "lz4-v0-hc-good": RemarkClass("kafka.md section 2.3, Z23", refusable=True),
    "lz4-v0-hc-neither": RemarkClass(
        "kafka.md section 2.3: the reader of v0 ignores the byte", refusable=True
    ),
    "zstd-empty-packed-block": RemarkClass(
        "RFC 8878, section 3.1.1.3, wants 2 bytes; zstandard takes 0 when it streams", refusable=True
    ),
    # --- iggy: rulebook iggy.md, sections 9 to 11 ---
    # --- heka: rulebook heka.md, sections 2.4, 3 and 4 ---
    # Warnings of the strict column: every reader answers, so a refusal is allowed only where one refuses.
    "varint-nonminimal": RemarkClass("heka.md section 4, M12, M13", refusable=False),
    "int32-five-byte-negative": RemarkClass("heka.md section 4, M15, M19", refusable=False),
    "severity-range": RemarkClass("heka.md section 4, M14 to M16", refusable=False),
    "timestamp-negative": RemarkClass("heka.md section 4, M09", refusable=False),
    "bad-utf8": RemarkClass(
        "heka.md section 4, M36 to M38, M85, M86: kept, replaced or refused",
        refusable=True,
        others=("replaced",),
    ),
    "duplicate-scalar": RemarkClass("heka.md section 4, M32 to M35, M88: the last counts", refusable=False),
    "field-no-value": RemarkClass("heka.md section 4, M51, M66", refusable=False),
    "field-empty-name": RemarkClass("heka.md section 4, M52", refusable=False),
    "packed-empty": RemarkClass("heka.md section 4, M66: Lua's reader refuses it", refusable=True),
    "bool-not-01": RemarkClass("heka.md section 4, M75, M77", refusable=False),
    "header-order": RemarkClass("heka.md section 2.4, S19: the C reader refuses it", refusable=True),
    "header-unknown-field": RemarkClass("heka.md section 2.4, S30", refusable=False),
    "legacy-encoding": RemarkClass("heka.md sections 1 and 2.4, S20", refusable=False),
    "legacy-encoding-json": RemarkClass(
        "heka.md section 1, W11: it meant JSON until 2013-09-18; every reader ignores it now", refusable=True
    ),
}

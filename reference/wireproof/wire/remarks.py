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
    "varint-nonminimal": RemarkClass("heka.md section 4, M12, M13", refusable=False),
}

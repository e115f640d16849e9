"""The closed list of reject classes: the reasons for which a codec may reject bytes or a value.

Adapters use these names too (adapter-contract.md). The name that a specification gives to a condition
is the `detail` of a rejection, next to its class.
"""

from typing import Final, Literal, get_args

RejectClass = Literal[
    "truncated",
    "length-past-end",
    "bad-length",
    "negative-length",
    "length-mismatch",
    "trailing-data",
    "count-mismatch",
    "bad-magic",
    "bad-separator",
    "crc-mismatch",
    "auth-failed",
    "bad-varint",
    "unknown-codec",
    "decompress-failed",
    "limit-exceeded",
    "null-not-allowed",
    "missing-field",
    "duplicate-field",
    "unknown-field",
    "bad-nesting",
    "bad-offset",
    "bad-control",
    "bad-kind",
    "type-mismatch",
    "bad-utf8",
    "reserved-nonzero",
    "bad-json",
    "not-permitted",
    "invalid-value",
    "other",
]

REJECT_CLASSES: Final[tuple[RejectClass, ...]] = get_args(RejectClass)
"""Every reject class, in the order above."""

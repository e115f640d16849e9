"""The closed list of classes that a refusal may bear: design, section 3, "Classes".

One row a class. The rule books' own names travel beside a refusal as its `detail`; `DETAILS` maps
each of them to its class, so that a codec names the rule book's word and the class follows.
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

CLASSES: Final[tuple[RejectClass, ...]] = get_args(RejectClass)
"""Every class, in the order of the design."""

"""The remark classes of Heka: heka.md, sections 2.4, 3 and 4.

They are the warnings of the strict column: a rejection is allowed only where at least one reader rejects.
"""

from typing import Final

from wireproof.wire.remark_classes import RemarkClass

HEKA_REMARKS: Final[dict[str, RemarkClass]] = {
    "int32-five-byte-negative": RemarkClass(
        "heka.md section 4, M15, M19", "a negative number is cut to 32 bits", rejectable=False
    ),
    "severity-range": RemarkClass(
        "heka.md section 4, M14 to M16", "a severity outside 0 to 7", rejectable=False
    ),
    "timestamp-negative": RemarkClass("heka.md section 4, M09", "a timestamp is below 0", rejectable=False),
    "bad-utf8": RemarkClass(
        "heka.md section 4, M36 to M38, M85, M86: kept, replaced or rejected",
        "a string is not UTF-8",
        others=("replaced",),
    ),
    "duplicate-scalar": RemarkClass(
        "heka.md section 4, M32 to M35, M88: the last counts",
        "a field occurs twice, the last one counts",
        rejectable=False,
    ),
    "field-no-value": RemarkClass("heka.md section 4, M51, M66", "a field has no value", rejectable=False),
    "field-empty-name": RemarkClass("heka.md section 4, M52", "a field has an empty name", rejectable=False),
    "packed-empty": RemarkClass(
        "heka.md section 4, M66: Lua's reader rejects it", "a packed list without values"
    ),
    "bool-not-01": RemarkClass(
        "heka.md section 4, M75, M77", "a boolean is neither 0 nor 1", rejectable=False
    ),
    "header-order": RemarkClass(
        "heka.md section 2.4, S19: the C reader rejects it", "the fields of a header are in another order"
    ),
    "header-unknown-field": RemarkClass(
        "heka.md section 2.4, S30", "a header has a field without a meaning", rejectable=False
    ),
    "header-unknown-function": RemarkClass(
        "heka.md section 3, A14: an unknown field, the number itself, or cut to 32 bits",
        "a header names a hash function that Heka does not have",
        rejectable=False,
        others=("number", "cut"),
    ),
    "legacy-encoding": RemarkClass(
        "heka.md sections 1 and 2.4, S20",
        "the header names an encoding, which old Heka wrote",
        rejectable=False,
    ),
    "legacy-encoding-json": RemarkClass(
        "heka.md sections 1 and 8, W11: it meant JSON until 2013-09-18; all readers now ignore it",
        "the header names JSON, which old Heka wrote",
    ),
}

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
    # --- iggy: rulebook iggy.md, sections 9 to 11 ---
    # --- heka: rulebook heka.md, sections 2.4, 3 and 4 ---
    "varint-nonminimal": RemarkClass("heka.md section 4, M12, M13", refusable=False),
}

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
    "iggy-duplicate-header": RemarkClass("iggy.md §10.1", refusable=True, others=("first-wins", "last-wins")),
    "iggy-header-size": RemarkClass("iggy.md §10.3, int32_3bytes", refusable=True),
    "iggy-header-bool": RemarkClass("iggy.md §10.3, bool_is_2", refusable=True),
    "iggy-header-utf8": RemarkClass("iggy.md §0 and §2.3, kind string", refusable=True),
    "iggy-message-count": RemarkClass("iggy.md §3.3, R9", refusable=True),
    "iggy-message-order": RemarkClass("iggy.md §3.3, §5", refusable=False, others=("sorted-by-offset",)),
    "iggy-empty-payload": RemarkClass("iggy.md §3.3, R10", refusable=True),
    "iggy-payload-checksum": RemarkClass("iggy.md §3.3, checksum", refusable=True),
    "iggy-balanced-value": RemarkClass("iggy.md §2.2, Partitioning", refusable=True),
    "iggy-bare-balanced": RemarkClass("iggy.md §2.2, Partitioning", refusable=True),
    "iggy-lowered-limit": RemarkClass("iggy.md §9, 0.0.30 and 0.0.116", refusable=True),
    "iggy-json-unknown-field": RemarkClass("iggy.md §8", refusable=True),
    "iggy-base64-bits": RemarkClass("RFC 4648 §3.5", refusable=True),
    # --- heka: rulebook heka.md, sections 2.4, 3 and 4 ---
}

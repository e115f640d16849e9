"""Make cases of the items of a log, and verdicts of the reference.

They are judged like golden cases: an entry becomes a case whose expectation is the reference's answer, the
engine asks the adapters in processes of their own, first for digests only, and the judge decides. If a frame
kills, hangs or fattens an adapter, only the verdict of that frame is lost.
"""

from typing import Final

from attrs import evolve, frozen

from wireproof.cases.case import ORIGIN_CORPUS, Accept, Case, Data, Reject, Source
from wireproof.cases.examples import capabilities_of_case
from wireproof.cases.reference_answers import reference_expectation
from wireproof.formats import Format
from wireproof.runner.signature import Signature
from wireproof.spark.split_points import StreamFraming
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item

REFERENCE: Final = "reference"


@frozen
class ItemCase:
    """An item, and the case in which adapters are asked about it.

    Attributes:
        item, data: the item and its bytes.
        case: None if the bytes are not an entry.
    """

    item: Item
    data: bytes
    case: Case | None


@frozen
class ItemVerdict:
    """The verdict on one implementation for an item.

    Attributes:
        adapter: its name.
        verdict: the judge's label, or `frame`, `garbage` or `tail` for the reference.
        cls: the class that the verdict is about.
        cluster: equal for implementations that read the same from the bytes: `accepted` if it is what the
            reference reads, `refused`, or the beginning of the digest of the value; empty without an answer.
        signature: the group of the verdict.
        finding: whether it needs a sample.
    """

    adapter: str
    verdict: str
    cls: str
    cluster: str
    signature: Signature
    finding: bool


# --- items as cases ---


def make_item_case(framing: StreamFraming, item: Item, data: bytes, options: Options) -> ItemCase:
    """Make a case of an item."""
    if item.kind == "tail":
        return ItemCase(item, data, None)
    if framing.item_case is not None:
        return framing.item_case(item, data, options)
    return ItemCase(item, data, case_of_bytes(framing.fmt, data, None, options))


def case_of_bytes(fmt: Format, data: bytes, expect: Accept | Reject | None, options: Options) -> Case:
    """Make a case; without an expectation, the reference decides."""
    bare = Case(
        f"{fmt.format_id}/scan/entry",
        fmt.name,
        fmt.revision,
        Data(data),
        expect or Accept(),
        options=options,
        source=Source(ORIGIN_CORPUS),
    )
    return (
        bare
        if expect is not None
        else evolve(bare, expect=reference_expectation(bare), needs=capabilities_of_case(bare))
    )


# --- verdicts ---


def reference_verdict(fmt: str, item: Item) -> ItemVerdict:
    """Return what the reference makes of an item as a verdict; `fmt` is the format of the item."""
    kind, cls = item.kind, item.cls or ""
    cluster = {"frame": "accepted", "garbage": "refused"}.get(kind, "")
    signature = Signature(REFERENCE, fmt, "scan", kind, cls, "")
    return ItemVerdict(REFERENCE, kind, cls, cluster, signature, kind == "garbage")

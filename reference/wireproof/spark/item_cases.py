"""Make cases of the items of a log, and verdicts of the reference.

They are judged like golden cases: an entry becomes a case whose expectation is the reference's answer, the
engine asks the adapters in processes of their own, first for digests only, and the judge decides. If a frame
kills, hangs or fattens an adapter, only the verdict of that frame is lost.
"""

from functools import lru_cache
from typing import Final

from attrs import evolve, frozen

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data, Reject, Source
from wireproof.cases.case_capabilities import capabilities_of_case
from wireproof.cases.reference_answers import reference_expectation
from wireproof.columnar.canonical_digest import EntryDigests
from wireproof.columnar.header_columns import CODECS
from wireproof.heka.frame import FRAME_OVERHEAD, RECORD_SEPARATOR
from wireproof.kafka.family.capabilities import ATTRIBUTE_CAPABILITIES
from wireproof.runner.signature import Signature
from wireproof.spark.split_points import HEKA, KAFKA, StreamFraming
from wireproof.wire.json_values import Json, json_of
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.scan_items import Item

REFERENCE: Final = "reference"


@frozen
class ItemCase:
    """An item, and the case in which adapters are asked about it.

    Attributes:
        item, data: the item and its bytes.
        case: None if the bytes are not an entry.
        digests: the expected digest for each adapter, if `case` has no expected value; else empty.
    """

    item: Item
    data: bytes
    case: Case | None
    digests: tuple[str, ...] = ()

    @property
    def full_case(self) -> Case:
        """Return the case with the expected value."""
        assert self.case is not None, "only items with a case are asked"
        if not self.digests:
            return self.case
        return evolve(self.case, expect=reference_expectation(self.case))


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
    if isinstance(item.value, EntryDigests):
        return _case_by_digest(item, item.value, data, options)
    case = None if item.kind == "tail" else _CASES[framing.fmt.name](framing, item, data, options)
    return ItemCase(item, data, case)


def _case_by_digest(item: Item, value: EntryDigests, data: bytes, options: Options) -> ItemCase:
    needs = _needs(data[16], _attributes(data), headers=value.headers)
    case = evolve(
        common_case(data[16], needs), input=Data(data), expect=Accept(None, len(data)), options=options
    )
    return ItemCase(item, data, case, value.digests)


@lru_cache(maxsize=1024)
def common_case(magic: int, needs: tuple[str, ...] = ()) -> Case:
    """Return the common part of the cases of entries with these needs."""
    return evolve(_case("kafka.batch", f"v{magic}", b"", Accept(), DEFAULT_OPTIONS), needs=needs)


def _kafka(_: StreamFraming, item: Item, data: bytes, options: Options) -> Case | None:
    """Make a case of a whole entry, by its magic; other bytes are no case."""
    size = int.from_bytes(data[8:12], "big", signed=True) + 12
    if len(data) < 17 or data[16] > 2 or size != len(data):
        return None
    if item.kind == "frame" and isinstance(item.value, dict):
        # the JSON of the kernels has no derived fields
        return _case("kafka.batch", f"v{data[16]}", data, None, options)
    expect: Accept | Reject = Reject(item.cls or "other")
    value = json_of(item.value, with_derived=True)
    if item.kind == "frame":
        classes = tuple(dict.fromkeys(remark.cls for remark in item.remarks))
        expect = Accept(value, len(data), classes)
    case = _case("kafka.batch", f"v{data[16]}", data, expect, options)
    return evolve(case, needs=_needs(data[16], _attributes(data), headers=_has_headers(value)))


def _has_headers(value: Json) -> bool:
    records = value.get("records") if isinstance(value, dict) else None
    return isinstance(records, list) and any(
        isinstance(record, dict) and record["headers"] for record in records
    )


def _attributes(data: bytes) -> int:
    return int.from_bytes(data[21:23]) if data[16] == 2 else data[17]


@lru_cache(maxsize=1024)
def _needs(magic: int, attributes: int, *, headers: bool) -> tuple[str, ...]:
    """Return the same as `needs.needs_of`, from attributes and value: kafka.md §1.2, §2.1."""
    needs = {f"codec:{CODECS[attributes & 7]}"}
    needs |= {atom for bit, atom in ATTRIBUTE_CAPABILITIES if magic == 2 and attributes & bit}
    if magic < 2 and attributes & 7:
        needs.add("feature:wrapper")
    if headers:
        needs.add("feature:headers")
    return tuple(atom for atom in formats.get("kafka.batch", f"v{magic}").capabilities if atom in needs)


def _heka(_: StreamFraming, item: Item, data: bytes, options: Options) -> Case | None:
    """Make a case of the message of a whole frame, because peers read messages and not frames."""
    if len(data) < 2 or data[0] != RECORD_SEPARATOR or len(data) <= FRAME_OVERHEAD + data[1]:
        return None
    if item.kind == "garbage" and item.cls in {"bad-separator", "truncated", None}:
        return None
    message = data[FRAME_OVERHEAD + data[1] :]
    return _case("heka.message", "0.10", message, None, options)


def _iggy(framing: StreamFraming, _: Item, data: bytes, options: Options) -> Case:
    return _case(framing.fmt.name, framing.fmt.revision, data, None, options)


_CASES: Final = {KAFKA.fmt.name: _kafka, HEKA.fmt.name: _heka, "iggy.log": _iggy}


def _case(name: str, revision: str, data: bytes, expect: Accept | Reject | None, options: Options) -> Case:
    """Make a case; without an expectation, the reference decides."""
    bare = Case(
        f"{name}/{revision}/scan/entry",
        name,
        revision,
        Data(data),
        expect or Accept(),
        options=options,
        source=Source("corpus"),
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

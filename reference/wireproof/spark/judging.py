"""The items of a log judged: what the reference says of each, and what every adapter does with it.

One road with golden cases: an entry becomes a case whose expectation is the reference's answer, the engine
asks the adapters in processes of their own, digests first, and the judge rules. A frame that kills, hangs or
fattens an adapter costs that frame one verdict.
"""

from functools import lru_cache
from typing import Final

from attrs import evolve, frozen

from wireproof import formats
from wireproof.adapters.objects import json_of
from wireproof.cases.case import Accept, Case, Data, Reject, Source
from wireproof.cases.needs import FLAGS, needs_of
from wireproof.columnar.heads import CODECS
from wireproof.columnar.spelling import Spelt, tree
from wireproof.heka.frame import AROUND, RECORD_SEPARATOR
from wireproof.spark.framing import HEKA, KAFKA, Framing
from wireproof.trial.reference import expectation
from wireproof.trial.signature import Signature
from wireproof.wire.items import Item
from wireproof.wire.options import DEFAULT, Options
from wireproof.wire.values import Json

REFERENCE: Final = "reference"


@frozen
class Seen:
    """An item and its bytes.

    Attributes:
        item, data: both.
        case: what adapters are asked; None where the bytes are no entry.
        digests: of what each adapter must understand, where that alone is known and `case` does not say.
    """

    item: Item
    data: bytes
    case: Case | None
    digests: tuple[str, ...] = ()

    @property
    def told(self) -> Case:
        """The case with all that is expected."""
        assert self.case is not None, "it is asked"
        if not self.digests:
            return self.case
        return evolve(self.case, expect=Accept(tree(self.data, self.case.options), len(self.data)))


@frozen
class Judged:
    """What one implementation makes of an item.

    Attributes:
        adapter: its name.
        verdict: the judge's label, or of the reference `frame`, `garbage` or `tail`.
        cls: the class that the verdict is about.
        cluster: implementations of one cluster understand the bytes alike: `accepted` as the reference
            does, `refused`, else the beginning of the digest of what was understood; empty without an answer.
        signature: how it is grouped.
        finding: whether it is worth a sample.
    """

    adapter: str
    verdict: str
    cls: str
    cluster: str
    signature: Signature
    finding: bool


# --- items as cases ---


def seen(framing: Framing, item: Item, data: bytes, options: Options) -> Seen:
    """The item as adapters are asked about it."""
    if isinstance(item.value, Spelt):
        return _spelt(item, item.value, data, options)
    case = None if item.kind == "tail" else _CASES[framing.row.name](framing, item, data, options)
    return Seen(item, data, case)


def _spelt(item: Item, value: Spelt, data: bytes, options: Options) -> Seen:
    needs = _needs(data[16], _attributes(data), headers=value.headers)
    case = evolve(sort_of(data[16], needs), input=Data(data), expect=Accept(None, len(data)), options=options)
    return Seen(item, data, case, value.digests)


@lru_cache(maxsize=1024)
def sort_of(magic: int, needs: tuple[str, ...] = ()) -> Case:
    """What the cases of entries that need the same have in common."""
    return evolve(_case("kafka.batch", f"v{magic}", b"", Accept(), DEFAULT), needs=needs)


def _kafka(_: Framing, item: Item, data: bytes, options: Options) -> Case | None:
    """A whole entry is asked as one of its magic; bytes that are none are no question."""
    size = int.from_bytes(data[8:12], "big", signed=True) + 12
    if len(data) < 17 or data[16] > 2 or size != len(data):
        return None
    expect: Accept | Reject = Reject(item.cls or "other")
    value = json_of(item.value)
    if item.kind == "frame":
        classes = tuple(dict.fromkeys(remark.cls for remark in item.remarks))
        expect = Accept(value, len(data), classes)
    case = _case("kafka.batch", f"v{data[16]}", data, expect, options)
    return evolve(case, needs=_needs(data[16], _attributes(data), headers=_with_headers(value)))


def _with_headers(value: Json) -> bool:
    records = value.get("records") if isinstance(value, dict) else None
    return isinstance(records, list) and any(isinstance(one, dict) and one["headers"] for one in records)


def _attributes(data: bytes) -> int:
    return int.from_bytes(data[21:23]) if data[16] == 2 else data[17]


@lru_cache(maxsize=1024)
def _needs(magic: int, attributes: int, *, headers: bool) -> tuple[str, ...]:
    """As `needs.needs_of`, from the attributes and the value: kafka.md §1.2, §2.1."""
    found = {f"codec:{CODECS[attributes & 7]}"}
    found |= {atom for bit, atom in FLAGS if magic == 2 and attributes & bit}
    if magic < 2 and attributes & 7:
        found.add("feature:wrapper")
    if headers:
        found.add("feature:headers")
    return tuple(atom for atom in formats.get("kafka.batch", f"v{magic}").atoms if atom in found)


def _heka(_: Framing, item: Item, data: bytes, options: Options) -> Case | None:
    """Peers read messages, not frames: what is asked is the message of a whole frame."""
    if len(data) < 2 or data[0] != RECORD_SEPARATOR or len(data) <= AROUND + data[1]:
        return None
    if item.kind == "garbage" and item.cls in {"bad-separator", "truncated", None}:
        return None
    message = data[AROUND + data[1] :]
    return _case("heka.message", "0.10", message, None, options)


def _iggy(framing: Framing, _: Item, data: bytes, options: Options) -> Case:
    return _case(framing.row.name, framing.row.revision, data, None, options)


_CASES: Final = {KAFKA.row.name: _kafka, HEKA.row.name: _heka, "iggy.log": _iggy}


def _case(name: str, revision: str, data: bytes, expect: Accept | Reject | None, options: Options) -> Case:
    """Without an expectation, that of the reference."""
    bare = Case(
        f"{name}/{revision}/scan/entry",
        name,
        revision,
        Data(data),
        expect or Accept(),
        options=options,
        source=Source("corpus"),
    )
    return bare if expect is not None else evolve(bare, expect=expectation(bare), needs=needs_of(bare))


# --- verdicts ---


def by_reference(row: str, item: Item) -> Judged:
    """What the reference says, as one more implementation; `row` is the format that the item is of."""
    kind, cls = item.kind, item.cls or ""
    cluster = {"frame": "accepted", "garbage": "refused"}.get(kind, "")
    said = Signature(REFERENCE, row, "scan", kind, cls, "")
    return Judged(REFERENCE, kind, cls, cluster, said, kind == "garbage")

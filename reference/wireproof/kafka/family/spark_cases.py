"""Cases of the entries of a Kafka log that is scanned, and the digests by which adapters are asked."""

from functools import lru_cache

from attrs import evolve

from wireproof import formats
from wireproof.adapters.contract import Hello
from wireproof.cases.case import Accept, Case, Data, Reject
from wireproof.formats import FORMATS, Format
from wireproof.kafka.columnar.canonical_digest import CanonicalForm, EntryDigests, EntryView
from wireproof.kafka.columnar.header_columns import CODECS
from wireproof.kafka.family.capabilities import ATTRIBUTE_CAPABILITIES
from wireproof.kafka.layouts import BY_MAGIC
from wireproof.kafka.size_and_magic import MAGIC_AT
from wireproof.runner.claims import observed_fields
from wireproof.runner.requests import prepare_case
from wireproof.spark.item_cases import ItemCase, case_of_bytes
from wireproof.wire.json_values import Json, json_of
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.scan_items import Item


def item_case(item: Item, data: bytes, options: Options) -> ItemCase:
    """Make a case of an item; a clean entry that the fast decoder read is known by digests."""
    if isinstance(item.value, EntryDigests):
        return _case_by_digest(item, item.value, data, options)
    return ItemCase(item, data, _case(item, data, options))


def _case_by_digest(item: Item, value: EntryDigests, data: bytes, options: Options) -> ItemCase:
    needs = _needs(data[16], _attributes(data), headers=value.headers)
    case = evolve(
        common_case(data[16], needs), input=Data(data), expect=Accept(None, len(data)), options=options
    )
    return ItemCase(item, data, case, value.digests)


@lru_cache(maxsize=1024)
def common_case(magic: int, needs: tuple[str, ...] = ()) -> Case:
    """Return the common part of the cases of entries with these needs."""
    return evolve(case_of_bytes(_format(magic), b"", Accept(), DEFAULT_OPTIONS), needs=needs)


def _format(magic: int) -> Format:
    return formats.get("kafka.batch", f"v{magic}")


def _case(item: Item, data: bytes, options: Options) -> Case | None:
    """Make a case of a whole entry, by its magic; other bytes are no case."""
    size = int.from_bytes(data[8:12], "big", signed=True) + 12
    if len(data) < 17 or data[16] > 2 or size != len(data):
        return None
    if item.kind == "frame" and isinstance(item.value, dict):
        # the JSON of the kernels has no derived fields
        return case_of_bytes(_format(data[16]), data, None, options)
    expect: Accept | Reject = Reject(item.cls or "other")
    value = json_of(item.value, with_derived=True)
    if item.kind == "frame":
        classes = tuple(dict.fromkeys(remark.cls for remark in item.remarks))
        expect = Accept(value, len(data), classes)
    case = case_of_bytes(_format(data[16]), data, expect, options)
    return evolve(case, needs=_needs(data[16], _attributes(data), headers=_has_headers(value)))


def _has_headers(value: Json) -> bool:
    records = value.get("records") if isinstance(value, dict) else None
    return isinstance(records, list) and any(
        isinstance(record, dict) and record["headers"] for record in records
    )


def _attributes(data: bytes) -> int:
    at = BY_MAGIC[data[MAGIC_AT]].offset("attributes")
    return int.from_bytes(data[at : at + 2]) if data[MAGIC_AT] == 2 else data[at]


@lru_cache(maxsize=1024)
def _needs(magic: int, attributes: int, *, headers: bool) -> tuple[str, ...]:
    """Return the same as `capabilities_of_case`, from attributes and value: kafka.md §1.2, §2.1."""
    needs = {f"codec:{CODECS[attributes & 7]}"}
    needs |= {atom for bit, atom in ATTRIBUTE_CAPABILITIES if magic == 2 and attributes & bit}
    if magic < 2 and attributes & 7:
        needs.add("feature:wrapper")
    if headers:
        needs.add("feature:headers")
    return tuple(atom for atom in _format(magic).capabilities if atom in needs)


def canonical_form(hello: Hello) -> CanonicalForm:
    """Return the canonical form of Kafka entries as an adapter is asked for it and shows it."""
    views: dict[int, EntryView] = {}
    for magic in range(3):
        case = common_case(magic)
        planned_case, fmt = prepare_case(case, hello), FORMATS[case.format_id]
        if isinstance(planned_case, Case):
            wrapped = fmt.wrapped_by is not None and planned_case.format_id != case.format_id
            entries = fmt.wrapped_by[2] if fmt.wrapped_by and wrapped else ""
            views[magic] = EntryView(observed_fields(hello, planned_case), entries)
    return CanonicalForm.of(views)

"""Cases of the entries of a Kafka log that is scanned."""

from functools import lru_cache

from attrs import evolve

from wireproof import formats
from wireproof.cases.case import Accept, Case, Reject
from wireproof.formats import Format
from wireproof.kafka.columnar.header_columns import CODECS
from wireproof.kafka.family.capabilities import ATTRIBUTE_CAPABILITIES
from wireproof.kafka.layouts import BY_MAGIC
from wireproof.kafka.size_and_magic import MAGIC_AT
from wireproof.spark.item_cases import ItemCase, case_of_bytes
from wireproof.wire.json_values import Json, json_of
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item


def item_case(item: Item, data: bytes, options: Options) -> ItemCase:
    """Make a case of an item."""
    return ItemCase(item, data, _case(item, data, options))


def _format(magic: int) -> Format:
    return formats.get("kafka.batch", f"v{magic}")


def _case(item: Item, data: bytes, options: Options) -> Case | None:
    """Make a case of a whole entry, by its magic; other bytes are no case."""
    size = int.from_bytes(data[8:12], "big", signed=True) + 12
    if len(data) < 17 or data[16] > 2 or size != len(data):
        return None
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

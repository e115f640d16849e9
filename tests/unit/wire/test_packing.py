"""Adjacent fields of fixed width: schema/packing.py."""

import pytest

from wireproof.schema.layout import Count, Layout, Number, Octets
from wireproof.schema.packing import Head, packing

HEAD = Head(
    Layout(
        "Row", (Number("first", "uint8"), Number("lastOne", "int16"), Octets("body"), Number("late", "uint8"))
    )
)


def test_the_fields_before_the_first_one_of_any_size_are_looked_at() -> None:
    assert (HEAD.names, HEAD.size) == (("first", "lastOne"), 3)
    assert HEAD.peek(b"\7\xff\xfe") == (7, -2)
    assert HEAD.peek(b"..\7\xff\xfe..", 2) == (7, -2)
    assert HEAD.fields(b"\7\xff\xfe") == {"first": 7, "last_one": -2}
    assert HEAD.select("lastOne", "first")((7, -2)) == (-2, 7)


def test_fields_of_two_byte_orders_or_without_a_size_are_not_packed() -> None:
    with pytest.raises(ValueError, match="byte orders"):
        packing((Number("a", "uint32"), Number("b", "uint32le")))
    with pytest.raises(ValueError, match="no packing"):
        packing((Count("a", "varint", of="rows"),))
    with pytest.raises(ValueError, match="no fixed size"):
        packing((Octets("body"),))

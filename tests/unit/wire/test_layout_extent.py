"""The size of a value, from its lengths: schema/layout.py."""

from struct import pack

from each import each

from wireproof.schema.layout import REST, WHOLE, Layout, Length, Number, Octets, Part, Repeated, Zero
from wireproof.schema.stream import Extent

ELEMENT = Layout("Element", (Number("id", "uint8"),))


def extent(*parts: Part) -> Extent:
    return Extent(Layout("Value", parts))


def test_lengths_may_come_before_other_lengths_or_between_their_parts() -> None:
    first, second = Length("a_len", "uint32le", of="a"), Length("b_len", "uint16le", of="b")
    apart = extent(Number("id", "uint64le"), first, Octets("a"), second, Octets("b"), Number("end", "uint8"))
    assert apart.at(bytes(8) + pack("<I", 3) + b"abc" + pack("<H", 2) + b"xy!") == (20, True)
    together = extent(first, second, Octets("b"), Octets("a"))
    assert together.at(b"?" + pack("<IH", 3, 2), 1) == (11, True)


def test_a_length_of_the_rest_counts_from_its_end_and_one_of_the_whole_from_the_beginning() -> None:
    rest = extent(Number("id", "uint8"), Length("length", "uint16le", of=REST), Octets("body"))
    assert rest.at(b"?" + pack("<H", 7)) == (10, True)
    whole = extent(
        Number("id", "uint8"), Length("length", "uint16le", of=WHOLE), Repeated("rows", of=ELEMENT)
    )
    assert whole.at(b"?" + pack("<H", 7)) == (7, True)


def test_a_whole_is_never_smaller_than_its_fields() -> None:
    whole = extent(Length("length", "uint16le", of=WHOLE), Zero("reserved", until=16), Octets("body"))
    assert whole.at(pack("<H", 15)) == (16, True)
    assert whole.at(pack("<H", 17)) == (17, True)


@each("size", range(6))
def test_before_a_length_is_there_only_a_lower_bound_is_known(size: int) -> None:
    apart = extent(
        Length("a_len", "uint16le", of="a"), Octets("a"), Length("b_len", "uint16le", of="b"), Octets("b")
    )
    data = pack("<H", 2) + b"ab" + pack("<H", 9)
    least, known = apart.at(data[:size])
    assert not known
    assert size < least <= len(data)
    assert apart.at(data) == (15, True)


def test_the_size_of_a_part_without_a_length_is_not_known() -> None:
    assert extent(Number("id", "uint32le"), Octets("rest")).at(bytes(9)) == (4, False)

"""A value that is written is read again, with every field."""

from hypothesis import strategies as st
from subjects import each_drawn, nearly, read, valued, without_computed_fields, written

from wireproof import formats
from wireproof.formats import Format
from wireproof.wire.json_values import from_json, to_json
from wireproof.wire.rejection import Rejected


@each_drawn(lambda row: [valued(row)])
def test_a_value_that_is_written_is_read_as_it_was_with_the_computed_fields(
    row: Format, value: object
) -> None:
    data = written(row, value)
    seen = formats.decode(row, data)
    assert (seen.value, seen.consumed) == (value, len(data))


@each_drawn(lambda row: [valued(row)])
def test_the_json_form_is_the_same_value_and_the_same_bytes(row: Format, value: object) -> None:
    tree = to_json(value)
    assert from_json(row.value, tree) == value
    assert formats.encode(row, tree) == written(row, value)


@each_drawn(lambda row: [st.one_of(nearly(row), valued(row).map(lambda value: written(row, value)))])
def test_what_is_accepted_is_stable_once_it_is_written_again(row: Format, data: bytes) -> None:
    """A writer may refuse a value that was accepted with a remark only; any other value is written again."""
    first = read(row, data)
    if isinstance(first, Rejected):
        return
    try:
        again = written(row, first.value)
    except Rejected as rejected:
        if rejected.cls != "invalid-value" or not first.remarks:
            raise
        return
    value = formats.decode(row, again).value
    assert without_computed_fields(value) == without_computed_fields(first.value)

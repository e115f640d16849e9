"""A value that is written is read again, with every field."""

from hypothesis import given
from hypothesis import strategies as st
from subjects import each, nearly, read, valued, without_computed_fields, written

from wireproof import formats
from wireproof.formats import Format
from wireproof.wire.json_values import from_json, to_json
from wireproof.wire.rejection import Rejected


@each()
def test_a_value_that_is_written_is_read_as_it_was_without_computed_fields(row: Format) -> None:
    @given(valued(row))
    def holds(value: object) -> None:
        data = written(row, value)
        seen = formats.decode(row, data)
        assert without_computed_fields(seen.value) == without_computed_fields(value)
        assert seen.consumed == len(data)

    holds()


@each()
def test_strategies_know_what_a_decode_computes(row: Format) -> None:
    @given(valued(row))
    def holds(value: object) -> None:
        assert formats.decode(row, written(row, value)).value == value

    holds()


@each()
def test_the_json_form_is_the_same_value_and_the_same_bytes(row: Format) -> None:
    @given(valued(row))
    def holds(value: object) -> None:
        tree = to_json(value)
        assert from_json(row.value, tree) == value
        assert formats.encode(row, tree) == written(row, value)

    holds()


def rewritten(row: Format, value: object) -> bytes | Rejected:
    try:
        return written(row, value)
    except Rejected as rejected:
        return rejected


@each()
def test_what_is_accepted_is_stable_once_it_is_written_again(row: Format) -> None:
    """A writer may refuse a value that was accepted with a remark only; any other value is written again."""

    @given(st.one_of(nearly(row), valued(row).map(lambda value: written(row, value))))
    def holds(data: bytes) -> None:
        first = read(row, data)
        if isinstance(first, Rejected):
            return
        again = rewritten(row, first.value)
        if isinstance(again, Rejected):
            assert again.cls == "invalid-value"
            assert first.remarks
        else:
            assert without_computed_fields(formats.decode(row, again).value) == without_computed_fields(
                first.value
            )

    holds()

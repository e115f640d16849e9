"""The strategies reach every deep state of every format: each is found, not hoped for in a sample."""

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from subjects import each, nearly, valued, written

from wireproof import formats
from wireproof.cases.states import State, states_of
from wireproof.formats import Format, Layout

pytestmark = pytest.mark.slow

MOST = 3000
"""Examples for all the states of a row together; most need a tenth of them."""

SEARCH = settings(
    max_examples=MOST,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def search(row: Format, wanted: tuple[State, ...]) -> dict[str, bytes]:
    """An example of each state that `MOST` examples show, by its name."""
    found: dict[str, bytes] = {}

    def done(data: bytes) -> bool:
        seen = seen_in(row, data)
        found.update((state.name, data) for state in wanted if state.name not in found and state.holds(seen))
        return len(found) == len(wanted)

    whole = valued(row).map(lambda value: written(row, value))
    with suppress(NoSuchExample):  # the caller says what is missing
        find(st.one_of(whole, nearly(row), nearly(row)), done, settings=SEARCH)
    return found


def seen_in(row: Format, data: bytes) -> Layout:
    return formats.layout(row, data)


@each()
def test_the_strategies_find_every_state_of_a_row(row: Format) -> None:
    wanted = states_of(row)
    found = search(row, wanted)
    assert sorted({state.name for state in wanted} - found.keys()) == []
    assert all(state.holds(seen_in(row, found[state.name])) for state in wanted)


@each()
def test_every_row_has_ten_deep_states_or_more(row: Format) -> None:
    assert len({state.name for state in states_of(row)}) >= 10

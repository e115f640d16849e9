"""The strategies reach every deep state of every format: each is found, not hoped for in a sample."""

from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from subjects import each, nearly, valued, written

from tests.coverage_goals import State, states_of
from wireproof import formats
from wireproof.formats import FORMATS, Format, TracedDecode

MOST = 6000
"""Examples for all the states of a row together; most need a tenth of them."""

SEED = 1

BUFFER = 8192
"""Bytes for one example: more than any draws."""

SEARCH = settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))


def search(row: Format, wanted: tuple[State, ...]) -> dict[str, bytes]:
    """An example of each state that `MOST` examples show, by its name; the same ones every time.

    What is drawn comes from seeded bytes: examples that do not depend on one another, at half the price
    of those of a search that remembers what it has drawn.
    """
    found: dict[str, bytes] = {}
    whole = valued(row).map(lambda value: written(row, value))

    @SEARCH
    @given(st.one_of(whole, nearly(row), nearly(row)))
    def look(data: bytes) -> None:
        seen = seen_in(row, data)
        for state in wanted:
            if state.name not in found and state.holds(seen):
                found[state.name] = data

    rng = Random(SEED)
    for _ in range(MOST):
        look.hypothesis.fuzz_one_input(rng.randbytes(BUFFER))  # type: ignore[attr-defined] # what `given` adds
        if len(found) == len(wanted):
            break
    return found


def seen_in(row: Format, data: bytes) -> TracedDecode:
    return formats.decode_with_trace(row, data)


@each(swept="revisions", others="sweeps")
def test_the_strategies_find_every_state_of_a_row(row: Format) -> None:
    wanted = states_of(row)
    found = search(row, wanted)
    assert sorted({state.name for state in wanted} - found.keys()) == []
    assert all(state.holds(seen_in(row, found[state.name])) for state in wanted)


def test_every_row_has_ten_deep_states_or_more() -> None:
    counts = {row.format_id: len({state.name for state in states_of(row)}) for row in FORMATS.values()}
    assert [name for name, count in counts.items() if count < 10] == []

"""The strategies reach the deep states: each is found, not hoped for in a sample."""

import pytest
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st

from wireproof import formats
from wireproof.cases.mutate.least import written
from wireproof.cases.states import State, states_of
from wireproof.formats import FORMATS, Format
from wireproof.strategies import nearly_valid, values

pytestmark = pytest.mark.slow

BEYOND = {
    "kafka.batch/v2": {
        "a field past its record, compressed",
        "control record without its key",
        "more records than counted",
        "negative count",
        "null header key",
        "offset overflow",
        "record length disagrees",
        "record length inside a compressed region",
    },
    "heka.message/0.10": {"scalar twice", "uuid missing"},
}
"""What one damaged field of the wire does not reach, or seldom: two edits, packed bytes, elements.

The mutators reach them: tests/benchmarks/test_states_in_time.py.
"""

FOUND = settings(
    max_examples=3000,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def _within_reach() -> list[tuple[Format, State]]:
    rows = [FORMATS[joined] for joined in BEYOND]
    return [(row, state) for row in rows for state in states_of(row) if state.name not in BEYOND[row.joined]]


@pytest.mark.parametrize(
    ("row", "state"), _within_reach(), ids=lambda part: getattr(part, "joined", part.name)
)
def test_a_strategy_reaches_the_state(row: Format, state: State) -> None:
    whole = values(row.name, row.revision).map(lambda value: written(row, value))
    data = find(
        st.one_of(whole, nearly_valid(row.name, row.revision)),
        lambda made: state.holds(formats.layout(row, made)),
        settings=FOUND,
    )
    assert state.holds(formats.layout(row, data))

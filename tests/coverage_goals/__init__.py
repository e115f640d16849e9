"""The deep states of each format, which a generator of inputs should reach; they measure the generators.

The list was written from the specifications before any generator was tuned to it. A generator that does not
reach a state does not test what lies behind it.
"""

from typing import Final

from tests.coverage_goals import heka, iggy, kafka
from tests.coverage_goals.state import State
from wireproof.formats import Format, TracedDecode

STATES: Final[dict[str, tuple[State, ...]]] = {
    **kafka.STATES,
    **iggy.STATES,
    **heka.STATES,
}
"""The states by the format id of a row, or by the name of the format for its other revisions."""


def states_of(row: Format) -> tuple[State, ...]:
    """Return the states of a row of the format table; empty if its format lists none."""
    return STATES.get(row.format_id, STATES.get(row.name, ()))


def reached(states: tuple[State, ...], seen: TracedDecode) -> list[State]:
    return [state for state in states if state.holds(seen)]


__all__ = ["STATES", "State", "reached", "states_of"]

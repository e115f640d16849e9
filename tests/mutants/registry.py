"""The mutants by name, and the adapter specs by which a verb runs them.

To a verb a mutant is a Python object like any other: `py:tests.mutants.kafka:MUTANTS[crc-skip]`. The top
folder of the checkout must be on the search path.
"""

import difflib
import inspect
from typing import Final

from tests.mutants import (
    common,
    heka,
    heka_stream,
    heldout1_heka,
    heldout1_iggy,
    heldout1_kafka,
    heldout2_heka,
    heldout2_iggy,
    heldout2_kafka,
    history_heka,
    history_iggy,
    history_kafka,
    history_rest_kafka,
    history_rest_kafka_compression,
    history_rest_kafka_encode,
    iggy,
    kafka,
    tracker_heka,
    tracker_iggy,
    tracker_kafka,
    tracker_kafka_logs,
    tracker_kafka_messages,
)
from wireproof.adapters.errors import UnknownAdapter

PREFIX: Final = "mutant:"

_MODULES: Final = (
    common,
    heka,
    heka_stream,
    heldout1_heka,
    heldout1_iggy,
    heldout1_kafka,
    heldout2_heka,
    heldout2_iggy,
    heldout2_kafka,
    history_heka,
    history_iggy,
    history_kafka,
    history_rest_kafka,
    history_rest_kafka_compression,
    history_rest_kafka_encode,
    iggy,
    kafka,
    tracker_heka,
    tracker_iggy,
    tracker_kafka,
    tracker_kafka_logs,
    tracker_kafka_messages,
)

_BY_NAME: Final = {
    f"{PREFIX}{name}": (f"py:{module.__name__}:MUTANTS[{name}]", mutant)
    for module in _MODULES
    for name, mutant in module.MUTANTS.items()
}
"""Spec and class of each mutant."""


def mutants() -> list[str]:
    """Return the name of every mutant, such as `mutant:crc-skip`."""
    return list(_BY_NAME)


def spec_of(name: str) -> str:
    """Return the adapter spec of a mutant; the spec of another adapter is returned unchanged.

    Raises:
        UnknownAdapter: there is no such mutant.
    """
    if not name.startswith(PREFIX):
        return name
    if name not in _BY_NAME:
        near = difflib.get_close_matches(name, _BY_NAME, n=3, cutoff=0.4)
        raise UnknownAdapter(f"unknown adapter {name}; nearest: {', '.join(near or list(_BY_NAME)[:3])}")
    return _BY_NAME[name][0]


def description_of(name: str) -> str:
    """Return what is wrong with a mutant, in one line; empty for another adapter."""
    found = _BY_NAME.get(name)
    return (inspect.getdoc(found[1]) or "").partition("\n")[0] if found else ""

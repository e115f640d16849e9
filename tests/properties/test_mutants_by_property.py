"""The properties can fail: a codec with a planted fault is caught by a round trip, or by its prefixes."""

import pytest
from attrs import evolve
from hypothesis import Phase, find, settings
from hypothesis.errors import NoSuchExample
from subjects import FORMATS, valued, written

from tests.independent.derived_fields import bare
from tests.mutants.registry import MUTANTS
from wireproof.adapters.contract import Request
from wireproof.adapters.reference import Reference
from wireproof.cases.outcome import Accepted, Refused
from wireproof.formats import Format
from wireproof.wire.json_values import to_json

FINDING = settings(phases=[Phase.generate], max_examples=300, derandomize=True, database=None, deadline=None)

ROUND_TRIPS = (
    "null-key-as-empty",
    "headers-reversed",
    "base-offset-ignored",
    "varint-no-zigzag",
    "encode-null-as-empty",
    "encode-headers-dropped",
)
"""Faults of one direction only, which the other way does not undo."""


def round_trips(codec: Reference, row: Format, value: object) -> bool:
    request = Request("1", "encode", row.name, row.revision, value=to_json(value))
    sent = codec.encode(request)
    if not isinstance(sent, Accepted) or sent.data is None:
        return False
    seen = codec.decode(evolve(request, op="decode", data=sent.data))
    return (
        isinstance(seen, Accepted) and bare(seen.value) == to_json(value) and seen.consumed == len(sent.data)
    )


def keeps_prefixes(codec: Reference, row: Format, value: object) -> bool:
    """A prefix of a log is a log: the cut tail is no error."""
    cut = written(row, value)[:-1]
    return not isinstance(codec.decode(Request("1", "decode", row.name, row.revision, cut)), Refused)


@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_a_round_trip_catches_a_planted_fault(name: str) -> None:
    row = FORMATS["kafka.batch/v2"]
    mutant = MUTANTS[name]()
    found = find(valued(row), lambda value: not round_trips(mutant, row, value), settings=FINDING)
    assert round_trips(Reference(), row, found)


def test_a_prefix_catches_a_reader_that_refuses_a_torn_tail() -> None:
    row = FORMATS["kafka.log/mixed"]
    mutant = MUTANTS["partial-tail-raises"]()
    found = find(valued(row), lambda value: not keeps_prefixes(mutant, row, value), settings=FINDING)
    assert keeps_prefixes(Reference(), row, found)


def test_the_reference_is_not_caught() -> None:
    row = FORMATS["kafka.batch/v2"]
    with pytest.raises(NoSuchExample):
        find(valued(row), lambda value: not round_trips(Reference(), row, value), settings=FINDING)

"""A number that does not fit its field is refused by its path, in the binary formats of Kafka and Iggy."""

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

import pytest
from each import each
from goldens import load

from wireproof import formats
from wireproof.cases.case import Case, Value
from wireproof.formats import FORMATS
from wireproof.lint.states import NumberType, is_computed, pattern_of, state_table
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import Rejected

KAFKA = {
    "kafka.batch/v0/encode/key-and-value",
    "kafka.batch/v1/encode/key-and-value",
    "kafka.batch/v2/encode/headers",
}
"""Cases of Kafka with every number; those of others are named for it."""

WRITTEN = [
    case
    for case in load().cases
    if case.op == "encode"
    and (case.id in KAFKA or re.match(r"iggy\.(?!json).*/every-byte-differs-written", case.id))
]
"""The case of each format and revision that has every number."""


@pytest.fixture(scope="module", name="types")
def _types() -> Mapping[tuple[str, str], NumberType]:
    return state_table(load()).types


@each("case", WRITTEN, ids=lambda case: case.id.split("/states")[0])
def test_a_number_that_does_not_fit_is_refused_by_the_path_of_its_field(
    case: Case, types: Mapping[tuple[str, str], NumberType]
) -> None:
    assert isinstance(case.input, Value)
    found = 0
    for path in _texts(case.input.value):
        kind = types.get((case.format_id, pattern_of(_named(path))))
        if kind is None or is_computed(case.format_id, pattern_of(_named(path))):
            continue
        edges = kind.edges().values()
        beside = (min(edges) - 8, max(edges) + 1, 1 << 128)  # with codec 0 in the lowest bits of attributes
        for unfit in (*map(str, beside), "1.5", "", "x", "0x1", "1e3", 7, True, ["1"]):
            with pytest.raises(Rejected) as caught:
                formats.encode(FORMATS[case.format_id], _with(case.input.value, path, unfit))
            assert (caught.value.cls, caught.value.path) == ("invalid-value", _named(path))
            found += 1
    assert found


Path = tuple[str | int, ...]


def _texts(value: Json, path: Path = ()) -> Iterator[Path]:
    match value:
        case dict():
            for key, part in value.items():
                yield from _texts(part, (*path, key))
        case list():
            for index, part in enumerate(value):
                yield from _texts(part, (*path, index))
        case str():
            yield path


def _named(path: Path) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _with(value: Json, path: Path, unfit: Json) -> Any:
    changed: Any = deepcopy(value)
    at = changed
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = unfit
    return changed

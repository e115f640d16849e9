"""Codecs that take one state of a part of a value for another: null for empty, empty for absent, 0 for null.

The parts and the states come from the values of the golden cases. A state that no case has is added where the
reference writes and reads it, so that a case that is missing is seen.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from itertools import permutations
from typing import Final, TypeAlias

from attrs import frozen

from tests.independent.derived_fields import NAMES as DERIVED
from tests.mutants.base import ReferenceCodec
from wireproof import formats
from wireproof.adapters.contract import Claim, Hello, Request
from wireproof.adapters.requests import request_for
from wireproof.cases.case import Accept, Case, Either, Expect, Value
from wireproof.cases.fixtures import Suite
from wireproof.formats import FORMATS
from wireproof.judge.judge import judge
from wireproof.lint.states import is_computed, is_of_another, note_files, read_notes
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.rejection import Rejected

Steps: TypeAlias = tuple[str, ...]
"""The place of a part: keys, `[]` for each element of a list, a number for one place of a list in a list."""

Slot: TypeAlias = tuple[dict[str, Json], str] | tuple[list[Json], int]
"""Where a part stands: an object and its key, or a list and the number of an element."""

ABSENT: Final = "absent"

TOLD: Final[Mapping[str, Json]] = {
    ABSENT: None,
    "null": None,
    "empty": "",
    "none": [],
    "zero": "0",
    "false": False,
}
"""How a value tells a state: an empty text, a list of none, a number of 0."""

TRIES: Final = 4
"""Values in which a state is tried that no case has."""


@frozen
class Confusion:
    """A part of a format of which a codec takes one state for another."""

    format_id: str
    op: str
    steps: Steps
    state: str
    taken_for: str

    def of_value(self, value: Json) -> Json:
        """Return a copy of a value with the other state wherever it has this one."""
        changed = deepcopy(value)
        for slot in list(_slots(changed, self.steps)):
            if _state(slot) == self.state:
                _tell(slot, self.taken_for)
        return changed


class ChangingCodec(ReferenceCodec):
    """The reference with one such fault."""

    def __init__(self, change: Confusion) -> None:
        self.change = change

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        del data
        return self.change.of_value(value) if self._is_about(request, "decode") else value

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        return self.change.of_value(value) if self._is_about(request, "encode") else value

    def _is_about(self, request: Request, op: str) -> bool:
        return self.change.op == op and f"{request.format}/{request.revision}" == self.change.format_id


def confusions(suite: Suite, format_ids: Iterable[str]) -> Iterator[Confusion]:
    """Yield each state of each part of some formats with each other one, to read and to write."""
    notes = read_notes(note_files(suite))
    for format_id in format_ids:
        values = {op: list(_values(suite, format_id, op)) for op in ("decode", "encode")}
        parts = {op: _parts(values[op]) for op in values}
        known = [value for rows in values.values() for value in rows]
        for op, states in parts.items():
            for steps in sorted(states):
                path = "".join(step if step == "[]" else f".{step}" for step in steps).lstrip(".")
                computed = op == "encode" and is_computed(format_id, path)
                if computed or steps[-1] in DERIVED or is_of_another(notes, format_id, path):
                    continue
                likely = _candidates(known, steps)
                seen = states[steps] | {state for state in likely if _occurs(format_id, known, steps, state)}
                for state, taken_for in permutations(sorted(seen | likely), 2):
                    if state in seen:
                        yield Confusion(format_id, op, steps, state, taken_for)


def _values(suite: Suite, format_id: str, op: str) -> Iterator[Json]:
    for case in suite.cases:
        value = value_of(case, op) if case.format_id == format_id else None
        if value is not None:
            yield value


def _parts(values: Iterable[Json]) -> dict[Steps, set[str]]:
    """Return the parts of some values, each with the states that it is in."""
    found: defaultdict[Steps, set[str]] = defaultdict(set)
    keys: defaultdict[Steps, list[frozenset[str]]] = defaultdict(list)
    for value in values:
        for steps, part in _walk(value, (), within=False):
            if isinstance(part, dict):
                keys[steps].append(frozenset(part))
            if steps:
                found[steps] |= {state for state, told in TOLD.items() if state != ABSENT and _is(part, told)}
    for steps, rows in keys.items():
        for key in frozenset[str]().union(*rows) if rows else ():
            if any(key not in row for row in rows):
                found[*steps, key].add(ABSENT)
    return dict(found)


def _walk(value: Json, steps: Steps, *, within: bool) -> Iterator[tuple[Steps, Json]]:
    """Yield each part of a value; `within` says that it is an element of a list."""
    yield steps, value
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _walk(part, (*steps, key), within=False)
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _walk(part, (*steps, str(number) if within else "[]"), within=True)


def _slots(value: Json, steps: Steps) -> Iterator[Slot]:
    """Yield the places of a part in a value, also where an object does not have its key."""
    step, rest = steps[0], steps[1:]
    places: list[Slot] = []
    if isinstance(value, dict):
        places = [(value, step)]
    elif isinstance(value, list):
        numbers = range(len(value)) if step == "[]" else [int(step)] if step.isdecimal() else []
        places = [(value, number) for number in numbers if number < len(value)]
    for holder, place in places:
        if not rest:
            yield holder, place  # type: ignore[misc] # an object and a key, or a list and a number
        elif isinstance(holder, list) or place in holder:
            yield from _slots(holder[place], rest)  # type: ignore[index]


def _state(slot: Slot) -> str:
    holder, place = slot
    if isinstance(holder, dict) and place not in holder:
        return ABSENT
    part = holder[place]  # type: ignore[index]
    return next((state for state, told in TOLD.items() if state != ABSENT and _is(part, told)), "")


def _is(part: Json, told: Json) -> bool:
    return type(part) is type(told) and part == told


def _tell(slot: Slot, state: str) -> None:
    holder, place = slot
    if state != ABSENT:
        holder[place] = deepcopy(TOLD[state])  # type: ignore[index]
    elif isinstance(holder, dict):
        del holder[place]  # type: ignore[arg-type]


def _candidates(values: Iterable[Json], steps: Steps) -> set[str]:
    """Return the states that such parts may be in: null, and what is empty in a text, a list or a truth."""
    found = {"null"}
    for value in values:
        for holder, place in _slots(value, steps):
            match holder.get(place) if isinstance(holder, dict) else holder[place]:  # type: ignore[arg-type,index]
                case bool():
                    found.add("false")
                case str() as text if not re.fullmatch("-?[0-9]+", text):
                    found.add("empty")
                case list():
                    found.add("none")
    return found


def _occurs(format_id: str, values: Iterable[Json], steps: Steps, state: str) -> bool:
    """Return whether the reference writes a value with a part in this state, and reads it back."""
    form, tried = FORMATS[format_id], 0
    for value in values:
        changed = deepcopy(value)
        slots = list(_slots(changed, steps))
        if not slots:
            continue
        tried += 1
        if tried > TRIES:
            return False
        for slot in slots:
            _tell(slot, state)
        try:
            read = to_json(formats.decode(form, formats.encode(form, changed)).value)
        except Rejected:
            continue
        if any(_state(slot) == state for slot in _slots(read, steps)):
            return True
    return False


# --- the cases that kill ---


def value_of(case: Case, op: str) -> Json:
    """Return the value that a case reads or writes; None for a refused case.

    Of a case that may be answered in two ways it is the first value that it accepts.
    """
    answers: list[Expect] = [case.expect]
    if isinstance(case.expect, Either):
        answers = [behaviour.expect for behaviour in case.expect.behaviours]
    accepted = next((answer for answer in answers if isinstance(answer, Accept)), None)
    if case.op != op or accepted is None or case.level == "may":
        return None
    return case.input.value if isinstance(case.input, Value) else accepted.value


def killer(change: Confusion, suite: Suite) -> str:
    """Return the id of the first golden case that fails a codec with this fault; empty if none does."""
    codec = ChangingCodec(change)
    hello = Hello("changed", "", {change.format_id: Claim()})
    for case in suite.cases:
        value = value_of(case, change.op) if case.format_id == change.format_id else None
        if value is None or change.of_value(value) == value:
            continue
        request = request_for(case, case.id)
        outcome = codec.decode(request) if change.op == "decode" else codec.encode(request)
        if not judge(case, outcome, hello=hello).passing:
            return case.id
    return ""

"""The rules of mutations come from the families; a format without any is mutated too."""

from random import Random

import pytest
import toy_format
from attrs import evolve, fields, has

from wireproof.derive.mutate import mutate, repair, seed
from wireproof.derive.mutate.encodings import samples, written
from wireproof.derive.mutate.mutation_rules import MutationRules, all_rules, rules_of
from wireproof.derive.mutate.values_of_type import encoded_fields, part_type
from wireproof.derive.strategies import Wanted, seeded_drawer, values_of
from wireproof.formats import FAMILIES, FORMATS, decode
from wireproof.iggy.suite.mutation import RULES
from wireproof.wire.rejection import Rejected

(TOY, *_) = toy_format.ROWS


def value_classes(kind: type, seen: set[type]) -> set[type]:
    """Return a value class and all classes in it."""
    if kind in seen or not has(kind):
        return seen
    seen.add(kind)
    todo = [part for _, part in encoded_fields(kind)]
    while todo:
        part = todo.pop()
        for hint in (*part.of, *part.others):
            if isinstance(hint, type) and has(hint):
                value_classes(hint, seen)
            elif not isinstance(hint, str):
                todo.append(part_type(hint))
    return seen


def test_every_class_of_iggy_with_headers_has_them_normalised() -> None:
    found: set[type] = set()
    for fmt in FAMILIES["iggy"].formats:
        value_classes(fmt.value, found)
    assert {cls for cls in found if "headers" in {a.name for a in fields(cls)}} <= RULES.normalise.keys()


def test_no_class_has_rules_of_two_families() -> None:
    tables = [{*rules.normalise, *rules.edits, *rules.least, *rules.full()} for rules in all_rules()]
    assert len(set().union(*tables)) == sum(map(len, tables))
    assert len(all_rules()) == len(FAMILIES)


def test_a_format_without_rules_has_values_and_mutations() -> None:
    assert rules_of(TOY) == MutationRules()
    assert decode(TOY, seed(TOY)).consumed == len(seed(TOY))
    assert all(decode(TOY, data).consumed == len(data) for data in samples(TOY))
    rng = Random(1)
    found = [mutate(TOY, seed(TOY), rng, 64, keys={"test_1": b"key"}) for _ in range(200)]
    assert len(set(found)) > 50
    assert any(accepted(data) for data in found)
    assert any(not accepted(data) for data in found)


def accepted(data: bytes) -> bool:
    try:
        decode(TOY, data)
    except Rejected:
        return False
    return True


def test_signatures_are_left_alone_where_the_family_has_none() -> None:
    fmt = evolve(FORMATS["kafka.batch/v2"], name="other.batch")
    data = seed(fmt)
    assert repair(fmt, data, {"test_1": b"key"}) == data


@pytest.mark.parametrize("format_id", ["kafka.batch/v1", "iggy.poll/0.0.60"])
def test_a_strategy_by_type_draws_what_the_classes_allow(format_id: str) -> None:
    """A message may hold messages, and a class may refuse a value; neither stops the strategy."""
    fmt = FORMATS[format_id]
    draw = seeded_drawer(values_of(Wanted(fmt)))
    drawn = [value for number in range(12) for value in draw(str(number))]
    assert len(drawn) > 2
    assert all(written(fmt, value) for value in drawn)

"""The list of frozen cases that nothing needs: what a case alone has keeps it, and of two one goes."""

from collections.abc import Hashable

from goldens import load

from tests.support.unneeded_cases import named_cases, unneeded, what_needs_cases

CASES = load().cases[:4]
FIRST, SECOND, THIRD, FOURTH = (case.id for case in CASES)


def left_out(needs: dict[Hashable, set[str]], kept: set[str]) -> list[str]:
    return [case.id for case in unneeded(CASES, needs, kept)]


def test_of_two_cases_that_test_the_same_one_goes() -> None:
    needs: dict[Hashable, set[str]] = {"rule": {FIRST, SECOND}, "cell": {THIRD}, "mutant": {THIRD, FOURTH}}
    assert left_out(needs, set()) == [FIRST, FOURTH]


def test_a_case_that_is_named_stays() -> None:
    needs: dict[Hashable, set[str]] = {"rule": {FIRST, SECOND, THIRD}, "cell": {FOURTH}}
    assert left_out(needs, {FIRST}) == [SECOND, THIRD]


def test_ids_are_found_in_texts() -> None:
    text = 'id = "kafka.batch/v2/crc/bit-flip~flip:*"; `heka.message/0.10/message/minimal`, kafka.batch/v2'
    assert named_cases([text]) == {"kafka.batch/v2/crc/bit-flip", "heka.message/0.10/message/minimal"}


def test_a_mutant_needs_its_only_killer() -> None:
    needs = what_needs_cases(load(), {FIRST: ["a-mutant"]})
    assert needs["a-mutant"] == {FIRST}
    assert FIRST not in left_out(needs, set())

"""Patterns: commands.md."""

from pathlib import Path

import pytest
from command_line import Command
from each import each
from goldens import load

from wireproof.cases.case import Case, Data, Reject
from wireproof.cases.fixtures import Suite
from wireproof.cases.id_patterns import (
    PatternError,
    compile_pattern,
    most_similar,
    select,
)

NAMES = ("a.b/v1/crc/one", "a.b/v1/crc/two", "a.b/v1/size/one", "a.b/v2/crc/one", "c.d/v1/crc/one")


def suite() -> Suite:
    cases = tuple(Case(name, *name.split("/")[:2], Data(b""), Reject("other")) for name in NAMES)
    return Suite(cases, {}, dict.fromkeys(NAMES, Path()), "")


@each(
    "pattern, numbers",
    [
        ("a.b/v1/crc/one", [0]),
        ("a.b/v1/crc/*", [0, 1]),
        ("a.b/*/crc/one", [0, 3]),
        ("*/v1/crc/*", [0, 1, 4]),
        ("a.*/v1/crc/t*o", [1]),
        ("**", [0, 1, 2, 3, 4]),
        ("a.b/**", [0, 1, 2, 3]),
        ("a.**", [0, 1, 2, 3]),
        ("a.b/v**/one", [0, 2, 3]),
        ("a.b/v1/s**", [2]),
        ("**/one", [0, 2, 3, 4]),
        ("a.b/**/one", [0, 2, 3]),
        ("**/v1/**", [0, 1, 2, 4]),
        ("a.b/v1/crc/one/**", [0]),
    ],
)
def test_one_star_is_one_component_and_two_are_any_number(pattern: str, numbers: list[int]) -> None:
    assert [case.id for case in select(suite(), [pattern])] == [NAMES[number] for number in numbers]


@each("pattern", ["a.b/*", "*", "axb/**", "a.b/v1/crc/on", "a.b/v1/crc/one+", "(", ""])
def test_a_pattern_that_nothing_matches_is_an_error_with_advice(pattern: str) -> None:
    with pytest.raises(
        PatternError, match=r"^no case matches .*: (did you mean|known|run `wireproof cases`)"
    ):
        select(suite(), [pattern])


@pytest.mark.parametrize(
    "words",
    [
        ("check", "reference", "--run", "kafka.batch/v[12]/**"),
        ("check", "reference", "--skip", "kafka.batch/v[12]/**"),
        ("cases", "kafka.batch/v[12]/**"),
        ("show", "kafka.batch/v[12]/**"),
        ("interop", "reference", "reference", "--format", "kafka.batch/v[12]"),
        ("fuzz", "reference", "--format", "kafka.batch/v[12]"),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.usefixtures("fixtures_read_once")
def test_every_command_with_patterns_names_brackets_in_one_line(
    wireproof: Command, words: tuple[str, ...]
) -> None:
    done = wireproof(*words)
    assert done.code == 2
    assert "kafka.batch/v[12]" in done.one_line()
    assert "brackets are not supported in patterns" in done.one_line()


@each(
    "pattern, advice",
    [
        ("kafka.batch/v2/crc/fliped-bit", "did you mean kafka.batch/v2/crc/flipped-bit?"),
        ("kafka.btch/**", "did you mean kafka.batch/**?"),
        ("kafka.batch/*/crcc/**", "did you mean kafka.batch/*/crc/**?"),
        ("kafka.batch/v9/**", "known after kafka.batch/: v0, v1, v2"),
        ("nosuch", "run `wireproof cases` for the list"),
    ],
)
def test_a_suggestion_is_made_only_of_what_is_close(pattern: str, advice: str) -> None:
    with pytest.raises(PatternError) as caught:
        select(load(), [pattern])
    assert str(caught.value) == f"no case matches {pattern}: {advice}"


def test_patterns_that_overlap_are_each_credited_and_give_each_case_once() -> None:
    assert [case.id for case in select(suite(), ["**/one", "a.b/**", NAMES[0]])] == list(NAMES)
    with pytest.raises(PatternError, match=r"no case matches a\.b/v9"):
        select(suite(), ["**", "a.b/v9/**"])


def test_the_order_is_that_of_the_suite_whatever_that_of_the_patterns() -> None:
    assert [case.id for case in select(suite(), [NAMES[4], NAMES[0]])] == [NAMES[0], NAMES[4]]


def test_many_stars_are_one_and_cost_no_more() -> None:
    assert compile_pattern("**/" * 30 + "x") == compile_pattern("**/x")
    assert not compile_pattern("**/x").fullmatch("a/" * 30)


# --- the nearest case, for `explain` ---


def test_a_case_of_the_same_refusal_is_nearer_than_one_of_like_bytes() -> None:
    def made(name: str, data: bytes, cls: str) -> Case:
        return Case(f"a.b/v/t/{name}", "a.b", "v", Data(data), Reject(cls))  # type: ignore[arg-type]

    cases = [made("like", b"abcd", "truncated"), made("same", b"zzzz", "bad-magic")]
    found = most_similar(b"abcd", "a.b/v", "bad-magic", cases)
    assert found is not None
    assert found.id == "a.b/v/t/same"

"""Mutants die by golden cases, the reference does not: architecture.md#strength."""

from collections import defaultdict
from copy import deepcopy

import pytest
from command_line import Command
from each import each
from goldens import load, stored_cases

from tests.fixture_tables.history import known_bugs
from tests.mutants.base import MUTANTS, structures
from tests.mutants.generated import (
    Described,
    described_formats,
    killer,
    with_parts,
    without_rules,
)
from tests.mutants.kill import is_costly, known_survivors, only, verdict_on
from tests.mutants.registry import description_of, mutants
from tests.mutants.state_confusions import Confusion, confusions
from tests.mutants.state_confusions import killer as confusion_killer
from wireproof.cases.case import Generated, Value
from wireproof.formats import FORMATS

BUGS = known_bugs(load())
SURVIVORS = known_survivors(BUGS) | {f"mutant:{name}" for name in MUTANTS if MUTANTS[name].left_open}


def killers(name: str) -> list[str]:
    """Return the cases that are named for a mutant, in its class or with the bug that it repeats."""
    name = name.removeprefix("mutant:")
    of_bugs = (case for bug in BUGS if bug.mutant == name for case in bug.cases)
    return sorted({*MUTANTS[name].killed_by, *of_bugs})


def takes_long(name: str) -> bool:
    """Return whether it needs a process of its own, or its cases are of the large ones."""
    return is_costly(name) or any(isinstance(load().by_id[one].input, Generated) for one in killers(name))


KILLED = [name for name in mutants() if name not in SURVIVORS]
LONG = [name for name in KILLED if takes_long(name)]


def test_every_mutant_has_a_case_and_says_in_a_sentence_what_is_wrong_with_it() -> None:
    assert len(mutants()) > 200
    assert [name for name in KILLED if not killers(name)] == []
    assert [name for name in SURVIVORS if killers(name)] == []
    assert [name for name in mutants() if not description_of(name).endswith(".")] == []


@each("name", sorted({*KILLED} - {*LONG}))
def test_a_mutant_dies_by_each_case_named_for_it_and_leaves_the_reference_as_it_was(name: str) -> None:
    """Its parts stand in the modules of the reference while it answers, and only then."""
    cases = only(load(), killers(name))
    before = [deepcopy(case.input.value) for case in cases.cases if isinstance(case.input, Value)]
    killed = verdict_on(name, cases, in_process=True)
    assert set(killers(name)) <= set(killed.ids)
    assert [case.input.value for case in cases.cases if isinstance(case.input, Value)] == before
    assert verdict_on("reference", cases, in_process=True).passed == len(cases.cases)


@pytest.mark.sweeps
@pytest.mark.parametrize("name", LONG)
def test_a_mutant_of_large_cases_or_that_ends_its_process_dies_by_each_case_named_for_it(name: str) -> None:
    killed = verdict_on(name, only(load(), killers(name)), in_process=not is_costly(name))
    assert set(killers(name)) <= set(killed.ids)


# --- a format without one of its rules, or with a number in another byte order ---


NEGATIVE = "what is too short is refused all the same, by the negative length of its body"
KEPT = "other readers keep what the rule refuses, so its cases are 'may'"
RESERVED = "the producer behind other flags is refused all the same, as reserved bytes"
BOTH = "the case has both versions, and the other one is remarked"

ALIVE = {
    "without heka.message.int32.range: wide": KEPT,
    "without heka.message.unknown: unknown": KEPT,
    "without heka.stream.length.required: no_length": "a header without length is refused like one of 0",
    "without heka.stream.length.zero: zero_length": "a message of no bytes is refused: it has no uuid",
    "without iggy.frame.classic.length: short_length": NEGATIVE,
    "without iggy.frame.vsr.size: short_size": NEGATIVE,
    "without iggy.log.batch.frame: short": NEGATIVE,
    "without iggy.poll.batch.frame: short": NEGATIVE,
    "without iggy.log.producer.refused: odd_flags": RESERVED,
    "without iggy.poll.producer.refused: odd_flags": RESERVED,
    "without iggy.frame.vsr.limit: large_size": "no case has so many bytes: it is refused as cut",
    "without iggy.send.limit.payload: all_payloads": "a case of so many bytes is generated",
    "without kafka.v2.codec: unknown_codec": "it is refused all the same where the records are unpacked",
    "without kafka.v2.magic: other_magic": "a batch alone has the magic of its format; a log needs the rule",
    "without kafka.wrapper.value: no_set": "null and empty are refused all the same, where they are unpacked",
    "without iggy.frame.vsr.reason: unused_newest": BOTH,
    "without iggy.frame.vsr.reason: unused_oldest": BOTH,
}
"""Mutants that no golden case kills, with the reason."""


ALIVE_SWAPPED = {
    "with Wrapper.size swapped": "a look before says the size, and a wrapper is written as a message"
}

LIMITED = "a rule refuses every number that the sign would change"

ALIVE_SIGNS = {
    "with Batch.flags of the other sign": LIMITED,
    "with BatchHeader.flags of the other sign": LIMITED,
    "with DeferredPollMessages.request_timeout_us of the other sign": LIMITED,
    "with DeferredPollMessages.wait_us of the other sign": LIMITED,
    "with EvictionHeader.reason of the other sign": LIMITED,
    "with FetchMessages.request_timeout_us of the other sign": LIMITED,
    "with FetchMessages.wait_us of the other sign": LIMITED,
    "with VsrFrame.command of the other sign": LIMITED,
    "with Wrapper.attributes of the other sign": "the case of an unused highest bit is of a plain message",
}


def alive(mutants: list[Described]) -> set[str]:
    """Return the changes that no golden case notices in any of the formats that have them."""
    known = defaultdict(list)
    for case in stored_cases():
        if case.op in ("decode", "encode", "scan"):
            known[case.format_id].append(case)
    dead = {mutant.name for mutant in mutants if killer(mutant, known[mutant.fmt.format_id])}
    return {mutant.name for mutant in mutants} - dead


def test_a_described_format_without_a_change_conforms() -> None:
    unchanged = list(described_formats())
    assert len(unchanged) >= 18
    assert alive(unchanged) == {one.name for one in unchanged}


def test_no_format_conforms_without_one_of_its_rules() -> None:
    mutants = list(without_rules())
    assert len(mutants) >= 80
    assert alive(mutants) == ALIVE.keys()


@pytest.mark.parametrize(
    ("what", "least", "known"),
    [("swapped", 70, ALIVE_SWAPPED), ("of the other sign", 70, ALIVE_SIGNS), ("in zigzag", 8, {})],
)
def test_no_format_conforms_with_a_number_read_in_another_way(
    what: str, least: int, known: dict[str, str]
) -> None:
    mutants = list(with_parts(what))
    assert len(mutants) >= least
    assert alive(mutants) == known.keys()


def test_each_rule_of_a_structure_is_a_rule_of_the_fixtures() -> None:
    known = load().rules
    layouts = {one for described in described_formats() for one in structures(described.layout)}
    named = {rule.id for layout in layouts for rule in layout.rules} | {layout.whole for layout in layouts}
    assert named - {""} <= known.keys()


# --- one state of a part for another ---


EQUAL = frozenset(
    {
        ("kafka.log/mixed", "encode", "batches", "none", "null")  # the log of no entries has no byte
    }
)
"""Confusions that no byte shows."""


@pytest.mark.sweeps
def test_no_confusion_of_states_conforms() -> None:
    suite = load()
    made = list(confusions(suite, FORMATS))
    assert len(made) > 1100
    alive = {_row(each) for each in made if not confusion_killer(each, suite)}
    assert alive == EQUAL


def _row(each: Confusion) -> tuple[str, ...]:
    return each.format_id, each.op, ".".join(each.steps), each.state, each.taken_for


# --- the tool ---


SOUND = "py:wireproof.adapters.reference:Reference"


@pytest.mark.usefixtures("stored_cases_alone")
def test_kill_names_the_case_and_who_lives(kill: Command) -> None:
    done = kill("crc-skip", "--in-process", width=80, code=0)
    assert "kafka.batch/v0/message/crc-32c  fail:wrong-accept" in done.out
    assert "1 of 1 dead" in done.out
    assert f"alive, golden: {SOUND}" in kill(SOUND, "--in-process", code=1).out

"""A format without one of its rules, or with a number in another byte order, dies by a golden case."""

from collections import defaultdict

from goldens import load, stored_cases

from tests.mutants.base import structures
from tests.mutants.generated import (
    Described,
    described_formats,
    in_zigzag,
    killer,
    with_other_signs,
    with_swapped_numbers,
    without_rules,
)

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


def test_no_format_conforms_with_a_number_in_the_other_byte_order() -> None:
    mutants = list(with_swapped_numbers())
    assert len(mutants) >= 70
    assert alive(mutants) == ALIVE_SWAPPED.keys()


def test_no_format_conforms_with_a_number_of_the_other_sign() -> None:
    mutants = list(with_other_signs())
    assert len(mutants) >= 70
    assert alive(mutants) == ALIVE_SIGNS.keys()


def test_no_message_conforms_with_a_number_in_zigzag() -> None:
    mutants = list(in_zigzag())
    assert len(mutants) >= 8
    assert alive(mutants) == set()


def test_each_rule_of_a_structure_is_a_rule_of_the_fixtures() -> None:
    known = load().rules
    layouts = {one for described in described_formats() for one in structures(described.layout)}
    named = {rule.id for layout in layouts for rule in layout.rules} | {layout.whole for layout in layouts}
    assert named - {""} <= known.keys()

"""Each row of kafka.md §12, official text against code, is a rule that states both and has cases."""

import pytest
from goldens import load

SUITE = load()
ROWS = {
    "recordsCount left out": "kafka.v2.layout",
    "varint as of protobuf": "kafka.varint.zigzag",
    "timestampDelta a varint": "kafka.v2.timestamp.64-bit",
    "attributes a byte": "kafka.v2.attributes",
    "maxTimestamp of the last record": "kafka.produce.max-timestamp",
    "a single control record": "kafka.control.first",
    "sequence a plain sum": "kafka.v2.sequence.wrap",
    "no lz4 in v0": "kafka.lz4.kip57",
    "highest bits 0": "kafka.v2.attributes.unused",
    "highest bits of a message 0": "kafka.legacy.attributes.unused",
    "outer key null": "kafka.produce.outer-key",
    "control value opaque": "kafka.control.value",
}


@pytest.mark.parametrize("name", ROWS.values(), ids=ROWS.keys())
def test_a_row_of_the_text_against_the_code_is_a_rule_with_cases(name: str) -> None:
    rule = SUITE.rules[name]
    assert "§12" in rule.section
    assert rule.practice
    assert sum(name in case.rules for case in SUITE.cases) >= 2


def test_no_rule_cites_the_section_and_hides_the_practice() -> None:
    cited = [
        rule.id for rule in SUITE.rules.values() if rule.document == "kafka.md" and "§12" in rule.section
    ]
    assert sorted(cited) == sorted(ROWS.values())

"""`show CASE`: what must be answered, before its sources."""

import json

import pytest
from command_line import Command

from wireproof.cases.case import Accept
from wireproof.cases.fixtures import load
from wireproof.report.case_view import LINE, value_lines
from wireproof.wire.json_values import Json


def expected(lines: list[str]) -> list[str]:
    """The lines of the expectation: they stand before those of the sources."""
    begin = next(n for n, line in enumerate(lines) if line.startswith("want "))
    end = next(n for n, line in enumerate(lines) if line.startswith(("refusal ", "source ")))
    assert end < next(n for n, line in enumerate(lines) if line.startswith("rule "))
    return lines[begin:end]


@pytest.mark.parametrize(
    "name",
    ["kafka.batch/v2/headers/null-value", "iggy.identifier/0.8/identifier/zero", "kafka.batch/v1/text/nul"],
)
def test_the_value_to_answer_is_shown_as_json_before_the_sources(wireproof: Command, name: str) -> None:
    first, *value = expected(wireproof("show", name).out.splitlines())
    assert first.startswith("want     accept, ")
    assert first.endswith(" bytes consumed, with this value")
    shown = json.loads("\n".join(value))
    expect = load().by_id[name].expect
    assert isinstance(expect, Accept)
    assert shown == without_derived(expect.value)
    assert len(shown) > 1


DERIVED = {"nextOffset", "sequence", "timestampType"}


def without_derived(value: Json) -> Json:
    match value:
        case dict():
            return {key: without_derived(part) for key, part in value.items() if key not in DERIVED}
        case list():
            return [without_derived(part) for part in value]
    return value


def test_a_refusal_is_shown_with_class_and_position(wireproof: Command) -> None:
    lines = expected(wireproof("show", "kafka.batch/v2/crc/bit-flip-in-value").out.splitlines())
    assert lines == ["want     refuse crc-mismatch at 17"]


def test_the_bytes_of_an_encode_are_shown(wireproof: Command) -> None:
    first, data = expected(wireproof("show", "kafka.batch/v2/encode/empty").out.splitlines())
    assert first.endswith("with these bytes, or others that decode to the value")
    assert bytes.fromhex(data)[16] == 2


def test_a_long_value_is_cut_with_the_count_of_what_is_left_out() -> None:
    value = {"text": "61" * 1000, "rows": [{"n": str(n), "key": "6b" * 20} for n in range(1000)]}
    lines = list(value_lines(value))  # type: ignore[arg-type] # a JSON value
    assert len(lines) < 20
    assert max(map(len, lines)) <= LINE + 20
    assert lines[1].endswith(f'{"61" * 32}… 1,000 bytes",')
    assert "    … 994 more" in lines
    assert '"n": "999"' in lines[-3]

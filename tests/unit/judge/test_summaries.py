"""The texts `want` and `got` of a verdict: the cause first, and a difference where it begins."""

import pytest
from each import each

from wireproof.cases.case import Accept, Case, Data
from wireproof.cases.outcome import Accepted
from wireproof.judge.differences import first_difference, short_field
from wireproof.judge.judge import judge
from wireproof.judge.verdicts import Verdict
from wireproof.wire.json_values import Json

MIB = 1 << 20


def verdict(want: Json, got: Json) -> Verdict:
    return judge(Case("f/r/t/c", "f", "r", Data(b""), Accept(want)), Accepted(got), reference=None)


def test_why_nothing_could_be_read_comes_before_what_follows_from_it() -> None:
    found = verdict(
        {"batches": [{"offset": "0"}], "end": "1"},
        {"batches": [], "end": "0", "unreadable": "crc-mismatch at 17: aa stored, ab computed"},
    )
    assert found.path == "unreadable"
    assert found.got == 'unreadable = "crc-mismatch at 17: aa stored, ab computed"'
    assert found.fields == ("unreadable", "batches.length", "end")


@each(
    "want, got, texts",
    [
        pytest.param(
            "00" * MIB + "ab",
            "00" * MIB + "cd" + "00" * 50,
            (
                'value from byte 1,048,576 of 1,048,577 = "…00000000|ab"',
                f'value from byte 1,048,576 of 1,048,627 = "…00000000|cd{"00" * 31}…"',
            ),
            id="far inside",
        ),
        pytest.param(
            "0" * 399 + "1",
            "0" * 400,
            ('value from byte 199 of 200 = "…00000000|01"', 'value from byte 199 of 200 = "…00000000|00"'),
            id="in the second digit of a byte",
        ),
        pytest.param(
            "61" * 100,
            "61" * 60,
            (
                f'value from byte 60 of 100 = "…61616161|{"61" * 32}…"',
                'value from byte 60 of 60 = "…61616161|" (end)',
            ),
            id="too short",
        ),
        pytest.param("6162", "6163", ('value = "6162"', 'value = "6163"'), id="short"),
        pytest.param("61" * 100, None, (f'value = "{"61" * 59}…', "value = null"), id="null"),
    ],
)
def test_a_long_text_is_shown_around_the_byte_where_it_differs(
    want: str, got: str | None, texts: tuple[str, str]
) -> None:
    found = first_difference({"value": want}, {"value": got})
    assert found is not None
    assert short_field(found) == texts

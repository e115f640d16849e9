"""The words for what an adapter did in place of an answer."""

from each import each

from wireproof.cases.outcome import Crashed, Exhausted, Faulty
from wireproof.judge.differences import short_outcome


@each(
    "outcome, text",
    [
        (Crashed("died with SIGSEGV"), "crashed: SIGSEGV"),
        (Exhausted("memory", "used 529 MiB; the limit is 512 MiB"), "used 529 MiB; the limit is 512 MiB"),
        (Exhausted("output"), "used too much output"),
        (Faulty("invalid answer: no outcome"), "invalid answer: no outcome"),
        (Faulty("its value is no JSON"), "invalid answer: its value is no JSON"),
    ],
)
def test_an_outcome_is_described_in_plain_words(outcome: Crashed | Exhausted | Faulty, text: str) -> None:
    assert short_outcome(outcome) == text

"""The trace of each case agrees with its bytes and its value: `explain` and damage rely on it."""

from typing import Any

import pytest
from attrs import evolve
from goldens import load
from layout_check import layout_errors

from wireproof.wire.reader import TracingReader

# --- traces beside bytes and values ---


@pytest.mark.sweeps
def test_the_trace_of_every_golden_case_agrees_with_its_bytes_and_its_value() -> None:
    wrong = [(case.id, said) for case in load().cases for said in layout_errors(case)]
    assert wrong == []


def test_a_checksum_over_other_bytes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    cover = TracingReader.cover

    def spoilt(self: TracingReader, name: str, *words: Any) -> None:
        cover(self, name, *words)
        last = max(n for n, span in enumerate(self.spans) if span.cover)
        found = self.spans[last].cover
        assert found is not None
        self.spans[last] = evolve(self.spans[last], cover=evolve(found, start=found.start + 1))

    monkeypatch.setattr(TracingReader, "cover", spoilt)
    case = load().by_id["kafka.batch/v0/message/key-and-value"]
    assert any("is no crc32" in line for line in layout_errors(case))

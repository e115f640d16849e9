"""The layout of every golden case tells the truth, and untruths are noticed."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from wireproof.cases.fixtures import load
from wireproof.cases.truth import untrue
from wireproof.wire.reader import TracingReader
from wireproof.wire.trace import Cover

SUITE = load()


def test_the_layout_of_every_golden_case_is_true() -> None:
    wrong = [(case.id, said) for case in SUITE.cases for said in untrue(case)]
    assert wrong == []


def of(name: str) -> list[str]:
    case = SUITE.get(name)
    assert case is not None
    return list(untrue(case))


def spoilt(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], Any]) -> None:
    """Every cover that the codecs tell is `change` of what they say."""
    told = TracingReader.cover

    def cover(self: TracingReader, name: str, *words: Any) -> None:
        told(self, name, *words)
        last = max((n for n, span in enumerate(self.spans) if span.cover), default=None)
        if last is not None:
            self.spans[last] = evolve(self.spans[last], cover=change(self.spans[last].cover))

    monkeypatch.setattr(TracingReader, "cover", cover)


def test_a_checksum_over_other_bytes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    spoilt(monkeypatch, lambda cover: Cover(cover.kind, cover.start + 1, cover.end, cover.bias))
    said = of("kafka.batch/v0/message/key-and-value")
    assert any("is no crc32" in line for line in said), said


def test_a_name_that_the_value_does_not_have_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TracingReader, "path", lambda _, name: f"x{name}")
    assert any("nothing is called" in line for line in of("kafka.batch/v0/message/key-and-value"))

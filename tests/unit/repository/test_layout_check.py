"""The layout of every golden case agrees with its bytes and value, and errors in a layout are noticed."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from goldens import load
from layout_check import layout_errors

from wireproof.wire.cursor import Cursor
from wireproof.wire.reader import Reader, TracingReader
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import Cover
from wireproof.wire.writer import Writer

SUITE = load()


@pytest.mark.sweeps
def test_the_layout_of_every_golden_case_has_no_error() -> None:
    wrong = [(case.id, said) for case in SUITE.cases for said in layout_errors(case)]
    assert wrong == []


def of(name: str) -> list[str]:
    case = SUITE.get(name)
    assert case is not None
    return list(layout_errors(case))


def spoilt(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], Any]) -> None:
    """Replace every cover in the traces of the codecs by the result of `change`."""
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


def test_a_remark_beside_the_field_that_it_names_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Reader.remark

    def beside(self: Reader, cls: str, name: str, *, at: int | None = None, **more: Any) -> None:
        told(self, cls, name, at=(self.pos if at is None else at) + 1, **more)

    monkeypatch.setattr(Reader, "remark", beside)
    assert any("where it does not begin" in line for line in of("kafka.batch/v2/gzip/trailing-garbage"))


def test_a_list_that_is_numbered_from_1_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Cursor.enter
    monkeypatch.setattr(Cursor, "enter", lambda self, name, index=-1: told(self, name, index + (index >= 0)))
    assert any("are numbered [1, 2]" in line for line in of("kafka.batch/v2/compression/snappy-two-blocks"))


def test_a_space_that_no_field_opens_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Reader.inner_reader
    monkeypatch.setattr(
        Reader, "inner_reader", lambda self, data, start, **more: told(self, data, start + 1, **more)
    )
    assert any("is said to be opened at" in line for line in of("kafka.batch/v2/compression/gzip"))


def test_a_length_that_covers_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TracingReader, "cover_declared_length", lambda *_: None)
    assert any("covers nothing" in line for line in of("kafka.batch/v2/batch/one-record"))


def test_a_place_of_a_refusal_to_encode_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def placed(_: Writer, name: str, text: str) -> Rejected:
        return Rejected("invalid-value", 0, name, text)

    monkeypatch.setattr(Writer, "invalid", placed)
    assert any(
        "where there are no bytes" in line for line in of("kafka.batch/v2/encode/offset-delta-far-over-int32")
    )

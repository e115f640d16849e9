"""The trace of each case has the fields that its layout declares, and agrees with bytes and value.

Some codecs are written by hand, where a layout would be slower or harder to read. That every case agrees is
the reason to believe that what is derived from a layout holds for its codec.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from attrs import evolve
from each import each
from goldens import load, stored_cases
from layout_check import layout_errors

from wireproof import formats
from wireproof.cases.case import Accept, Data
from wireproof.formats import FORMATS, Format
from wireproof.schema.layout import (
    Checksum,
    Count,
    Layout,
    Length,
    Number,
    Octets,
    OtherFields,
    Packed,
    Part,
    ProtoField,
    When,
    Zero,
    all_layouts,
)
from wireproof.wire.compression import COMPRESSION_CODECS
from wireproof.wire.protobuf import FIXED32, FIXED64, LENGTH_DELIMITED, START_GROUP, VARINT
from wireproof.wire.reader import TracingReader

IGNORED: Final = "ignored"
"""The type of a span of bytes that a reader skips, with a remark or because nobody reads them."""

PROTO_TYPES: Final = {
    VARINT: "uvarint", FIXED64: "uint64le", LENGTH_DELIMITED: "bytes", START_GROUP: "group",
    FIXED32: "uint32le",
}  # fmt: skip
"""The type of the span of a payload, by wire type."""

FRAMES: Final = re.compile(r"\.(gzip|lz4|zstd|xerial|snappy|trailing)(\[\d+\])?(\.|$)")
"""Fields of compressed data: their layout is that of the compression format, not of the message format."""


def fields(part: Part) -> Iterator[tuple[str, set[str]]]:
    """Yield the names that a part has in a trace, each with the types that its span may have."""
    match part:
        case When(part=inner):
            yield from fields(inner)
        case Packed(of=inner):
            yield part.name, {codec.name for codec in COMPRESSION_CODECS.values()}
            yield from fields(inner)
        case Octets(read_as=read_as, holds=inner):
            yield part.name, {"bytes", read_as}
            yield from fields(inner) if inner is not None else ()
        case ProtoField(wires=wires):
            yield part.name, {"bytes", *(PROTO_TYPES[wire] for wire in wires)}
        case OtherFields():
            yield "", {*PROTO_TYPES.values()}
        case Zero(kind=kind):
            yield part.name, {kind or "bytes"}
        case Number(kind=kind) | Length(kind=kind) | Count(kind=kind) | Checksum(kind=kind):
            yield part.name, {kind, "bytes"} if kind == "uint128le" else {kind}


def declared(layout: Layout) -> dict[str, set[str]]:
    """Return the types of each name of a layout; of protobuf also those of keys and lengths."""
    found = {"key": {"uvarint"}, "length": {"uvarint"}}
    for one in all_layouts(layout):
        for part in one.parts:
            for name, types in fields(part):
                found.setdefault(name, set()).update(types)
    return found


@each("row", [row for row in FORMATS.values() if row.layout is not None], ids=lambda row: row.format_id)
def test_the_fields_of_every_accepted_case_are_declared(row: Format) -> None:
    assert row.layout is not None
    known, read, wrong = declared(row.layout), 0, set()
    for case in stored_cases(row.name):
        ours = case.format_id == row.format_id and isinstance(case.expect, Accept)
        for span in (
            formats.decode_with_trace(row, case.input.data, case.options).spans
            if ours and isinstance(case.input, Data)
            else ()
        ):
            name = re.sub(r"(\[\d+\]|#\d+)+$", "", span.path.rpartition(".")[2])
            read += 1
            if span.type != IGNORED and not FRAMES.search(span.path) and span.type not in known.get(name, ()):
                wrong.add(f"{case.id}: {span.path} is {span.type}")
    assert read
    assert sorted(wrong) == []


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

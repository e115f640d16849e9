"""Lengths and counts are known by their covers and layouts, in refused bytes too."""

import pytest
from each import each
from goldens import golden_bytes

from wireproof.derive.edit_bytes import (
    companions_of_lists,
    counts_of_lists,
    deciding_fields,
    first_length,
    size_fields,
    size_kind,
)
from wireproof.derive.mutate.decode_trace import Element, cached_trace
from wireproof.derive.mutate.encodings import samples
from wireproof.derive.mutate.splice import repair
from wireproof.formats import FORMATS
from wireproof.schema.layout import declared_lengths
from wireproof.wire.checksums import crc32c
from wireproof.wire.trace import Cover, FieldSpan

BATCH = FORMATS["kafka.batch/v2"]
LOG = FORMATS["kafka.log/mixed"]
SEND = FORMATS["iggy.send/0.9"]
POLL_REQUEST = FORMATS["iggy.poll-request/0.8"]
ERROR_IN_JSON = FORMATS["iggy.json.error/0.0.30"]


def batch(record: bytes) -> bytes:
    """Return a batch with one record and a good checksum: kafka.md §1.1."""
    rest = bytes.fromhex(f"0000 00000000 {bytes(16).hex()} ffffffffffffffff ffff ffffffff 00000001")
    summed = rest + record
    length = (4 + 1 + 4 + len(summed)).to_bytes(4, "big")
    return bytes(8) + length + bytes(4) + b"\x02" + crc32c(summed).to_bytes(4, "big") + summed


def covers(format_id: str, text: str) -> dict[str, tuple[str, int, int]]:
    """Return the covers in the trace of bytes that the reference refuses."""
    trace = cached_trace(FORMATS[format_id], bytes.fromhex(text))
    assert trace.rejected is not None
    return {
        span.path: (span.cover.kind, span.cover.start, span.cover.end)
        for span in trace.spans
        if span.cover is not None
    }


@pytest.mark.parametrize(
    ("format_id", "text", "path", "start", "end"),
    [
        ("iggy.identifier/0.8", "01 03 010203", "length", 2, 5),  # a number has four bytes
        ("iggy.partitioning/0.9", "01 02 0102", "length", 2, 4),  # a balanced one has no value
    ],
)
def test_a_length_that_is_refused_has_its_cover(
    format_id: str, text: str, path: str, start: int, end: int
) -> None:
    assert covers(format_id, text)[path] == ("length", start, end)


def test_a_length_past_the_end_covers_nothing() -> None:
    assert covers("iggy.identifier/0.8", "01 05 01020304") == {}


@pytest.mark.parametrize(
    ("record", "end"),
    [
        ("08 00 00 00 01 01", 61 + 5),  # too short for a record
        ("0c 00 00 00 01 01 01", 61 + 7),  # the count of headers is negative
    ],
)
def test_the_length_of_a_refused_record_has_its_cover(record: str, end: int) -> None:
    assert covers("kafka.batch/v2", batch(bytes.fromhex(record)).hex())["records[0].length"] == (
        "length",
        62,
        end,
    )


def span(name: str, cover: Cover | None = None) -> FieldSpan:
    return FieldSpan(f"records[0].{name}", "", 0, 4, "int32", -1, cover)


@each(
    "name, cover, kind",
    [
        ("keyLength", None, "length"),
        ("headerCount", None, "count"),
        ("contentSize", None, "length"),
        ("maxTimestamp", None, None),
        ("crc", Cover("crc32c", 21, 70), None),
        ("anything", Cover("length", 4, 8), "length"),
    ],
)
def test_a_size_is_known_by_its_cover_else_by_the_layout(
    name: str, cover: Cover | None, kind: str | None
) -> None:
    assert size_kind(span(name, cover), BATCH.layout) == kind


def test_the_number_that_a_request_asks_for_is_a_count() -> None:
    assert size_fields(POLL_REQUEST.layout)["count"] == "count"
    assert "partition_id" not in size_fields(POLL_REQUEST.layout)


def test_layouts_say_what_lengths_and_counts_are_of() -> None:
    assert counts_of_lists(BATCH.layout)["headers"] == {"headerCount"}
    assert counts_of_lists(BATCH.layout)["records"] == {"recordsCount"}
    assert declared_lengths(BATCH.layout)["value"] == {"valueLength"}
    assert companions_of_lists(SEND.layout) == {"messages": {"index"}}
    assert companions_of_lists(BATCH.layout) == {}


def test_layouts_say_which_fields_decide_what_others_are() -> None:
    assert {"batchLength", "recordsCount", "keyLength", "magic", "attributes"} <= deciding_fields(
        BATCH.layout
    )
    assert not {"baseOffset", "crc", "producerId"} & deciding_fields(BATCH.layout)
    assert "command" in deciding_fields(FORMATS["iggy.frame/0.11"].layout)
    assert deciding_fields(None) == {"contentSize"}


def test_values_of_a_format_may_begin_with_their_length() -> None:
    assert first_length(BATCH.layout) == (8, "int32")
    assert first_length(LOG.layout) == (8, "int32")  # the same field of three layouts
    assert first_length(POLL_REQUEST.layout) is None
    assert first_length(ERROR_IN_JSON.layout) is None


def test_the_index_of_a_message_goes_with_it() -> None:
    trace = cached_trace(SEND, samples(SEND)[0])
    messages = [one for one in trace.elements if one.many == "messages"]
    found = [[(one.many, one.index) for one in trace.companions(message)] for message in messages]
    assert found == [[("index", 0)], [("index", 1)]]
    entries: list[Element] = [one for one in trace.elements if one.many == "index"]
    assert not any(trace.companions(one) for one in entries)


def test_a_poll_that_is_cut_in_a_payload_is_repaired() -> None:
    poll, cut = FORMATS["iggy.poll/0.9"], golden_bytes("iggy.poll/0.9/torn/in-the-last-payload")
    assert str(cached_trace(poll, cut).rejected).startswith("truncated at 149, messages[1].payload")
    assert cached_trace(poll, repair(poll, cut)).rejected is None

"""The fields that can be found in damaged bytes, for `explain` and the reports."""

import pytest
from goldens import load

from wireproof.cases.case import Case, Data
from wireproof.formats import FORMATS, TracedDecode, decode_with_trace
from wireproof.inspect.detect_format import (
    MAX_FIELDS_BEYOND,
    PADDING_BYTES,
    BoundedSpans,
    layout_of_damaged,
)
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.reader import TracingReader
from wireproof.wire.rejection import Rejected

V2 = FORMATS["kafka.batch/v2"]


def golden(name: str) -> Case:
    return load().by_id[f"kafka.batch/v2/{name}"]


def data_of(case: Case) -> bytes:
    assert isinstance(case.input, Data)
    return case.input.data


def paths(seen: TracedDecode) -> list[str]:
    return sorted(span.path for span in seen.spans)


def test_after_a_wrong_checksum_every_field_is_listed_and_the_fault_stays() -> None:
    bad, good = data_of(golden("crc/ieee")), data_of(golden("batch/two-records"))
    seen = layout_of_damaged(V2, bad)
    assert paths(seen) == paths(decode_with_trace(V2, good))
    assert seen.rejected is not None
    assert (seen.rejected.cls, seen.rejected.at) == ("crc-mismatch", 17)


def test_the_fields_before_the_end_of_cut_bytes_are_listed() -> None:
    whole = data_of(golden("batch/two-records"))
    told = {span.path: span for span in layout_of_damaged(V2, whole[:64]).spans}
    assert told["recordsCount"].value == 2
    assert told["records[0].length"].value == 8
    assert told["crc"].value == int.from_bytes(whole[17:21], "big")
    assert all(span.end <= 64 for span in told.values())


def test_zeros_that_stand_for_what_was_cut_off_are_no_messages_without_end() -> None:
    """Of a poll response of Iggy 40 of them are a message of no bytes."""
    poll = FORMATS["iggy.poll/0.0.30"]
    whole = data_of(load().by_id["iggy.poll/0.0.30/messages/worked"])
    spans = BoundedSpans(len(whole) - 1)
    reader = TracingReader(whole[:-1] + bytes(PADDING_BYTES), spans=spans)
    with pytest.raises(Rejected) as caught:
        poll.decode(reader, DEFAULT_OPTIONS)
    assert caught.value.cls == "truncated"
    assert len([span for span in spans if span.start >= len(whole)]) <= MAX_FIELDS_BEYOND
    assert {span.path for span in decode_with_trace(poll, whole).spans} <= {span.path for span in spans}

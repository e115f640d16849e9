"""Where the frames of a stream end, from the trace alone, and what a prefix of it holds."""

from typing import Any

from attrs import evolve
from each import each

from wireproof.cases.case import Accept
from wireproof.cases.stream_prefix import stream_frames
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import Remark
from wireproof.wire.trace import Cover, FieldSpan


def span(path: str, start: int, end: int, cover: Cover | None = None, space: str = "") -> FieldSpan:
    return FieldSpan(path, space, start, end, "bytes", None, cover)


SPANS = (
    span("rows[0].length", 0, 1, Cover("length", 1, 5)),
    span("rows[0].body", 1, 3),
    span("rows[1].length", 5, 6, Cover("length", 6, 9)),
    span("rows[1].sum", 6, 7, Cover("crc32", 0, 90)),
    span("rows[1].body", 0, 400, space="6>"),
)
STREAM = "heka.stream"
LOG = "kafka.log"
VALUE: Json = {"rows": [{"a": "1"}, {"a": "2"}]}
REMARKS = (Remark("odd", 2, "rows[0].body"), Remark("late", 7, "rows[1].body"), Remark("all", 0, "rows"))


@each(
    "stop, count, consumed, remarks",
    [(0, 0, 0, ()), (4, 0, 0, ()), (5, 1, 5, ("odd",)), (8, 1, 5, ("odd",)), (9, 2, 9, ("late", "odd"))],
)
def test_a_prefix_holds_the_frames_that_end_in_it_with_their_remarks(
    stop: int, count: int, consumed: int, remarks: tuple[str, ...]
) -> None:
    frames = stream_frames(STREAM, Accept(VALUE, 9), SPANS, REMARKS)
    assert frames is not None
    rows: Any = VALUE
    assert frames.within(stop) == Accept({"rows": rows["rows"][:count]}, consumed, remarks)


@each(
    "value, consumed",
    [
        ({"rows": [{"a": "1"}]}, 9),  # more frames in the trace than in the value
        ({"rows": [{"a": "1"}] * 3}, 9),  # fewer
        (VALUE, 10),  # what was consumed is not where the last one ends
        ({"rows": [], "count": "0"}, 9),  # no single list
        ({"count": "0"}, 9),
        ([], 9),
        (None, 9),
    ],
)
def test_where_the_trace_does_not_show_all_ends_nothing_is_claimed(value: Json, consumed: int) -> None:
    assert stream_frames(STREAM, Accept(value, consumed), SPANS, ()) is None


def test_the_next_offset_of_a_log_is_that_of_its_last_entry_and_of_a_prefix_that_of_the_prefix() -> None:
    spans = tuple(evolve(one, path=one.path.replace("rows", "batches")) for one in SPANS)
    value: Json = {"batches": [{"nextOffset": "4"}, {"nextOffset": "9"}], "nextOffset": "9"}
    frames = stream_frames(LOG, Accept(value, 9), spans, ())
    assert frames is not None
    assert frames.within(9).value == value
    assert frames.within(5).value == {"batches": [{"nextOffset": "4"}], "nextOffset": "4"}
    assert frames.within(4).value == {"batches": [], "nextOffset": None}

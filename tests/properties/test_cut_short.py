"""A prefix is not the whole: a frame is refused, a stream keeps what was whole in it."""

from hypothesis import assume
from hypothesis import strategies as st
from subjects import FORMATS, FRAMES, STREAMS, each_drawn, entries, read, valued, written

from wireproof import formats
from wireproof.formats import Format
from wireproof.wire.rejection import Rejected

NOTHING = ("iggy.reply/0.11", "iggy.json.reply/0.11")
"""A body of no bytes confirms nothing, as a count of 0 does."""


@each_drawn(lambda row: [valued(row), st.data()], FRAMES)
def test_every_prefix_of_a_frame_is_truncated(row: Format, value: object, data: st.DataObject) -> None:
    whole = written(row, value)
    seen = read(row, whole[: data.draw(st.integers(0, len(whole) - 1))])
    assert isinstance(seen, Rejected)
    assert seen.cls == "truncated"


@each_drawn(lambda row: [valued(row), st.data()], STREAMS)
def test_a_prefix_of_a_stream_holds_the_frames_that_are_whole_in_it(
    row: Format, value: object, data: st.DataObject
) -> None:
    whole = written(row, value)
    stop = data.draw(st.integers(0, len(whole)))
    seen = formats.decode(row, whole[:stop])
    frames, kept = entries(row, formats.decode(row, whole).value), entries(row, seen.value)
    assert kept == frames[: len(kept)]
    assert seen.consumed <= stop
    assert (len(kept) == len(frames)) == (stop == len(whole))


@each_drawn(
    lambda row: [valued(row), st.data()],
    (row for row in FORMATS.values() if not row.delimited and row.scan is None),
)
def test_a_prefix_of_bytes_without_a_length_is_another_value_if_any(
    row: Format, value: object, data: st.DataObject
) -> None:
    whole = written(row, value)
    assume(whole)
    stop = data.draw(st.integers(0, len(whole) - 1))
    assume(stop or row.format_id not in NOTHING)
    seen = read(row, whole[:stop])
    assert isinstance(seen, Rejected) or seen.value != formats.decode(row, whole).value


def test_each_row_has_one_of_the_three_rules() -> None:
    assert all(row.scan is None or not row.delimited for row in FORMATS.values())

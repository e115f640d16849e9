"""Frames one behind the other are their values one behind the other, and how bytes arrive changes nothing."""

from hypothesis import strategies as st
from subjects import FORMATS, FRAMES, LIFTED, STREAMS, each_drawn, entries, nearly_a_stream, valued, written

from wireproof import formats
from wireproof.formats import Format


@each_drawn(lambda row: [st.lists(valued(row), max_size=3)], LIFTED)
def test_joined_entries_are_a_stream_of_their_values(row: Format, parts: list[object]) -> None:
    assert row.wrapped_by is not None
    name, revision, _ = row.wrapped_by
    stream = FORMATS[f"{name}/{revision}"]
    data = [written(row, part) for part in parts]
    seen = formats.decode(stream, b"".join(data))
    assert entries(stream, seen.value) == [formats.decode(row, one).value for one in data]
    assert seen.consumed == sum(map(len, data))


@each_drawn(lambda row: [valued(row), valued(row)], STREAMS)
def test_joined_streams_are_the_stream_of_both(row: Format, first: object, second: object) -> None:
    left, right = written(row, first), written(row, second)
    parts = [entries(row, formats.decode(row, data).value) for data in (left, right)]
    assert entries(row, formats.decode(row, left + right).value) == parts[0] + parts[1]


@each_drawn(lambda row: [valued(row), st.binary(min_size=1, max_size=40)], FRAMES)
def test_what_follows_a_frame_is_not_its_own(row: Format, value: object, tail: bytes) -> None:
    data = written(row, value)
    alone, followed = formats.decode(row, data), formats.decode(row, data + tail)
    assert (followed.value, followed.consumed) == (alone.value, len(data))


@each_drawn(lambda row: [nearly_a_stream(row), st.data()], STREAMS)
def test_a_scan_gives_the_same_however_the_bytes_arrive(
    row: Format, data: bytes, more: st.DataObject
) -> None:
    cuts = sorted(more.draw(st.lists(st.integers(0, len(data)), max_size=8)))
    ends = zip([0, *cuts], [*cuts, len(data)], strict=True)
    whole = list(formats.scan(row, [data]))
    assert list(formats.scan(row, [data[start:end] for start, end in ends])) == whole


@each_drawn(lambda row: [nearly_a_stream(row)], STREAMS)
def test_a_scan_accounts_for_every_byte(row: Format, data: bytes) -> None:
    at = 0
    for item in formats.scan(row, [data]):
        assert item.at == at
        assert item.length > 0
        at += item.length
    assert at == len(data)


@each_drawn(lambda row: [valued(row)], STREAMS)
def test_a_scan_of_a_clean_stream_gives_the_frames_of_its_decode(row: Format, value: object) -> None:
    data = written(row, value)
    items = list(formats.scan(row, [data]))
    assert [item.value for item in items] == entries(row, formats.decode(row, data).value)
    assert {item.kind for item in items} <= {"frame"}

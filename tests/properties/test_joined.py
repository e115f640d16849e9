"""Frames one behind the other are their values one behind the other, and how bytes arrive changes nothing."""

from hypothesis import given
from hypothesis import strategies as st
from subjects import FORMATS, LIFTED, STREAMS, each, entries, nearly, valued, written

from wireproof import formats
from wireproof.formats import Format


@each(LIFTED)
def test_joined_entries_are_a_stream_of_their_values(row: Format) -> None:
    assert row.wrapped_by is not None
    name, revision, _ = row.wrapped_by
    stream = FORMATS[f"{name}/{revision}"]

    @given(st.lists(valued(row), max_size=3))
    def holds(parts: list[object]) -> None:
        data = [written(row, part) for part in parts]
        seen = formats.decode(stream, b"".join(data))
        assert entries(stream, seen.value) == [formats.decode(row, one).value for one in data]
        assert seen.consumed == sum(map(len, data))

    holds()


@each(STREAMS)
def test_joined_streams_are_the_stream_of_both(row: Format) -> None:
    @given(valued(row), valued(row))
    def holds(first: object, second: object) -> None:
        left, right = written(row, first), written(row, second)
        parts = [entries(row, formats.decode(row, data).value) for data in (left, right)]
        assert entries(row, formats.decode(row, left + right).value) == parts[0] + parts[1]

    holds()


@each(row for row in FORMATS.values() if row.delimited)
def test_what_follows_a_frame_is_not_its_own(row: Format) -> None:
    @given(valued(row), st.binary(min_size=1, max_size=40))
    def holds(value: object, tail: bytes) -> None:
        data = written(row, value)
        alone, followed = formats.decode(row, data), formats.decode(row, data + tail)
        assert (followed.value, followed.consumed) == (alone.value, len(data))

    holds()


@each(STREAMS)
def test_a_scan_gives_the_same_however_the_bytes_arrive(row: Format) -> None:
    @given(st.lists(st.one_of(nearly(row), st.binary(max_size=70)), max_size=3).map(b"".join), st.data())
    def holds(data: bytes, more: st.DataObject) -> None:
        cuts = sorted(more.draw(st.lists(st.integers(0, len(data)), max_size=8)))
        ends = zip([0, *cuts], [*cuts, len(data)], strict=True)
        whole = list(formats.scan(row, [data]))
        assert list(formats.scan(row, [data[start:end] for start, end in ends])) == whole

    holds()


@each(STREAMS)
def test_a_scan_accounts_for_every_byte(row: Format) -> None:
    @given(st.lists(st.one_of(nearly(row), st.binary(max_size=70)), max_size=3).map(b"".join))
    def holds(data: bytes) -> None:
        at = 0
        for item in formats.scan(row, [data]):
            assert item.at == at
            assert item.length > 0
            at += item.length
        assert at == len(data)

    holds()


@each(STREAMS)
def test_a_scan_of_a_clean_stream_gives_the_frames_of_its_decode(row: Format) -> None:
    @given(valued(row))
    def holds(value: object) -> None:
        data = written(row, value)
        items = list(formats.scan(row, [data]))
        assert [item.value for item in items] == entries(row, formats.decode(row, data).value)
        assert {item.kind for item in items} <= {"frame"}

    holds()

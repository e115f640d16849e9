"""The framing scan of Heka's streams gives the reference's items, and passes over no remark."""

import pytest
from goldens import load
from hypothesis import given
from hypothesis import strategies as st
from subjects import nearly, valued, written

from wireproof import formats
from wireproof.cases.case import Chunks, Data
from wireproof.formats import FORMATS
from wireproof.heka import columnar
from wireproof.wire.options import DEFAULT_OPTIONS, Options

STREAM = FORMATS["heka.stream/0.10"]


def assert_agrees(data: bytes, options: Options = DEFAULT_OPTIONS) -> tuple[int, int]:
    """Hold the scan to the reference; how many frames there are, how many the kernels answered."""
    wanted = list(formats.scan(STREAM, [data], options))
    rows: list[tuple[str, int, int, str | None, int | None]] = []
    for step in columnar.heka_scan_steps(data, options):
        clean = zip(step.position.tolist(), step.length.tolist(), step.message.tolist(), strict=True)
        rows += (("frame", at, length, None, message) for at, length, message in clean)
        rows += ((item.kind, item.at, item.length, item.cls, None) for item in step.items)
    assert [row[:4] for row in rows] == [(item.kind, item.at, item.length, item.cls) for item in wanted]
    answered = [(item, row[4]) for item, row in zip(wanted, rows, strict=True) if row[4] is not None]
    for item, message in answered:
        assert not item.remarks
        assert item.value.header.message_length == item.at + item.length - message
    return sum(item.kind == "frame" for item in wanted), len(answered)


def fixtures() -> list[tuple[bytes, Options]]:
    rows = []
    for case in load().cases:
        match case.input:
            case Data(data) if case.format == "heka.stream":
                rows.append((data, case.options))
            case Chunks(chunks) if case.format == "heka.stream":
                rows.append((b"".join(chunks), case.options))
    return rows


def test_every_fixture_is_scanned_alike() -> None:
    found = [assert_agrees(data, options) for data, options in fixtures()]
    assert len(found) > 50
    assert sum(answered for _, answered in found) > 50


def test_all_fixtures_in_one_buffer_are_scanned_alike() -> None:
    format_id = b"".join(data for data, _ in fixtures())
    assert_agrees(format_id)
    assert_agrees(format_id, Options(max_message=40))


@pytest.mark.sweeps
def test_every_edited_byte_of_a_frame_between_others_is_scanned_alike() -> None:
    good = [data for data, _ in fixtures() if 20 < len(data) < 200 and assert_agrees(data)[1]][:4]
    assert good
    for data in good:
        for at in range(len(data)):
            for new in {0, 1, 0x1E, 0x1F, 0x7F, 0x80, 0xFF, data[at] ^ 1, data[at] ^ 8} - {data[at]}:
                assert_agrees(good[0] + data[:at] + bytes((new,)) + data[at + 1 :] + good[0])


@given(st.lists(st.one_of(st.binary(max_size=40), nearly(STREAM)), max_size=3).map(b"".join))
def test_nearly_valid_bytes_are_scanned_alike(data: bytes) -> None:
    assert_agrees(data)


@given(st.lists(valued(STREAM).map(lambda value: written(STREAM, value)), max_size=3).map(b"".join))
def test_what_is_valid_is_scanned_alike(data: bytes) -> None:
    assert_agrees(data)

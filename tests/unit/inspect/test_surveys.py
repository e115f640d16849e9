"""What bytes are and what can be found in them: formats, damaged logs, frames of LZ4 and snappy."""

import io
import random
import re
from itertools import islice
from pathlib import Path

import cramjam
import damaged_logs
import iggy_segments
import logs
import pytest
from command_line import Command
from each import each
from folders import SUPPORT
from goldens import load

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data, Reject
from wireproof.formats import FORMATS, Format, TracedDecode, decode_with_trace
from wireproof.inspect.detect_format import (
    MAX_FIELDS_BEYOND,
    PADDING_BYTES,
    BoundedSpans,
    layout_of_damaged,
    rank_formats,
)
from wireproof.inspect.file_survey import FileSurvey
from wireproof.inspect.open_input import lz4_pieces, snappy_pieces
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.reader import TracingReader
from wireproof.wire.rejection import Rejected

SMALL = 2000


def shares(kind: type) -> float:
    """Of the golden inputs of a kind, the share that is known for its own system."""
    own = []
    for case in load().cases:
        if case.op != "decode" or not isinstance(case.input, Data) or not isinstance(case.expect, kind):
            continue
        if 16 < len(case.input.data) <= SMALL:
            best = rank_formats(case.input.data, options=case.options)[0]
            own.append(best.row.name.partition(".")[0] == case.format.partition(".")[0])
    assert len(own) > 100
    return sum(own) / len(own)


@pytest.mark.sweeps
def test_sound_bytes_are_known() -> None:
    assert shares(Accept) > 0.95


@pytest.mark.sweeps
def test_damaged_bytes_are_mostly_known() -> None:
    assert shares(Reject) > 0.9


def test_a_batch_with_a_wrong_checksum_is_still_a_batch() -> None:
    case = load().by_id["kafka.batch/v2/crc/zero"]
    best = rank_formats(case.input.data)[0]
    assert best.row.name.startswith("kafka.")
    assert best.layout.rejected.cls == "crc-mismatch"


def test_every_row_answers_any_bytes() -> None:
    noise = random.Random(7)
    for size in (0, 1, 7, 60, 300):
        assert len(rank_formats(noise.randbytes(size))) == len(FORMATS)


def test_the_rows_that_are_asked_for_are_the_only_ones_tried() -> None:
    rows = [FORMATS["kafka.batch/v0"], FORMATS["kafka.batch/v1"]]
    assert {fit.row.format_id for fit in rank_formats(b"", rows)} == {"kafka.batch/v0", "kafka.batch/v1"}


@each(
    "name, whole",
    [
        ("iggy.send/0.0.30/messages/two", ["0.0.30"]),
        ("iggy.send/0.7/messages/two", ["0.7", "0.8"]),
        ("iggy.send/0.11/messages/two", ["0.11", "0.11.1-edge"]),
        ("iggy.poll/0.0.30/messages/worked", ["0.0.30"]),
        ("iggy.poll/0.7/messages/worked", ["0.7"]),
        ("iggy.poll/0.11/messages/two", ["0.11"]),
        ("iggy.poll/0.11.1-edge/messages/producer", ["0.11.1-edge"]),
        ("iggy.poll-request/0.0.92/request/worked", ["0.0.92"]),
    ],
)
def test_the_revisions_that_a_captured_body_fits_are_distinguished(name: str, whole: list[str]) -> None:
    """All its bytes, and nothing to remark: iggy.md §1."""
    case = load().by_id[name]
    found = rank_formats(case.input.data)
    sure = [
        fit.row.format_id
        for fit in found
        if fit.layout.decoded is not None
        and fit.layout.decoded.consumed == len(case.input.data)
        and not fit.layout.decoded.remarks
    ]
    assert sure == [f"{case.format}/{revision}" for revision in whole]
    assert found[0].row.format_id == sure[0]


# --- the fields that can be found in damaged bytes ---


V2 = FORMATS["kafka.batch/v2"]


def golden(name: str) -> Case:
    return load().by_id[f"kafka.batch/v2/{name}"]


def data_of(case: Case) -> bytes:
    return case.input.data


def paths(seen: TracedDecode) -> list[str]:
    return sorted(span.path for span in seen.spans)


def test_after_a_wrong_checksum_every_field_is_listed_and_the_fault_stays() -> None:
    bad, good = data_of(golden("crc/ieee")), data_of(golden("batch/two-records"))
    seen = layout_of_damaged(V2, bad)
    assert paths(seen) == paths(decode_with_trace(V2, good))
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


# --- files of LZ4 frames and of framed snappy ---


CONTENT = bytes(range(256)) * 257

LINKED = (
    bytes.fromhex("04224d185c400001010000000000d70a020000fff1")
    + bytes(range(256))
    + bytes.fromhex("0001" + "ff" * 255 + "e750fbfcfdfeff2912674c")
    + bytes.fromhex("0a0000000f00ffe850fbfcfdfeff4daf53dc00000000e1bc9a14")
)
"""`CONTENT` as liblz4 writes it: two linked blocks, with every size and checksum. The second block has
10 bytes and refers to the first one."""

SKIPPED = bytes.fromhex("5a2a4d1803000000") + b"abc"
"""A frame for users' data."""

SNAPPY = bytes(cramjam.snappy.compress(CONTENT))
PADDING = b"\xfe\x02\0\0\0\0"


def changed(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + bytes([value]) + data[at + 1 :]


def test_a_block_of_lz4_may_refer_to_the_blocks_before_it() -> None:
    assert b"".join(lz4_pieces(io.BytesIO(LINKED))) == CONTENT


def test_frames_follow_one_another_and_those_of_users_are_passed_over() -> None:
    assert b"".join(lz4_pieces(io.BytesIO(SKIPPED + LINKED + SKIPPED + LINKED))) == CONTENT * 2
    assert b"".join(snappy_pieces(io.BytesIO(SNAPPY + PADDING + SNAPPY))) == CONTENT * 2


@each(
    "data, end, size",
    [
        (LINKED, 11, 0),
        (LINKED, 300, 0),
        (LINKED, 550, 65536),
        (LINKED, len(LINKED) - 1, len(CONTENT)),
        (SNAPPY, 12, 0),
        (SNAPPY, 300, 0),
        (SNAPPY, len(SNAPPY) - 1, 65536),
    ],
)
def test_a_cut_file_gives_its_whole_blocks_and_then_ends_with_an_error(
    data: bytes, end: int, size: int
) -> None:
    pieces = (lz4_pieces if data is LINKED else snappy_pieces)(io.BytesIO(data[:end]))
    whole = size // 65536 + size % 65536 // 256
    assert b"".join(islice(pieces, whole)) == CONTENT[:size]
    with pytest.raises(EOFError, match="the end cuts a frame"):
        next(pieces)


@each(
    "data, message",
    [
        (changed(LINKED, 4, 0x9C), "FLG 9c is not of version 1"),
        (changed(LINKED, 4, 0x5D), "needs a dictionary"),
        (changed(LINKED, 7, 0x02), "the checksum of the frame header"),
        (changed(LINKED, 30, 0x55), "the checksum of a block"),
        (changed(LINKED, len(LINKED) - 1, 0), "the checksum of the content"),
        (changed(LINKED, 17, 0x55), "and 65536 are allowed"),
        (LINKED + b"more", "65726f6d begins no LZ4 frame"),
    ],
)
def test_what_is_wrong_with_an_lz4_file_is_one_line(data: bytes, message: str) -> None:
    with pytest.raises(OSError, match=message):
        list(lz4_pieces(io.BytesIO(data)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (changed(SNAPPY, 14, SNAPPY[14] ^ 1), "bad checksum"),
        (changed(SNAPPY, 10, 0x7F), "a chunk of type 7f, which may not be skipped"),
        (changed(SNAPPY, 13, 0xFF), "and 76494 are allowed"),
    ],
)
def test_what_is_wrong_with_a_snappy_file_is_one_line(data: bytes, message: str) -> None:
    with pytest.raises(OSError, match=message):
        list(snappy_pieces(io.BytesIO(data)))


# --- surveys of whole logs ---


KAFKA = formats.get("kafka.log", "mixed")
SEGMENTS = SUPPORT / "segments"


def iggy(revision: str) -> Format:
    return formats.get("iggy.log", revision)


def named(found: FileSurvey, at: int) -> bool:
    """Return True if the byte is in a named place, or in the entry before one."""
    return any(one.at - 100 <= at < one.end for one in found.damages)


# --- single-bit errors ---


@each("at, data", damaged_logs.thirty_kafka())
def test_a_bit_error_anywhere_in_a_log_is_named_and_costs_one_batch(at: int, data: bytes) -> None:
    found = damaged_logs.surveyed(KAFKA, data)
    assert named(found, at)
    assert found.entries >= damaged_logs.BATCHES - 1
    assert not found.tail


@each("at, revision, data", damaged_logs.thirty_iggy())
def test_a_bit_error_anywhere_in_an_iggy_segment_is_named_and_costs_one_record(
    at: int, revision: str, data: bytes
) -> None:
    found = damaged_logs.surveyed(iggy(revision), data)
    assert any(one.at <= at < one.end for one in found.damages)
    assert (found.entries, found.tail) == (59, 0)


@pytest.mark.sweeps
def test_explain_names_sixty_bit_errors_with_exit_code_1(tmp_path: Path, wireproof: Command) -> None:
    damaged = [("kafka.log/mixed", at, data) for at, data in damaged_logs.thirty_kafka()]
    damaged += [(f"iggy.log/{revision}", at, data) for at, revision, data in damaged_logs.thirty_iggy()]
    for number, (name, at, data) in enumerate(damaged):
        path = tmp_path / f"{number:020}.log"
        path.write_bytes(data)
        done = wireproof("explain", path, code=1)
        assert f"{len(data)} bytes as {name}: damaged at " in done.out
        spans = [
            tuple(map(int, span)) for span in re.findall(r"wrong: bytes (\d+) to (\d+), entry", done.out)
        ]
        assert any(first - 100 <= at < end for first, end in spans), number


@pytest.mark.parametrize("revision", damaged_logs.IGGY)
def test_explain_of_a_sound_iggy_segment_is_quiet(revision: str, tmp_path: Path, wireproof: Command) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(damaged_logs.iggy(revision))
    done = wireproof("explain", path, code=0)
    assert f"as iggy.log/{revision}: accepted, {path.stat().st_size} bytes\n" in done.out
    assert not re.search("^(wrong|remark|or else|what to do)", done.out, re.MULTILINE)


@pytest.mark.parametrize("folder", ["closed", "compacted", "legacy"])
def test_explain_of_a_brokers_segment_is_quiet(folder: str, wireproof: Command) -> None:
    (log,) = (SEGMENTS / folder).glob("*.log")
    done = wireproof("explain", log, code=0)
    assert "agrees with its log" in done.out
    assert not re.search("^(wrong|note|or else|what to do)", done.out, re.MULTILINE)


# --- sizes that are damaged ---

ENTRIES = [logs.batch(bytes([n]) * 40, n) for n in range(6)]
LOG = b"".join(ENTRIES)
SIZE = len(ENTRIES[0])


def sized(size: int, number: int = 2) -> bytes:
    """The log with another size in one of its entries."""
    at = SIZE * number + 8
    return LOG[:at] + size.to_bytes(4, "big") + LOG[at + 4 :]


@each("size", [1 << 20, SIZE - 12 + 64, SIZE - 12 + SIZE // 2, SIZE - 12 - 8, 3, 70, 1 << 30])
def test_a_damaged_size_costs_one_entry_whatever_it_is(size: int) -> None:
    found = damaged_logs.surveyed(KAFKA, sized(size))
    assert (found.entries, found.tail) == (5, 0)
    assert [(one.at, one.end, one.number) for one in found.damages] == [(2 * SIZE, 3 * SIZE, 2)]


def test_a_damaged_size_of_the_last_entry_is_no_torn_tail() -> None:
    found = damaged_logs.surveyed(KAFKA, sized(1 << 20, number=5))
    assert (found.entries, found.tail) == (5, 0)
    assert found.damages[0].at == 5 * SIZE


@each("cut", [1, 16, 20, SIZE - 1])
def test_an_entry_that_the_end_cuts_is_a_tail(cut: int) -> None:
    found = damaged_logs.surveyed(KAFKA, LOG[: 5 * SIZE + cut])
    assert (found.entries, found.damages, found.tail) == (5, [], cut)
    assert found.wanted == (SIZE if cut > 16 else 0)


def test_a_batch_inside_a_value_of_a_cut_entry_is_no_entry_of_the_log() -> None:
    outer = logs.batch(b"<" + ENTRIES[5] + b">" * 30, 4)
    found = damaged_logs.surveyed(KAFKA, ENTRIES[3] + outer[:-5])
    assert (found.entries, found.damages, found.tail) == (1, [], len(outer) - 5)


def test_offsets_and_leader_epochs_that_do_not_rise_are_named() -> None:
    epoch = LOG[: 2 * SIZE + 12] + b"\0\0\1\0" + LOG[2 * SIZE + 16 :]
    (one,) = damaged_logs.surveyed(KAFKA, epoch).damages[:1]
    assert (one.cls, one.number, one.path) == ("leader-epoch-order", 3, "batches[3].partitionLeaderEpoch")
    swapped = ENTRIES[0] + ENTRIES[2] + ENTRIES[1]
    (one,) = damaged_logs.surveyed(KAFKA, swapped).damages
    assert (one.cls, one.at, one.text) == (
        "offsets-not-monotonic",
        2 * SIZE,
        "offset 1 after 2: one of the two is damaged",
    )


def test_the_field_that_is_wrong_is_named_at_its_place_in_the_file() -> None:
    (one,) = damaged_logs.surveyed(KAFKA, LOG[: 3 * SIZE - 1] + b"\1" + LOG[3 * SIZE :]).damages
    assert (one.cls, one.where, one.path) == ("crc-mismatch", 2 * SIZE + 17, "batches[2].crc")
    data = iggy_segments.segment("0.7", 4)
    at = iggy_segments.places("0.7", data)[2][0]
    (one,) = damaged_logs.surveyed(iggy("0.7"), data[: at + 60] + b"\0" + data[at + 61 :]).damages
    assert (one.cls, one.where, one.path) == ("crc-mismatch", at, "messages[2].checksum")


def test_a_survey_looks_at_each_byte_a_bounded_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries that claim all that follows, each before a sound one: steps are counted at two sizes."""
    looked = 0
    scan = formats.scan

    def counted(row: Format, chunks: object, options: object) -> object:
        def given() -> object:
            nonlocal looked
            for chunk in chunks:  # type: ignore[attr-defined]
                looked += len(chunk)
                yield chunk

        return scan(row, given(), options)  # type: ignore[arg-type]

    monkeypatch.setattr("wireproof.formats.scan", counted)
    monkeypatch.setattr("wireproof.wire.walk.FREE_BYTES", 1 << 14)
    costs = []
    for count in (50, 100):
        looked = 0
        bad = b"".join(sized(1 << 24, number=0)[:SIZE] + logs.batch(b"x", 2 * n + 1) for n in range(count))
        damaged_logs.surveyed(KAFKA, bad)
        costs.append(looked / len(bad))
    assert costs[1] < 1.5 * costs[0]

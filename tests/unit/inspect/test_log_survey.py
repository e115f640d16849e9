"""Surveys of whole logs: damaged places are named, and entries after them are read."""

import re
from pathlib import Path

import damaged_logs
import iggy_segments
import logs
import pytest
from command_line import Command
from each import each
from folders import SUPPORT

from wireproof import formats
from wireproof.formats import Format
from wireproof.inspect.file_survey import FileSurvey

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
        done = wireproof("explain", path)
        assert done.code == 1, number
        assert f"{len(data)} bytes as {name}: damaged at " in done.out
        spans = [
            tuple(map(int, span)) for span in re.findall(r"wrong: bytes (\d+) to (\d+), entry", done.out)
        ]
        assert any(first - 100 <= at < end for first, end in spans), number


@pytest.mark.parametrize("revision", damaged_logs.IGGY)
def test_explain_of_a_sound_iggy_segment_is_quiet(revision: str, tmp_path: Path, wireproof: Command) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(damaged_logs.iggy(revision))
    done = wireproof("explain", path)
    assert done.code == 0
    assert f"as iggy.log/{revision}: accepted, {path.stat().st_size} bytes\n" in done.out
    assert not re.search("^(wrong|remark|or else|what to do)", done.out, re.MULTILINE)


@pytest.mark.parametrize("folder", ["closed", "compacted", "legacy"])
def test_explain_of_a_brokers_segment_is_quiet(folder: str, wireproof: Command) -> None:
    (log,) = (SEGMENTS / folder).glob("*.log")
    done = wireproof("explain", log)
    assert done.code == 0
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

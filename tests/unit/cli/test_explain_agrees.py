"""`explain FILE` and `explain DIR` say the same of one segment, however it is damaged: kafka.md §13, §14."""

import json
import struct
from pathlib import Path
from typing import Any

import kafka_bytes
import pytest
from command_line import Command
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from property_profile import given

NAME = f"{0:020}.log"


def batch(base: int, **fields: int) -> bytes:
    data = bytearray(kafka_bytes.batch(kafka_bytes.record("0000 02 02 6b 02 76 00"), 1, **fields))
    struct.pack_into(">q", data, 0, base)
    return bytes(data)


TEN = [batch(base) for base in range(10)]
SIZE = len(TEN[0])


def with_size(data: bytes, by: int) -> bytes:
    (size,) = struct.unpack_from(">i", data, 8)
    return data[:8] + struct.pack(">i", size + by) + data[12:]


def written(folder: Path, data: bytes) -> Path:
    path = folder / "t-0" / NAME
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def told_by_file(wireproof: Command, path: Path) -> tuple[int, dict[str, Any]]:
    done = wireproof("explain", path, "--json")
    return done.code, json.loads(done.out.splitlines()[-1])


def told_by_folder(wireproof: Command, path: Path) -> tuple[int, dict[str, Any]]:
    done = wireproof("explain", path.parent.parent, "--json")
    trees = [json.loads(line) for line in done.out.splitlines()]
    return done.code, next(tree for tree in trees if tree["type"] == "file" and tree["name"].endswith(NAME))


@st.composite
def damaged_segments(draw: st.DrawFn) -> bytes:
    """Ten batches, some damaged or with bytes of no entry behind them; the end is cut, or zeros follow."""
    parts = list(TEN)
    for number in draw(st.lists(st.integers(0, 9), max_size=2, unique=True)):
        part = bytearray(parts[number])
        match draw(st.sampled_from(["flip", "size", "insert", "zeros"])):
            case "flip":
                part[draw(st.integers(0, SIZE - 1))] ^= 1 << draw(st.integers(0, 7))
            case "size":
                part[:] = with_size(
                    bytes(part), draw(st.sampled_from([-5, -1, 1, 5, SIZE, 3 * SIZE, 1 << 20]))
                )
            case "insert":
                part += draw(st.binary(min_size=1, max_size=40))
            case "zeros":
                part += bytes(draw(st.integers(1, 100)))
        parts[number] = bytes(part)
    data = b"".join(parts)
    return data[: len(data) - draw(st.integers(0, SIZE))] + bytes(
        draw(st.sampled_from([0, 0, 1, 12, 70, 5000]))
    )


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged_segments())
def test_a_file_and_its_folder_name_the_same_offsets_and_damage(
    wireproof: Command, tmp_path: Path, data: bytes
) -> None:
    path = written(tmp_path, data)
    (code, alone), (other_code, inside) = told_by_file(wireproof, path), told_by_folder(wireproof, path)
    names = ("firstOffset", "nextOffset", "records")
    assert {name: alone["totals"][name] for name in names} == {name: inside["facts"][name] for name in names}
    assert alone["entries"] == inside["facts"]["entries"]
    lost = {name: alone["lost"][name] for name in ("leastLost", "mostLost")}
    assert lost == {name: inside["facts"][name] for name in lost}
    ranges = [[one["firstOffset"], one["lastOffset"]] for one in alone["lost"]["places"]]
    assert [one for one in ranges if None not in one and one[0] <= one[1]] == inside["facts"]["lost"]
    assert alone["damaged"] + alone["tail"] == inside["unsound"]
    damage = ("bytes ", "the file ends within an entry")
    wrong = [one["at"] for one in inside["findings"] if one["message"].startswith(damage)]
    tail = [alone["bytes"] - alone["tail"]] if alone["tail"] else []
    assert [one["position"] for one in alone["wrong"]] + tail == wrong
    assert (code == 1) == bool(wrong)
    assert other_code == 1 or not wrong


def test_offsets_after_a_damaged_size_are_read(wireproof: Command, tmp_path: Path) -> None:
    path = written(tmp_path, b"".join([*TEN[:3], with_size(TEN[3], 5), *TEN[4:]]))
    _, alone = told_by_file(wireproof, path)
    code, inside = told_by_folder(wireproof, path)
    assert code == 1
    assert [(one["position"], one["end"]) for one in alone["wrong"]] == [(3 * SIZE, 4 * SIZE)]
    assert alone["totals"]["nextOffset"] == inside["facts"]["nextOffset"] == 10
    assert inside["facts"]["lost"] == [[3, 3]]
    text = wireproof("explain", tmp_path).out
    assert "partition t-0: 1 segment, offsets 0 to 9" in text
    assert f"lost: bytes {3 * SIZE} to {4 * SIZE}, offset 3, 1 record, written between " in text


def test_an_index_entry_behind_a_damaged_size_is_not_called_wrong(wireproof: Command, tmp_path: Path) -> None:
    path = written(tmp_path, b"".join([*TEN[:3], with_size(TEN[3], 5), *TEN[4:]]))
    path.with_suffix(".index").write_bytes(struct.pack(">ii", 4, 4 * SIZE))
    done = wireproof("explain", path.with_suffix(".index"))
    assert done.code == 0
    assert f"position {4 * SIZE} cannot be checked: the log ends at {3 * SIZE}" in done.out


@pytest.mark.parametrize("zeros", [1, 11, 12, 63, 64, 4096, 1 << 17])
@pytest.mark.parametrize("headers", [[], ["--headers"]])
def test_zeros_after_the_last_entry_are_not_written_yet(
    zeros: int, headers: list[str], wireproof: Command, tmp_path: Path
) -> None:
    path = written(tmp_path, b"".join(TEN) + bytes(zeros))
    done = wireproof("explain", path, *headers)
    end = 10 * SIZE
    assert done.code == 0
    assert done.out.startswith(f"{end + zeros} bytes as kafka.log/mixed: accepted, {end} bytes\n")
    assert f"bytes {end} to {end + zeros} are allocated and not written yet" in done.out
    assert f"{end:>12} {zeros:>9}  zeros: allocated, and not written yet" in done.out
    assert told_by_file(wireproof, path)[1]["zeros"] == zeros
    assert told_by_folder(wireproof, path)[0] == 0


def test_zeros_before_an_entry_and_zeros_in_no_file_are_damage(wireproof: Command, tmp_path: Path) -> None:
    between = written(tmp_path, b"".join(TEN[:5]) + bytes(200) + b"".join(TEN[5:]))
    assert wireproof("explain", between).code == 1
    assert wireproof("explain", (b"".join(TEN) + bytes(200)).hex()).code == 1


def test_a_padded_index_of_a_closed_segment_has_a_note(wireproof: Command, tmp_path: Path) -> None:
    path = written(tmp_path, b"".join(TEN))
    index = path.with_suffix(".timeindex")
    (timestamp,) = struct.unpack_from(">q", TEN[0], 35)
    index.write_bytes(struct.pack(">qi", timestamp, 0) + bytes(60))
    assert "KAFKA-10207" not in wireproof("explain", tmp_path).out
    (path.parent / f"{10:020}.log").write_bytes(batch(10))
    for told in (tmp_path, index, path):
        done = wireproof("explain", told)
        assert done.code == 0
        assert "at 12: 5 entries are allocated and not written, and a later segment follows" in done.out
        assert "KAFKA-10207" in done.out


def test_a_batch_with_append_time_has_this_as_its_first_time(wireproof: Command, tmp_path: Path) -> None:
    path = written(tmp_path, batch(0, attributes=8, base_time=2096, max_time=1_700_000_000_000))
    out = wireproof("explain", path).out
    assert "times 2023-11-14T22:13:20.000Z to 2023-11-14T22:13:20.000Z" in out
    assert "1970" not in out


@pytest.mark.parametrize(("magic", "said"), [(0, "codec none"), (1, "codec none, timestampType CreateTime")])
def test_the_attributes_of_a_message_are_those_of_its_magic(
    magic: int, said: str, wireproof: Command
) -> None:
    message = kafka_bytes.message(magic=magic)
    (line,) = (one for one in wireproof("explain", message.hex()).out.splitlines() if "attributes" in one)
    assert line.endswith(f"= {said}")


@pytest.mark.parametrize("size", [1 << 30, (1 << 31) - 1, -1, 0, 13])
def test_a_batch_of_which_the_size_is_damaged_is_a_batch(
    size: int, wireproof: Command, tmp_path: Path
) -> None:
    data = TEN[3][:8] + struct.pack(">i", size) + TEN[3][12:]
    path = tmp_path / "found.bin"
    path.write_bytes(data)
    for more in ([], ["--format", "kafka.batch/v2"]):
        done = wireproof("explain", path, *more)
        assert done.code == 1
        assert "as kafka." in done.out.splitlines()[0]
    assert [word for word in ("batchLength", "producerId", "recordsCount") if word not in done.out] == []
    assert str(size) in done.out


@pytest.mark.parametrize("stray", [b"\0", b"\xff" * 7, bytes(40)])
def test_a_damaged_batch_behind_stray_bytes_is_kafkas(
    stray: bytes, wireproof: Command, tmp_path: Path
) -> None:
    damaged = bytearray(batch(0, base_time=0, max_time=1_700_000_000_000))
    damaged[-2] ^= 1
    path = tmp_path / "found.bin"
    path.write_bytes(stray + bytes(damaged))
    assert " as kafka.log/mixed: damaged" in wireproof("explain", path).out.splitlines()[0]

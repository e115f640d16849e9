"""The verb `explain`: any bytes, field by field, whole and damaged. commands.md."""

import bz2
import gzip
import json
import lzma
import random
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cramjam
import kafka_bytes
import logs
import pytest
import zstandard
from command_line import Command
from goldens import golden, load
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from property_profile import given

from wireproof.cases.case import Accept, Either, Expect, Reject
from wireproof.wire.text import counted


def test_explain_reads_hex_a_file_and_standard_input(wireproof: Command, tmp_path: Path) -> None:
    text = golden("kafka.batch/v2/crc/leader-epoch-outside")
    path = tmp_path / "frame"
    path.write_bytes(bytes.fromhex(text))
    spaced = " ".join(text[at : at + 2] for at in range(0, len(text), 2))
    outs = {wireproof("explain", source).out for source in (text, spaced.upper(), path)}
    piped = subprocess.run(
        [sys.executable, "-m", "wireproof", "explain", "-"],
        input=bytes.fromhex(text), capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    assert outs == {piped.stdout.decode()}
    (out,) = outs
    assert "accepted, 79 bytes" in out
    assert "records[1]" in out
    assert "nearest fixture: kafka.batch/v2/crc/leader-epoch-outside" in out


def test_explain_marks_where_damaged_bytes_are_wrong(wireproof: Command) -> None:
    done = wireproof("explain", golden("kafka.batch/v2/crc/zero"), code=1)
    assert "refused, crc-mismatch at 17" in done.out
    assert any(line.startswith(">") and "crc" in line for line in done.out.splitlines())
    assert "nearest fixture: kafka.batch/v2/crc/zero" in done.out


def allowed_remarks(expect: Expect) -> set[str]:
    """The remarks of an expectation, or of any of the behaviours that it leaves open."""
    match expect:
        case Accept():
            return set(expect.remarks)
        case Either():
            return set().union(*(allowed_remarks(one.expect) for one in expect.behaviours))
        case _:
            return set()


@pytest.mark.parametrize("name", ["kafka.batch/v2/compression/*", "kafka.batch/v1/wrapper/*"])
def test_explain_shows_what_lies_packed_behind_its_frame(wireproof: Command, name: str) -> None:
    listed = [line.split()[0] for line in wireproof("cases", name).out.splitlines()]
    assert listed
    for one in listed:
        case = load().by_id[one]
        done = wireproof("explain", golden(one), "--format", case.format_id)
        misfit = "wrapper-crc" in allowed_remarks(case.expect)
        assert done.code == (misfit or isinstance(case.expect, Reject))
        assert ("wrong: wrapper-crc at 12 (crc): the checksum" in done.out) == misfit
        assert case.format_id in done.out
    shown = wireproof("explain", golden("kafka.batch/v1/wrapper/gzip"), "--format", "kafka.batch/v1").out
    assert "messages[0]" in shown
    assert ">" in shown


def test_explain_reads_json_and_the_base64_in_it(wireproof: Command) -> None:
    done = wireproof("explain", golden("iggy.json.poll/0.0.60/messages/two"), code=0)
    assert "as iggy.json.poll/" in done.out
    assert "accepted" in done.out
    assert "payload" in done.out


@pytest.mark.parametrize(
    ("data", "like"),
    [
        (bytes(400), "zeros"),
        (b"\xff" * 61, ""),
        (b"\x1e", ""),
        (b"\x1e" * 700, "the byte 1e, repeated"),
        (b"\x1e" * 200 + b"\x1f" * 200, ""),
        (b"{}", "JSON"),
        (b'{"', "JSON"),
        (b"\n" * 3000, "text"),
        (b"root:x:0:0:root:/root:/bin/sh\n" * 40, "text"),
        (b"PK\x03\x04" + bytes(range(90)), "a zip archive"),
        (b"\xca\xfe\xba\xbe" + bytes(range(90)), "a Java class"),
        (random.Random(9).randbytes(5000), ""),
    ],
)
def test_bytes_of_no_format_are_not_given_fields_but_a_word_for_what_they_look_like(
    wireproof: Command, tmp_path: Path, data: bytes, like: str
) -> None:
    path = tmp_path / "unknown"
    path.write_bytes(data)
    for source in (path, *[data.hex()] * (len(data) < 1000)):
        done = wireproof("explain", source)
        assert (done.code, done.out) == (2, "")
        size = counted(len(data), "byte", grouped=False)
        assert f"{size}: no format fits" in done.one_line()
        assert (f"they look like {like};" in done.err) == bool(like)


PACKERS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("bzip2", bz2.compress),
    ("xz", lzma.compress),
    ("zstd", zstandard.compress),
    ("lz4", lambda data: bytes(cramjam.lz4.compress(data))),
    ("framed snappy", lambda data: bytes(cramjam.snappy.compress(data))),
]


@pytest.mark.parametrize(("kind", "pack"), PACKERS)
def test_a_compressed_file_is_unpacked_by_its_signature(
    wireproof: Command, tmp_path: Path, kind: str, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "archive"
    path.write_bytes(pack(logs.batch(b"one", 0) + logs.batch(b"two", 1)))
    for source in (path, path.read_bytes().hex()):
        done = wireproof("explain", source, code=0)
        assert f"142 bytes (unpacked from {kind}) as kafka.log/mixed: accepted, 142 bytes\n" in done.out
    path.write_bytes(pack(b"hello" * 50))
    line = wireproof("explain", path).one_line()
    assert f"250 bytes unpacked from {kind}: no format fits; they look like text" in line


@pytest.mark.parametrize(("kind", "pack"), PACKERS)
def test_what_a_damaged_compressed_file_still_has_is_read(
    wireproof: Command, tmp_path: Path, kind: str, pack: Callable[[bytes], bytes]
) -> None:
    rng = random.Random(4)
    whole = b"".join(logs.batch(rng.randbytes(5000), offset) for offset in range(400))
    path = tmp_path / "archive"
    path.write_bytes(pack(whole)[:1_500_000])
    done = wireproof("explain", path, "--limit", 0, code=1)
    assert f"(unpacked from {kind}) as kafka.log/mixed: " in done.out
    (line,) = [line for line in done.out.splitlines() if "is damaged or cut" in line]
    assert line.startswith(f"wrong: what is compressed with {kind} is damaged or cut: ")
    (sound,) = re.findall(r"(\d+) entries are sound", done.out)
    assert int(sound) > 150


def test_bytes_that_are_only_a_tail_do_not_fit(wireproof: Command) -> None:
    done = wireproof("explain", golden("kafka.batch/v2/crc/zero")[:40], "--format", "kafka.log", code=1)
    assert "wrong: bytes 0 to 20: the file ends within an entry, 20 of 79 bytes of it" in done.out
    out = wireproof("explain", golden("iggy.log/0.7/records/worked")).out
    assert "0.11 not, nothing in it is whole" in out


def test_a_remark_on_sound_bytes_is_one_line_of_words_and_a_count(wireproof: Command) -> None:
    one = logs.kafka_bytes.batch(producer=1000)
    done = wireproof("explain", (one + one[:7] + b"\1" + one[8:]).hex(), "--format", "kafka.log", code=0)
    (line,) = [line for line in done.out.splitlines() if line.startswith("remark ")]
    assert line.startswith("remark producer-fields, 2 times, first at 43 (batches[0].producerId): ")
    assert "a producer id without epoch or sequence" in line
    assert line.endswith("; allowed, and so is a refusal")


def test_explain_tries_the_revisions_that_are_named(wireproof: Command) -> None:
    text = golden("kafka.batch/v1/message/attributes-high-bits")
    assert "as kafka.batch/v1" in wireproof("explain", text, "--format", "kafka.batch").out
    assert "bad-magic" in wireproof("explain", text, "--format", "kafka.batch/v2").out


def test_explain_names_the_revisions_that_fit(wireproof: Command) -> None:
    """iggy.md §1: 0.7 and 0.8 differ in the checksum alone, 0.9 has another message header."""
    out = wireproof("explain", golden("iggy.poll/0.8/messages/worked")).out
    assert "as iggy.poll/0.8: accepted, 159 bytes" in out
    (line,) = [line for line in out.splitlines() if line.startswith("revisions of iggy.poll: ")]
    assert "; 0.7 fits with iggy-message-checksum; 0.8 fits; 0.9 not, reserved-nonzero at 72; " in line
    assert "; 0.11 not, " in line


# --- `explain FILE` and `explain DIR` say the same of one segment ---


NAME = f"{0:020}.log"


def batch(base: int, **fields: int) -> bytes:
    return kafka_bytes.batch(kafka_bytes.record("0000 02 02 6b 02 76 00"), base=base, **fields)


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
    done = wireproof("explain", path.with_suffix(".index"), code=0)
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
        done = wireproof("explain", told, code=0)
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
        done = wireproof("explain", path, *more, code=1)
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

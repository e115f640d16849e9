"""The verb `explain`: any bytes, field by field. commands.md."""

import bz2
import gzip
import lzma
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import cramjam
import logs
import pytest
import zstandard
from command_line import Command
from goldens import golden, load

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
    done = wireproof("explain", golden("kafka.batch/v2/crc/zero"))
    assert done.code == 1
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
    done = wireproof("explain", golden("iggy.json.poll/0.0.60/messages/two"))
    assert done.code == 0
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
        done = wireproof("explain", source)
        assert done.code == 0
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
    done = wireproof("explain", path, "--limit", 0)
    assert done.code == 1
    assert f"(unpacked from {kind}) as kafka.log/mixed: " in done.out
    (line,) = [line for line in done.out.splitlines() if "is damaged or cut" in line]
    assert line.startswith(f"wrong: what is compressed with {kind} is damaged or cut: ")
    (sound,) = re.findall(r"(\d+) entries are sound", done.out)
    assert int(sound) > 150


def test_bytes_that_are_only_a_tail_do_not_fit(wireproof: Command) -> None:
    done = wireproof("explain", golden("kafka.batch/v2/crc/zero")[:40], "--format", "kafka.log")
    assert done.code == 1
    assert "wrong: bytes 0 to 20: the file ends within an entry, 20 of 79 bytes of it" in done.out
    out = wireproof("explain", golden("iggy.log/0.7/records/worked")).out
    assert "0.11 not, nothing in it is whole" in out


def test_a_remark_on_sound_bytes_is_one_line_of_words_and_a_count(wireproof: Command) -> None:
    one = logs.kafka_bytes.batch(producer=1000)
    done = wireproof("explain", (one + one[:7] + b"\1" + one[8:]).hex(), "--format", "kafka.log")
    assert done.code == 0
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

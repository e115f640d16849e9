"""The verb `explain`: any bytes, field by field. Design, section 6."""

import subprocess
import sys
from pathlib import Path

import pytest
from commands import Command
from goldens import load


def golden(name: str) -> str:
    """The bytes of a golden case, in hex."""
    case = load().by_id[name]
    return case.input.data.hex()  # type: ignore[union-attr]


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
    assert done.code == 0
    assert "refused, crc-mismatch at 17" in done.out
    assert any(line.startswith(">") and "crc" in line for line in done.out.splitlines())
    assert "nearest fixture: kafka.batch/v2/crc/zero" in done.out


@pytest.mark.parametrize("name", ["kafka.batch/v2/compression/*", "kafka.batch/v1/wrapper/*"])
def test_explain_shows_what_lies_packed_behind_its_frame(wireproof: Command, name: str) -> None:
    listed = [line.split()[0] for line in wireproof("cases", name).out.splitlines()]
    assert listed
    for one in listed:
        case = load().by_id[one]
        done = wireproof("explain", golden(one), "--format", case.joined)
        assert done.code == 0
        assert case.joined in done.out
    shown = wireproof("explain", golden("kafka.batch/v1/wrapper/gzip"), "--format", "kafka.batch/v1").out
    assert "messages[0]" in shown
    assert ">" in shown


def test_explain_reads_json_and_the_base64_in_it(wireproof: Command) -> None:
    done = wireproof("explain", golden("iggy.json.poll/0.0.60/messages/two"))
    assert done.code == 0
    assert "as iggy.json.poll/" in done.out
    assert "accepted" in done.out
    assert "payload" in done.out


@pytest.mark.parametrize("data", ["00" * 400, "ff" * 61, "1e", "7b7d", "7b22", "0a" * 3000])
def test_explain_has_an_answer_for_any_bytes(wireproof: Command, data: str) -> None:
    done = wireproof("explain", data)
    assert done.code == 0
    assert done.err == ""
    assert f"{len(data) // 2} bytes as " in done.out


def test_explain_tries_the_revisions_that_it_is_told(wireproof: Command) -> None:
    text = golden("kafka.batch/v1/message/attributes-high-bits")
    assert "as kafka.batch/v1" in wireproof("explain", text, "--format", "kafka.batch").out
    assert "bad-magic" in wireproof("explain", text, "--format", "kafka.batch/v2").out


def test_explain_says_which_editions_fit(wireproof: Command) -> None:
    """iggy.md §1: 0.7 and 0.8 differ in the checksum alone, 0.9 has another message header."""
    out = wireproof("explain", golden("iggy.poll/0.8/messages/worked")).out
    assert "as iggy.poll/0.8: accepted, 159 bytes" in out
    (line,) = [line for line in out.splitlines() if line.startswith("editions of iggy.poll: ")]
    assert "; 0.7 fits with iggy-message-checksum; 0.8 fits; 0.9 not, reserved-nonzero at 72; " in line
    assert "; 0.11 not, " in line

"""A scan hides nothing: what it did not read, what is damaged, and the exit code of that."""

import errno
import gzip
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import damaged_logs
import iggy_segments
import logs
import pytest
import spark_scans
from command_line import Command
from folders import SUPPORT
from pyspark.sql import SparkSession

from tests.mutants.registry import spec_of
from wireproof.spark import session
from wireproof.spark.errors import SourceError
from wireproof.spark.scan_folder import FolderScan
from wireproof.spark.verdict_rows import MAX_ASKED_BYTES

pytestmark = pytest.mark.spark

LOG = b"".join(logs.batch(bytes([n]) * 60, n) for n in range(50))
ENTRY = len(LOG) // 50


@pytest.fixture
def scanned(wireproof: Command, tmp_path: Path, spark: SparkSession) -> Command:  # noqa: ARG001 - the active session
    """The verb `scan`, in the session of the tests."""
    return lambda *words: wireproof("scan", *words, "--out", tmp_path / "out")


def put(folder: Path, **files: bytes) -> Path:
    for name, data in files.items():
        path = folder / name.replace("__of__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def table(tmp_path: Path, name: str) -> list[dict[str, Any]]:
    return spark_scans.table(tmp_path / "out", name)


def test_internal_topics_are_read_and_what_is_hidden_is_listed(scanned: Command, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for name in ("__consumer_offsets-0", "__cluster_metadata-0", "_schemas-0", "orders-1"):
        write(folder / name / "00000000000000000000.log", LOG)
    write(folder / "_temporary" / "0" / "a.log", LOG)
    write(folder / "orders-1" / ".00000000000000000000.log.crc", b"crc")
    write(folder / "_SUCCESS", b"")
    write(folder / "orders-1" / "partition.metadata", b"version: 0")
    done = scanned(folder)
    assert done.code == 0
    assert "4 objects, " in done.out
    assert "not read: 3 objects, 4,2" in done.out.replace(f"{len(LOG) + 3:,}", "4,2")
    assert "not read: 1 object, 10 bytes: not named as a log: " in done.out
    assert [Path(row["path"]).name for row in table(tmp_path, "skipped")] == [
        "_SUCCESS",
        "a.log",
        ".00000000000000000000.log.crc",
        "partition.metadata",
    ]


def test_a_damaged_segment_that_is_added_to_a_scanned_folder_is_read(
    scanned: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    write(folder / "00000000000000000000.log", LOG)
    assert scanned(folder).code == 0
    damaged = LOG[:100] + bytes([LOG[100] ^ 1]) + LOG[101:]
    added = write(folder / "00000000000000000050.log", damaged)
    done = scanned(folder)
    assert done.code == 1
    assert f"new: 1 object: {added}" in done.out
    assert f"wrong: {added}: bytes 0 to {ENTRY}: crc-mismatch" in done.out.replace(f"{ENTRY} to", "0 to")
    assert {row["path"]: row["bytes_read"] for row in table(tmp_path, "files")} == {
        str(folder / "00000000000000000000.log"): len(LOG),
        str(added): len(LOG),
    }
    with added.open("ab") as file:
        file.write(b"\0")
    grown = scanned(folder)
    assert grown.code == 1
    assert (
        f"changed: 1 object: {added} ({len(LOG):,} bytes, now {len(LOG) + 1:,}; read again from 0)"
        in grown.out
    )
    assert sum(row["bytes_read"] for row in table(tmp_path, "files")) == 2 * len(LOG) + 1
    added.unlink()
    sound = scanned(folder)
    assert (sound.code, f"gone, and no longer in the tables: 1 object: {added}" in sound.out) == (0, True)


def test_two_scans_are_compared_by_what_is_new_and_what_is_gone(
    scanned: Command, wireproof: Command, tmp_path: Path
) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    damaged = LOG[:100] + bytes([LOG[100] ^ 1]) + LOG[101:]
    first, second = write(folder / "a.log", LOG), write(folder / "b.log", damaged)
    words = (folder, "--adapter", spec_of("mutant:crc-skip"))
    assert scanned(*words).code == 1
    one = wireproof("diff", out)
    why = "holds one scan: name another folder, or scan again"
    assert (one.code, one.err) == (2, f"wireproof: {out} {why}\n")
    first.write_bytes(damaged)
    second.write_bytes(LOG)
    assert scanned(*words).code == 1
    done = wireproof("diff", out)
    finding = f"{spec_of('mutant:crc-skip')} · fail:wrong-accept · crc-mismatch · crc"
    assert done.out.splitlines() == [
        f"new: {first}: bytes 0 to {ENTRY}: crc-mismatch",
        f"gone: {second}: bytes 0 to {ENTRY}: crc-mismatch",
        f"new: {first}: bytes 0 to {ENTRY}: {finding}",
        f"gone: {second}: bytes 0 to {ENTRY}: {finding}",
    ]
    assert done.code == 1
    same = wireproof("diff", out, out)
    assert (same.code, same.out) == (0, "no change\n")
    assert wireproof("diff", tmp_path).code == 2


def test_what_cannot_be_unpacked_is_named_and_what_unpacks_before_the_cut_is_read(
    scanned: Command, tmp_path: Path
) -> None:
    packed = gzip.compress(os.urandom(8) + LOG, 9)
    cut = gzip.compress(LOG)
    write(tmp_path / "in" / "cut.log.gz", cut[: len(cut) - 12])
    write(tmp_path / "in" / "noise.log.gz", b"\x07" + packed)
    write(tmp_path / "in" / "whole.log.gz", cut)
    done = scanned(tmp_path / "in")
    assert done.code == 1
    for name in ("cut.log.gz", "noise.log.gz"):
        assert f"not read to its end: {tmp_path / 'in' / name}: decompress-failed, " in done.out
    files = {Path(row["path"]).name: row for row in table(tmp_path, "files")}
    assert files["cut.log.gz"]["frames"] >= 48
    assert (files["noise.log.gz"]["bytes_read"], files["whole.log.gz"]["frames"]) == (0, 50)


def test_links_that_form_a_loop_are_followed_once_and_each_object_is_read_once(
    scanned: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    write(folder / "a" / "0.log", LOG)
    (folder / "a" / "again").symlink_to(folder)
    (folder / "b").symlink_to(folder / "a")
    (folder / "other.log").symlink_to(folder / "a" / "0.log")
    done = scanned(folder)
    assert done.code == 0
    assert "1 object, " in done.out
    assert {
        Path(row["path"]).name: row["reason"].partition(",")[0] for row in table(tmp_path, "skipped")
    } == {
        "other.log": "another path of an object that is read",
    }


def test_what_cannot_be_read_is_listed_with_exit_code_1_and_the_rest_is_read(
    scanned: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "in"
    write(folder / "a.log", LOG)
    write(folder / "empty.log", b"")
    assert scanned(folder).code == 0, "a new segment of a broker is empty"
    locked = write(folder / "locked.log", LOG)
    (folder / "gone.log").symlink_to(folder / "nothing")
    os.mkfifo(folder / "pipe.log")
    opened = Path.open

    def refused(path: Path, *words: Any, **more: Any) -> Any:
        if path == locked:  # permissions do not stop root
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, *words, **more)

    monkeypatch.setattr(Path, "open", refused)
    done = scanned(folder)
    assert done.code == 1
    assert "1 object, " in done.out
    for name, reason in (
        ("locked", "cannot be read: Permission denied"),
        ("gone", "a broken link"),
        ("pipe", "neither a file nor a folder"),
    ):
        assert f": {reason}: {folder / name}.log\n" in done.out
    (folder / "gone.log").unlink()
    (folder / "pipe.log").unlink()
    monkeypatch.setattr(Path, "open", opened)
    assert (scanned(folder).code, len(table(tmp_path, "files"))) == (0, 2), "it is read once it can be"


def test_what_is_lost_between_listing_and_reading_is_listed_and_the_rest_is_read(
    scanned: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "in"
    sound = write(folder / "a.log", LOG)
    shorter, vanished = write(folder / "b.log", LOG), write(folder / "c.log", LOG)
    packed = write(folder / "d.log.gz", gzip.compress(LOG))
    replaced = write(folder / "e.log", LOG)

    run = FolderScan.run

    def losing(job: FolderScan, *words: Any) -> Any:
        shorter.write_bytes(LOG[:1000])
        for path in (vanished, packed, replaced):
            path.unlink()
        replaced.mkdir()
        return run(job, *words)

    with monkeypatch.context() as patch:
        patch.setattr(FolderScan, "run", losing)
        done = scanned(folder)
    assert (done.code, done.err) == (1, "")
    gone = "cannot be read: No such file or directory"
    wanted = {
        shorter: f"cannot be read: it had {len(LOG)} bytes and ends at 1000",
        vanished: gone,
        packed: gone,
        replaced: "cannot be read: Is a directory",
    }
    assert {Path(row["path"]): row["reason"] for row in table(tmp_path, "skipped")} == wanted
    assert f"not read: 1 object, {len(LOG):,} bytes: {wanted[shorter]}: {shorter}\n" in done.out
    assert [row["path"] for row in table(tmp_path, "files")] == [str(sound)]
    replaced.rmdir()
    write(vanished, LOG)
    again = scanned(folder)
    assert f"new: 2 objects: {shorter}, {vanished}\n" in again.out
    assert [row["path"] for row in table(tmp_path, "files")] == list(map(str, (sound, shorter, vanished)))


def test_an_entry_too_large_for_an_adapter_is_not_run_with_its_size(scanned: Command, tmp_path: Path) -> None:
    large = logs.batch(bytes(MAX_ASKED_BYTES), 50)
    write(tmp_path / "in" / "a.log", LOG + large)
    done = scanned(tmp_path / "in", "--adapter", "reference")
    assert done.code == 4
    assert f"not run: reference was not asked about 1 entry of {len(large):,} bytes together" in done.out
    [row] = [row for row in table(tmp_path, "signatures") if row["verdict"] == "not-run"]
    assert (row["format"], row["class"], row["bytes"]) == ("kafka.batch/v2", "too-large", len(large))
    last = spark_scans.frames(tmp_path / "out")[-1]
    assert last["format"] == "kafka.batch/v2"
    assert [(one["verdict"], one["class"]) for one in last["verdicts"]] == [("not-run", "too-large")]


@pytest.mark.parametrize("revision", ["0.0.30", "0.2.7", "0.7", "0.9", "0.11"])
def test_the_revision_of_iggy_segments_is_found_if_none_is_named(
    scanned: Command, tmp_path: Path, revision: str
) -> None:
    data = iggy_segments.segment(revision)
    write(tmp_path / "in" / "00000000000000000000.log", data)
    done = scanned(tmp_path / "in", "--source", "iggy_log")
    assert done.code == 0
    assert f"read as iggy.log/{revision}, the revision of the first segment" in done.out
    [row] = table(tmp_path, "files")
    assert (row["frames"], row["frame_bytes"]) == (60, len(data))


def test_an_object_of_another_revision_or_system_is_named_with_the_command_that_fits(
    scanned: Command, tmp_path: Path
) -> None:
    write(tmp_path / "in" / "iggy" / "00000000000000000000.log", iggy_segments.segment("0.7"))
    write(tmp_path / "in" / "packed.log", gzip.compress(LOG))
    write(tmp_path / "in" / "kafka.log", LOG)
    done = scanned(tmp_path / "in")
    assert done.code == 1
    assert (
        "contains no complete entry of kafka.log/mixed; scan it with --source iggy_log --revision 0.7\n"
        in done.out
    )
    assert "packed.log: it contains no complete entry of kafka.log/mixed; it looks like gzip\n" in done.out
    assert "kafka.log: it contains no" not in done.out


def test_a_stream_of_snappy_messages_is_read_with_the_option_that_the_scan_names(
    scanned: Command, tmp_path: Path
) -> None:
    data = [logs.snappy_heka_frame(payload * 9) for payload in (b"one", b"two", b"three")]
    path = write(tmp_path / "in" / "packed.heka", b"".join(data))
    words = ("--source", "heka_stream", path)
    done = scanned(*words)
    assert done.code == 1
    assert (
        f"{path}: bytes 0 to {len(data[0])} are compressed with snappy: "
        "if all entries are, scan again to another folder with --compression snappy\n" in done.out
    )
    shutil.rmtree(tmp_path / "out")
    assert scanned(*words, "--compression", "snappy").code == 0
    [row] = table(tmp_path, "files")
    assert (row["frames"], row["frame_bytes"], row["garbage_bytes"]) == (3, len(b"".join(data)), 0)


@pytest.mark.parametrize(
    "source", ["kafka_log", *(pytest.param(one, marks=pytest.mark.sweeps) for one in damaged_logs.IGGY)]
)
def test_thirty_bit_errors_are_each_named_with_exit_code_1(
    scanned: Command, tmp_path: Path, source: str
) -> None:
    kafka = source == "kafka_log"
    damaged = damaged_logs.thirty_kafka() if kafka else damaged_logs.thirty_of(source)
    wrong = {}
    for number, (at, data) in enumerate(damaged):
        wrong[str(write(tmp_path / "in" / f"{number:020}.log", data))] = at
    done = scanned(tmp_path / "in", "--source", source if kafka else "iggy_log")
    assert done.code == 1
    assert all(f"wrong: {path}: bytes " in done.out for path in wrong)
    rows = table(tmp_path, "damage")
    assert len(rows) < 60
    for path, at in wrong.items():
        places = [(row["position"], row["length"]) for row in rows if row["path"] == path]
        assert any(first - 100 <= at < first + length for first, length in places), path


@pytest.mark.parametrize(
    ("data", "words", "code", "counts", "lines"),
    [
        (LOG[: 8 + ENTRY] + b"\0\x10\0\0" + LOG[12 + ENTRY :], (), 1, (49, 1, 0),
         [f"{{}}: bytes {ENTRY} to {2 * ENTRY}: bad-length\n"]),
        (LOG[:-10], (), 0, (49, 0, 1), [f"1 object ends within an entry: {{}} ({ENTRY - 10} bytes)"]),
        (LOG[:ENTRY], ("--max-message", ENTRY - 13), 1, (0, 1, 0),
         [f"{{}}: bytes 0 to {ENTRY}: limit-exceeded\n", "with --max-message BYTES"]),
    ],
    ids=["a damaged size does not hide what is behind it", "cut", "over a limit, and no unknown format"],
)  # fmt: skip
def test_a_damaged_place_is_named_and_nothing_else(
    scanned: Command, tmp_path: Path, data: bytes, words: Any, code: int, counts: Any, lines: list[str]
) -> None:
    path = write(tmp_path / "in" / "a.log", data)
    done = scanned(tmp_path / "in", *words)
    assert done.code == code
    [row] = table(tmp_path, "files")
    assert (row["frames"], row["garbage"], row["tails"]) == counts
    assert [line for line in lines if line.format(path) not in done.out] == []
    assert "no known format" not in done.out


@pytest.mark.parametrize("grain", [1 << 30, 3 * ENTRY])
def test_order_is_looked_at_across_the_spans_of_an_object(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grain: int
) -> None:
    data = LOG[: 12 * ENTRY] + LOG[5 * ENTRY : 6 * ENTRY] + LOG[12 * ENTRY :]
    write(tmp_path / "in" / "00000000000000000000.log", data)
    monkeypatch.setattr("wireproof.spark.scan_job.SPAN_BYTES", grain)
    spark_scans.scanned(spark, tmp_path / "in", tmp_path / "out")
    assert [(row["position"], row["class"]) for row in table(tmp_path, "damage")] == [
        (12 * ENTRY, "offsets-not-monotonic")
    ]


@pytest.mark.parametrize("folder", ["closed", "compacted", "legacy"])
def test_a_brokers_segment_with_its_indexes_raises_no_alarm(scanned: Command, folder: str) -> None:
    done = scanned(SUPPORT / "segments" / folder)
    assert done.code == 0
    assert "wrong: " not in done.out
    assert ", 0 findings that mislead a reader" in done.out


def test_damage_stands_before_the_tables_and_an_index_file_has_one_line(
    scanned: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    path = write(folder / "00000000000000000000.log", LOG[:100] + bytes([LOG[100] ^ 1]) + LOG[101:])
    index = write(path.with_suffix(".index"), b"".join(struct.pack(">ii", n, 7) for n in range(1, 9)))
    lines = scanned(folder).out.splitlines()
    places = [n for n, line in enumerate(lines) if line.startswith(f"wrong: {path}: bytes ")]
    table = next(n for n, line in enumerate(lines) if line.startswith("1 object, "))
    of_index = [n for n, line in enumerate(lines) if line.startswith(f"wrong: {index} ")]
    assert places[-1] < table < of_index[0]
    assert len(of_index) == 1
    assert re.search(r"; \d+ more findings in this file$", lines[of_index[0]])


def test_spark_s_log_is_in_a_file_that_an_error_names(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "spark.log"

    def failing() -> None:
        with session.spark_errors(log) as console:
            subprocess.run([sys.executable, "-c", "import sys; sys.stderr.write('WARN of Java')"], check=True)
            console.print("the bar")
            raise SourceError("an object changed")

    with pytest.raises(SourceError) as raised:
        failing()
    assert str(raised.value) == f"an object changed; Spark's log: {log}"
    assert log.read_text() == "WARN of Java"
    assert capfd.readouterr().err == "the bar\n"
    with session.spark_errors(tmp_path / "empty.log"):
        sys.stderr.write("")
    subprocess.run([sys.executable, "-c", "import sys; sys.stderr.write('afterwards')"], check=True)
    assert capfd.readouterr().err == "afterwards"

"""The tables of a scan, and that they come out the same however the scan was divided, asked or cut off."""

import gzip
import logging
import re
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import kafka_bytes
import logs
import pytest
from command_line import Command
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession
from spark_scans import frames, planned, scanned, table, tables

from tests.mutants.registry import spec_of
from wireproof.cli.common.standard_output import exit_of
from wireproof.install_hint import install_command
from wireproof.run.exit_codes import Exit
from wireproof.spark import scan_folder, scan_job, session, verdict_rows
from wireproof.spark.batches import TaskCounts
from wireproof.spark.errors import JavaEndedError, SourceError
from wireproof.spark.job_state import STATE
from wireproof.spark.verdict_rows import span_rows

MUTANT = spec_of("mutant:crc-skip")

GOOD = [logs.batch(bytes([n % 251]) * 900, n) for n in range(1200)]
FLIPPED = GOOD[1][:500] + bytes([GOOD[1][500] ^ 1]) + GOOD[1][501:]


def damaged() -> tuple[bytes, Counter[str]]:
    """A log with damage at known places, and the manifest of expected results."""
    parts, ledger = list(GOOD), Counter[str]()
    for number in range(50, 1200, 300):
        flipped = bytearray(parts[number])
        flipped[500] ^= 1
        parts[number] = bytes(flipped)
        ledger["crc-mismatch"] += 1
    for number in range(100, 1200, 500):
        parts[number] = b"\xff" * 77 + parts[number]
        ledger["bad-length"] += 1
    ledger["frame"] = len(parts) - ledger["crc-mismatch"]
    return b"".join(parts) + GOOD[0][:100], ledger


@pytest.mark.spark
def test_the_counts_are_those_of_the_manifest_and_every_byte_is_in_a_row(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one span and in many, which Spark cut: the rows are the same, but for the span that they name."""
    data, ledger = damaged()
    folder = logs.write(tmp_path / "in", **{f"{0:020}": data})
    told: list[tuple[int, int, TaskCounts]] = []
    one = planned(folder, tmp_path / "one").run(spark, lambda *now: told.append(now))
    monkeypatch.setattr(scan_job, "SPAN_BYTES", 100_000)
    scanned(spark, folder, tmp_path / "many")
    assert {row["class"] or row["verdict"]: row["count"] for row in one.tables["signatures"]} == {
        **ledger,
        "tail": 1,
    }
    [file] = one.tables["files"]
    assert file["bytes_read"] == file["size"] == len(data)
    assert sum(row["length"] for row in frames(tmp_path / "one")) == len(data)
    assert (file["tails"], file["tail_bytes"], file["garbage_bytes"]) == (1, 100, 77 * 3 + 970 * 4)
    assert tables(tmp_path / "one") == tables(tmp_path / "many")
    rows = [[{**row, "span": 0} for row in frames(tmp_path / name)] for name in ("one", "many")]
    assert rows[0] == rows[1]
    assert len({row["span"] for row in frames(tmp_path / "many")}) > 8
    assert told[0] == (0, len(data), TaskCounts(phase="looking for entries"))
    assert told[-1] == (len(data), len(data), TaskCounts(phase="making the tables"))


@pytest.mark.spark
def test_samples_are_the_smallest_of_each_finding(spark: SparkSession, tmp_path: Path) -> None:
    short = bytearray(logs.batch(b"short"))
    short[-2] ^= 1
    data, _ = damaged()
    scanned(spark, logs.write(tmp_path / "in", a=data[:-100] + bytes(short)), tmp_path / "out")
    found = [row for row in table(tmp_path / "out", "samples") if row["class"] == "crc-mismatch"]
    assert [len(row["raw"]) for row in found] == [len(short), 970, 970]
    assert found[0]["raw"] == bytes(short)


@pytest.mark.spark
def test_an_adapter_that_misses_the_damage_is_named_with_its_cluster(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = logs.write(tmp_path / "in", a=GOOD[0] + FLIPPED + GOOD[2] + b"\xff" * 40)
    scanned(spark, folder, tmp_path / "out", MUTANT, "reference")
    rows = frames(tmp_path / "out")
    verdicts = [
        {one["implementation"]: (one["verdict"], one["cluster"]) for one in row["verdicts"]} for row in rows
    ]
    assert verdicts[0][MUTANT] == ("pass:canonical", "accepted")
    assert verdicts[1]["reference"] == ("pass:canonical", "refused")
    label, cluster = verdicts[1][MUTANT]
    assert (label, len(cluster)) == ("fail:wrong-accept", 16)
    assert verdicts[3] == {}, "bytes that are no entry are no question"
    found = [row for row in table(tmp_path / "out", "samples") if row["implementation"] == MUTANT]
    assert [(row["verdict"], row["class"], row["raw"]) for row in found] == [
        ("fail:wrong-accept", "crc-mismatch", FLIPPED)
    ]
    [finding] = table(tmp_path / "out", "failures")
    assert (finding["position"], finding["implementation"], finding["finding"]) == (
        970, MUTANT, found[0]["finding"],
    )  # fmt: skip


def rows_of(folder: Path, *adapters: str, source: str = "kafka_log") -> list[dict[str, Any]]:
    """The rows of the objects of a folder, made in this process."""
    job = planned(folder, folder.parent / f"out{len(adapters)}", *adapters, source=source)
    batches = [batch for span in job.ranges for batch in span_rows(job.settings.source, adapters, span)]
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.sweeps
def test_with_and_without_adapters_the_reference_says_the_same(tmp_path: Path) -> None:
    """One way goes through the fast decoders, the other through the reference's own items."""
    data = b"".join(log for *_, framing, case, log in logs.of_fixtures() if case.format.startswith("kafka"))
    folder = logs.write(tmp_path / "in", **{f"{0:020}": data[:40_000]})
    alone, asked = rows_of(folder), rows_of(folder, "reference")
    assert alone == [{**row, "verdicts": []} for row in asked]
    labels = {one["verdict"] for row in asked for one in row["verdicts"]}
    assert labels <= {"pass:canonical", "pass:semantic"}


def test_a_frame_that_kills_an_adapter_costs_that_frame_one_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deadly.py").write_text(
        "import os\n"
        "from wireproof.adapters.reference import Reference\n"
        "class Deadly:\n"
        "    name, version = 'deadly', '1'\n"
        "    revisions = {'kafka.batch/v2': {'ops': ['decode']}}\n"
        "    def decode(self, request):\n"
        "        if b'poison' in request.data: os.kill(os.getpid(), 11)\n"
        "        return Reference().decode(request)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    entries = [logs.batch(b"poison" if n in (3, 7) else b"fine", n) for n in range(12)]
    found = rows_of(logs.write(tmp_path / "in", a=b"".join(entries)), "py:deadly:Deadly")
    labels = [row["verdicts"][0]["verdict"] for row in found]
    assert labels == ["crash" if n in (3, 7) else "pass:canonical" for n in range(12)]


TROUBLED = """
import os, time
from attrs import evolve
from wireproof.adapters.reference import Reference
from wireproof.cases.outcome import Refused
class Troubled(Reference):
    name = 'troubled'
    seen = ['attributes', 'records[].headers']
    revisions = {'kafka.batch/v2': {'ops': ['decode'], 'codecs': ['none'], 'observes': seen}}
    def decode(self, request):
        told = super().decode(request)
        match int.from_bytes(request.data[:8]):
            case 70 | 515: os.kill(os.getpid(), 11)
            case 71: os._exit(0)
            case 90: time.sleep(60)
            case 99 | 520: return [bytes(1 << 40)]
            case 11 | 610: return Refused('other')
            case 12 | 611: raise ValueError('no')
            case 20 | 620: return evolve(told, consumed=told.consumed - 1)
            case 21 | 621: return evolve(told, consumed=told.consumed + 1)
            case 22 | 622: return evolve(told, consumed=None)
            case 23 | 623: return evolve(told, value={**told.value, 'attributes': '9'})
            case 24 | 624: return evolve(told, value={**told.value, 'surplus': '9'})
            case 25 | 625: return evolve(told, remarks=('unused-bits',))
        return told
"""


@pytest.mark.sweeps
def test_answers_asked_ahead_and_one_by_one_are_judged_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever they are: many are sent ahead of the judge, or each is judged before the next one is sent."""
    (tmp_path / "troubled_scan.py").write_text(TROUBLED, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    entries = [logs.batch(b"%d" % n, n) for n in range(700)]
    entries[30] = kafka_bytes.batch(gzip.compress(kafka_bytes.PLAIN), base=30, attributes=1)
    entries[31] = bytes([*entries[31][:-1], entries[31][-1] ^ 1])
    folder = logs.write(tmp_path / "in", a=b"".join(entries))
    adapters = ("py:troubled_scan:Troubled", "reference")
    ahead = rows_of(folder, *adapters)
    monkeypatch.setattr(verdict_rows, "GROUPS_AHEAD", 0)
    monkeypatch.setattr(verdict_rows, "MAX_ITEMS", 1)
    assert rows_of(folder, *adapters) == ahead
    labels = Counter(row["verdicts"][0]["verdict"] for row in ahead)
    assert {label: count for label, count in labels.items() if not label.startswith("pass:")} == {
        "crash": 3, "timeout": 1, "resource:memory": 2, "fail:wrong-reject": 4, "fail:under-read": 2,
        "fail:over-read": 2, "unsupported": 1, "fail:wrong-value": 2,
    }  # fmt: skip


def test_heka_frames_are_asked_as_messages(tmp_path: Path) -> None:
    bad = b"\x1e\x02\x08\x05\x1f?????"
    folder = logs.write(tmp_path / "in", a=logs.heka_frame(b"a") + bad + logs.heka_frame(b"b"))
    found = rows_of(folder, "reference", source="heka_stream")
    shown = [(row["format"], row["kind"], *[one["verdict"] for one in row["verdicts"]]) for row in found]
    assert shown == [
        ("heka.message/0.10", "frame", "pass:canonical"),
        ("heka.message/0.10", "garbage", "pass:canonical"),
        ("heka.message/0.10", "frame", "pass:canonical"),
    ]


@pytest.mark.parametrize("offset", [0, 2**63 - 1])
def test_facts_of_an_entry_are_in_its_row(tmp_path: Path, offset: int) -> None:
    [row] = rows_of(logs.write(tmp_path / "orders-3", a=logs.batch(b"x", offset)))
    facts = ("topic", "partition", "first_offset", "last_offset", "leader_epoch", "codec", "records")
    assert [row[name] for name in facts] == ["orders", 3, offset, offset, 0, "none", 1]
    assert (row["timestamp_number"], f"{row['timestamp']:%Y-%m-%d}") == (1700000000000, "2023-11-14")


def test_a_folder_of_another_scan_is_said_in_one_line(tmp_path: Path) -> None:
    folder = logs.write(tmp_path / "in", a=GOOD[0])
    planned(folder, tmp_path / "out")
    with pytest.raises(SourceError, match="holds a scan with other adapters: choose another folder"):
        planned(folder, tmp_path / "out", "reference")
    with pytest.raises(SourceError, match="is not empty and holds no scan"):
        planned(folder, tmp_path / "in")


# --- the same command again ---

WHOLE = b"".join(GOOD[:60])
OTHER = b"".join(GOOD[100:160])
LATER: dict[str, tuple[bytes | None, bytes | None, str]] = {
    "unchanged": (WHOLE, WHOLE, ""),
    "new": (None, GOOD[0] + FLIPPED, "new"),
    "was-empty": (b"", FLIPPED, "new"),
    "byte-more": (WHOLE, WHOLE + b"\0", "read on from 57,230"),
    "entries-more": (WHOLE, WHOLE + FLIPPED + GOOD[61], "read on from 57,230"),
    "rest-of-an-entry": (WHOLE + GOOD[60][:500], WHOLE + GOOD[60] + GOOD[61], "read on from 57,230"),
    "damaged-in-place": (WHOLE, FLIPPED + WHOLE[970:], "read again from 0"),
    "cut": (WHOLE, WHOLE[:-1], "read again from 0"),
    "another-and-longer": (WHOLE, OTHER + WHOLE, "read again from 0"),
    "grown-after-damage": (FLIPPED + WHOLE, FLIPPED + WHOLE + GOOD[61], "read again from 0"),
    "cut-to-nothing": (WHOLE, b"", "gone"),
    "gone": (WHOLE, None, "gone"),
    "packed": (gzip.compress(WHOLE), gzip.compress(WHOLE + FLIPPED), "read again from 0"),
}  # fmt: skip
"""What a log is at the first scan and at the second one, and what the second one says of it."""


@pytest.mark.spark
@pytest.mark.parametrize("killed", [False, True])
def test_the_same_command_reads_what_changed_and_gives_the_tables_of_a_new_scan(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    """Also if the first one was killed after its first batch."""
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    names = {name: f"{name}.log{'.gz' * (name == 'packed')}" for name in LATER}

    def put(turn: int) -> None:
        for name, states in LATER.items():
            path, data = folder / names[name], states[:2][turn]
            if data is None:
                path.unlink(missing_ok=True)
            elif not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)

    put(0)
    monkeypatch.setattr(scan_job, "SPAN_BYTES", 20_000)
    if killed:
        _kill_after_a_batch(spark, folder, out, monkeypatch)
    else:
        scanned(spark, folder, out)
    put(1)
    monkeypatch.setattr("wireproof.spark.scan_report.MAX_NAMES", 20)
    again = planned(folder, out)
    if not killed:
        changes = {
            Path(found[1]).stem.removesuffix(".log"): found[2]
            for line in again.changes
            for found in re.finditer(r"(/\S+\.log(?:\.gz)?) \([\d,]+ bytes, now [\d,]+; ([^)]*)\)", line)
        }
        lines = {name: text for name, (*_, text) in LATER.items() if text.startswith("read")}
        assert {name: text for name, text in lines.items() if changes.get(name, text) != text} == {}
        read = {place.display_name.rpartition("/")[2] for place in (span.place for span in again.ranges)}
        assert read == {names[name] for name, (*_, text) in LATER.items() if text not in {"", "gone"}}
        assert (
            sum(line.startswith(("new: 2", "gone, and no longer in the tables: 2")) for line in again.changes)
            == 2
        )
    again.run(spark)
    scanned(spark, folder, tmp_path / "fresh")
    both = [tables(where, without=("run", "frames")) for where in (out, tmp_path / "fresh")]
    for rows in both:
        for row in rows["files"]:
            row.pop("certain")
    assert both[0] == both[1]
    assert planned(folder, out).is_current


def _kill_after_a_batch(
    spark: SparkSession, folder: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Begin a scan in small batches, and end it when the second one is written and not committed."""

    class KilledError(Exception):
        pass

    commits = list[Path]()
    commit = scan_folder.FolderScan.commit

    def counted(job: scan_folder.FolderScan, spans: Any, written: Path) -> None:
        commits.append(written)
        if len(commits) > 1:
            raise KilledError
        commit(job, spans, written)

    with monkeypatch.context() as patch:
        patch.setattr(scan_folder, "parallelism", lambda _: 1)
        patch.setattr(scan_folder, "SPAN_BYTES", 20_000)
        patch.setattr(scan_folder.FolderScan, "commit", counted)
        patch.setattr("wireproof.spark.batches.MAX_GROWTH", 1)
        with pytest.raises(KilledError):
            scanned(spark, folder, out)
    assert commits[1].is_dir()
    planned(folder, out)
    assert not commits[1].exists(), "what is not committed is removed"


@pytest.mark.spark
def test_rows_that_are_missing_or_there_twice_are_no_result(spark: SparkSession, tmp_path: Path) -> None:
    """Somebody deletes or copies a file of the table: the next scan does not count what is left."""
    folder, out = logs.write(tmp_path / "in", a=WHOLE), tmp_path / "out"
    scanned(spark, folder, out)
    [rows] = out.glob("frames/*/*/batch=0/*.parquet")
    logs.write(folder, b=WHOLE)
    for number, change in enumerate(
        (lambda: shutil.copy(rows, rows.with_name("again.parquet")), rows.unlink)
    ):
        change()
        with pytest.raises(SourceError, match=rf"a\.log: the table frames has .* of its {len(WHOLE)} bytes"):
            planned(folder, out).run(spark)
        assert number or not rows.with_name("again.parquet").unlink()


def test_a_state_that_something_else_changed_is_one_line(tmp_path: Path) -> None:
    folder = logs.write(tmp_path / "in", a=GOOD[0])
    planned(folder, tmp_path / "out")
    for text in ("", "[]", "{}", '{"kind": 1'):
        (tmp_path / "out" / STATE).write_text(text)
        with pytest.raises(SourceError, match=r"_job\.json is damaged: choose another folder$"):
            planned(folder, tmp_path / "out")


def test_what_is_no_table_of_a_scan_stays_in_its_folder(tmp_path: Path) -> None:
    folder, own = (
        logs.write(tmp_path / "in", a=GOOD[0]),
        tmp_path / "out" / "mine" / "scan_date=1" / "scan_id=1",
    )
    planned(folder, tmp_path / "out")
    own.mkdir(parents=True)
    planned(folder, tmp_path / "out")
    assert own.exists()


# --- errors ---


def test_a_failed_job_prints_the_one_line_of_this_package() -> None:
    text = (
        "An exception\n  File x\nwireproof.spark.errors.SourceError: a.log is gone\n\nJVM stacktrace:\nat org"
    )
    assert session.own_error_line(text) == "a.log is gone"
    assert session.own_error_line("Job aborted\n  at org") == "Job aborted"
    full = "An exception\n  File x\nOSError: [Errno 28] No space left on device: '/x'\n\nJVM:\norg.a.B"
    assert session.own_error_line(full) == "OSError: [Errno 28] No space left on device: '/x'"
    assert session.own_error_line("")


@pytest.mark.parametrize(
    "error", [Py4JNetworkError("Answer from Java side is empty"), ConnectionRefusedError(111, "x")]
)
def test_the_end_of_spark_s_java_process_is_a_fault_of_the_surroundings_and_one_line(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(JavaEndedError, match="Java process ended before the job did") as raised:
        _lose_java(error)
    assert "\n" not in str(raised.value)
    assert exit_of(raised.value) == Exit.ADAPTER
    assert not caplog.records


def _lose_java(error: Exception) -> None:
    with session.one_line_errors():
        logging.getLogger("py4j.clientserver").error("There was an exception", exc_info=error)
        raise error


# --- the verb ---


@pytest.mark.parametrize("words", [("scan", "x", "--out"), ("fuzz", "reference", "--spark", "--dir")])
def test_without_its_extra_a_verb_says_what_to_install(
    wireproof: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setitem(sys.modules, "wireproof.spark.session", None)
    monkeypatch.delattr("wireproof.spark.session", raising=False)
    done = wireproof(*words, "y")
    assert done.code == 2
    assert install_command("spark") in done.one_line()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("/nothing/there",), "/nothing/there: not found"),
        (("x", "--revision", "0.7"), "0.7"),
        (("x", "--keys", "/nothing/there"), "File '/nothing/there' does not exist"),
        (("x", "--keys", __file__), 'option keys: expected {"signer_1": "<hex>"}'),
        (("x", "--adapter", "aiokafak"), "unknown adapter aiokafak: did you mean aiokafka?"),
    ],
)
def test_a_mistake_is_one_line_before_anything_is_started(
    wireproof: Command, tmp_path: Path, words: tuple[str, ...], text: str
) -> None:
    done = wireproof("scan", *words, "--out", tmp_path / "out")
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert text in done.err


@pytest.mark.parametrize("uri", ["s3://bucket/verdicts", "file:///verdicts", "hdfs://nn/verdicts"])
@pytest.mark.parametrize("words", [("scan", "x"), ("fuzz", "x", "--spark")], ids=lambda words: words[0])
def test_a_uri_to_write_to_is_refused_in_one_line_before_anything_is_started(
    wireproof: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    uri: str,
) -> None:
    """Neither the object x nor the adapter x exists: nobody has looked for them yet."""
    monkeypatch.chdir(tmp_path)
    option = "--dir" if words[0] == "fuzz" else "--out"
    done = wireproof(*words, option, uri)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert f"'{option}': {uri} is a URI" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_scan_that_is_done_is_shown_again_without_spark(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing changed: no session is needed to say how it ended, with the same lines and the same code."""
    folder, out = logs.write(tmp_path / "in", a=GOOD[0] + FLIPPED), tmp_path / "out"
    words = ("scan", folder, "--out", out, "--adapter", MUTANT)
    first = wireproof(*words)
    assert first.code == 1, first.err
    assert "1,940 bytes: 970 of frames, 970 of garbage, 0 of cut tails; 1,940 bytes read" in first.out
    assert "fail:wrong-accept" in first.out
    monkeypatch.setattr(session, "session", None)
    again = wireproof(*words)
    assert (again.code, again.err) == (1, "")
    assert again.out.splitlines()[:-1] == first.out.splitlines()[:-1]
    assert "; 0 bytes read" in again.out

"""A scan span by span, without Spark: the tables that come of it, and that they come out the same."""

import gzip
import hashlib
import logging
import sys
from collections import Counter
from operator import itemgetter
from pathlib import Path
from typing import Any

import kafka_bytes
import logs
import pyarrow.parquet as pq
import pytest
from command_line import Command
from py4j.protocol import Py4JNetworkError

from tests.mutants.registry import spec_of
from wireproof.cli.standard_output import exit_of
from wireproof.install_hint import install_command
from wireproof.runner.exit_codes import Exit
from wireproof.spark import scan_job, session, verdict_tables
from wireproof.spark.errors import JavaEndedError, SourceError
from wireproof.spark.scan_job import ScanPlan, merge_scan, plan_scan
from wireproof.spark.sources import TASKS_PER_CORE

MUTANT = spec_of("mutant:crc-skip")

GOOD = [logs.batch(bytes([n % 251]) * 900, n) for n in range(3000)]


def damaged() -> tuple[bytes, Counter[str]]:
    """A log with damage at known places, and the manifest of expected results."""
    parts, ledger = list(GOOD), Counter[str]()
    for number in range(50, 3000, 300):
        flipped = bytearray(parts[number])
        flipped[500] ^= 1
        parts[number] = bytes(flipped)
        ledger["crc-mismatch"] += 1
    for number in range(100, 3000, 1000):
        parts[number] = b"\xff" * 77 + parts[number]
        ledger["bad-length"] += 1
    ledger["frame"] = len(parts) - ledger["crc-mismatch"]
    return b"".join(parts) + GOOD[0][:100], ledger


def planned(folder: Path, out: Path, *adapters: str, grain: int = 1 << 20, **options: str) -> ScanPlan:
    paths = session.source_options([str(folder)], **options)
    return plan_scan("wireproof.kafka_log", paths, adapters, out, grain=grain)


def done(plan: ScanPlan) -> ScanPlan:
    """Do what is left, as the tasks would."""
    for number in plan.remaining:
        scan_job.scan_span(plan, number)
    merge_scan(plan)
    return plan


def frames(plan: ScanPlan) -> list[dict[str, Any]]:
    return [
        row for file in sorted(plan.out.glob("frames/*.parquet")) for row in pq.read_table(file).to_pylist()
    ]


def table(plan: ScanPlan, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(plan.out / f"{name}.parquet").to_pylist()
    return rows


def digests(plan: ScanPlan) -> dict[str, str]:
    files = [path for path in plan.out.rglob("*") if path.is_file()]
    return {str(path.relative_to(plan.out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_counts_are_those_of_the_manifest_and_every_byte_is_in_an_item(tmp_path: Path) -> None:
    data, ledger = damaged()
    plan = done(planned(logs.write(tmp_path / "in", a=data), tmp_path / "out"))
    assert len(plan.spans) > 2
    found = {row["class"] or row["kind"]: row["count"] for row in table(plan, "signatures")}
    assert found == {**ledger, "tail": 1}
    [file] = table(plan, "files")
    assert file["bytes_read"] == file["size"] == len(data) == sum(row["length"] for row in frames(plan))
    assert (file["tails"], file["tail_bytes"]) == (1, 100)
    assert file["garbage_bytes"] == 77 * 3 + 970 * 10


def test_samples_are_the_smallest_of_each_finding(tmp_path: Path) -> None:
    short = bytearray(logs.batch(b"short"))
    short[-2] ^= 1
    data, _ = damaged()
    plan = done(
        planned(logs.write(tmp_path / "in", a=data[: len(data) - 100] + bytes(short)), tmp_path / "out")
    )
    found = [row for row in table(plan, "samples") if row["class"] == "crc-mismatch"]
    assert found[0]["length"] == len(short)
    assert found[0]["raw"] == bytes(short)
    assert len(found) == 3


def test_a_scan_that_was_cut_off_goes_on_and_gives_the_same_bytes(tmp_path: Path) -> None:
    data, _ = damaged()
    folder = logs.write(tmp_path / "in", a=data, b=data[:500_000])
    wanted = digests(done(planned(folder, tmp_path / "whole")))
    cut = planned(folder, tmp_path / "cut")
    for number in cut.remaining[:2]:
        scan_job.scan_span(cut, number)
    cut.commit_file(1).unlink()
    (cut.out / "frames" / "000001.parquet").write_bytes(b"half of a fi")
    again = planned(folder, tmp_path / "cut")
    assert again.remaining == [number for number in range(len(cut.spans)) if number != 0]
    assert digests(done(again)) == wanted
    assert digests(done(again)) == wanted


def test_spans_of_other_sizes_give_the_same_tables(tmp_path: Path) -> None:
    data, _ = damaged()
    folder = logs.write(tmp_path / "in", a=data)
    one, many = (done(planned(folder, tmp_path / str(n), grain=n)) for n in (1 << 30, 200_000))
    assert (len(one.spans), len(many.spans) > 10) == (1, True)
    assert frames(one) == frames(many)
    for name in ("signatures", "samples", "files"):
        assert table(one, name) == table(many, name)


@pytest.mark.sweeps
def test_an_adapter_that_misses_the_damage_is_named_with_its_cluster(tmp_path: Path) -> None:
    flipped = bytearray(GOOD[1])
    flipped[500] ^= 1
    folder = logs.write(tmp_path / "in", a=GOOD[0] + bytes(flipped) + GOOD[2] + b"\xff" * 40)
    plan = done(planned(folder, tmp_path / "out", MUTANT, "reference"))
    verdicts = [
        {one["adapter"]: (one["verdict"], one["cluster"]) for one in row["verdicts"]} for row in frames(plan)
    ]
    assert verdicts[0][MUTANT] == ("pass:canonical", "accepted")
    assert verdicts[1]["reference"] == ("pass:canonical", "refused")
    label, cluster = verdicts[1][MUTANT]
    assert label == "fail:wrong-accept"
    assert len(cluster) == 16
    assert verdicts[3] == {}, "bytes that are no entry are no question"
    found = [row for row in table(plan, "samples") if row["implementation"] == MUTANT]
    assert [(row["kind"], row["class"], row["raw"]) for row in found] == [
        ("fail:wrong-accept", "crc-mismatch", bytes(flipped))
    ]


@pytest.mark.sweeps
def test_with_and_without_adapters_the_reference_says_the_same(tmp_path: Path) -> None:
    """One way goes through the fast decoders, the other through the reference's own items."""
    data = b"".join(log for *_, framing, case, log in logs.of_fixtures() if case.format.startswith("kafka"))
    folder = logs.write(tmp_path / "in", a=data[:40_000])
    alone, asked = done(planned(folder, tmp_path / "0")), done(planned(folder, tmp_path / "1", "reference"))
    bare = [{**row, "verdicts": []} for row in frames(asked)]
    assert frames(alone) == bare
    ours = [
        row
        for row in table(asked, "signatures")
        if row["implementation"] == "reference" and row["op"] == "scan"
    ]
    assert ours == table(alone, "signatures")
    labels = {one["verdict"] for row in frames(asked) for one in row["verdicts"]}
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
    plan = done(
        planned(logs.write(tmp_path / "in", a=b"".join(entries)), tmp_path / "out", "py:deadly:Deadly")
    )
    labels = [row["verdicts"][0]["verdict"] for row in frames(plan)]
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
    folder, adapters = (
        logs.write(tmp_path / "in", a=b"".join(entries)),
        ("py:troubled_scan:Troubled", "reference"),
    )
    ahead = done(planned(folder, tmp_path / "ahead", *adapters))
    monkeypatch.setattr(scan_job, "GROUPS_AHEAD", 0)
    monkeypatch.setattr(scan_job, "MAX_ITEMS", 1)
    alone = done(planned(folder, tmp_path / "alone", *adapters))
    assert frames(ahead) == frames(alone)
    for name in ("signatures", "samples", "matrix", "positions", "files"):
        assert table(ahead, name) == table(alone, name)
    labels = Counter(row["verdicts"][0]["verdict"] for row in frames(ahead))
    assert {label: count for label, count in labels.items() if not label.startswith("pass:")} == {
        "crash": 3, "timeout": 1, "resource:memory": 2, "fail:wrong-reject": 4, "fail:under-read": 2,
        "fail:over-read": 2, "unsupported": 1, "fail:wrong-value": 2,
    }  # fmt: skip
    assert table(ahead, "samples")


def test_a_folder_of_another_scan_is_said_in_one_line(tmp_path: Path) -> None:
    folder = logs.write(tmp_path / "in", a=GOOD[0])
    planned(folder, tmp_path / "out")
    with pytest.raises(SourceError, match="holds a scan with other adapters: choose another folder"):
        planned(folder, tmp_path / "out", "reference")
    with pytest.raises(SourceError, match="is not empty and holds no scan"):
        planned(folder, tmp_path / "in")


FLIPPED = GOOD[1][:500] + bytes([GOOD[1][500] ^ 1]) + GOOD[1][501:]
AGAIN = "read again: 1 objects"
LATER: dict[str, tuple[dict[str, bytes | None], str]] = {
    "nothing": ({}, ""),
    "new": ({"c": GOOD[0] + FLIPPED}, "new: 1 objects: {c}"),
    "new and first": ({"Z": FLIPPED, "c": GOOD[0]}, "new: 2 objects: {Z}, {c}"),
    "no longer empty": ({"empty": FLIPPED}, "new: 1 objects: {empty}"),
    "a byte more": ({"a": b"".join(GOOD[:600]) + b"\0"}, f"{AGAIN}: {{a}} (582,000 bytes, now 582,001)"),
    "the rest of an entry": ({"b": b"".join(GOOD[:401])}, f"{AGAIN}: {{b}} (388,500 bytes, now 388,970)"),
    "damage in place": (
        {"a": FLIPPED + b"".join(GOOD[1:600])}, f"{AGAIN}: {{a}} (582,000 bytes, now 582,000)",
    ),
    "cut": ({"a": b"".join(GOOD[:300])[:-1]}, f"{AGAIN}: {{a}} (582,000 bytes, now 290,999)"),
    "cut to nothing": ({"a": b""}, "gone, and no longer in the tables: 1 objects: {a}"),
    "gone": ({"b": None}, "gone, and no longer in the tables: 1 objects: {b}"),
}  # fmt: skip
"""What becomes of the logs a (600 entries), b (400 and a cut one) and empty after a scan, and its lines."""


@pytest.mark.parametrize("stopped", ["done", "cut off", "not started"])
@pytest.mark.parametrize("change", LATER)
def test_the_same_command_reads_what_changed_since_and_gives_the_tables_of_a_new_scan(
    tmp_path: Path, change: str, stopped: str
) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    logs.write(folder, a=b"".join(GOOD[:600]), b=b"".join(GOOD[:400]) + GOOD[400][:500], empty=b"")
    before = planned(folder, out, grain=100_000)
    assert before.changes == ()
    for number in before.remaining[: {"done": None, "cut off": 3, "not started": 0}[stopped]]:
        scan_job.scan_span(before, number)
    later, line = LATER[change]
    for name, data in later.items():
        path = folder / f"{name}.log"
        path.unlink() if data is None else path.write_bytes(data)
    again = planned(folder, out, grain=100_000)
    named = {name: str(folder / f"{name}.log") for name in ("Z", "a", "b", "c", "empty")}
    assert list(again.changes) == [line.format(**named)] * bool(line)
    changed = {named[name] for name in later}
    if stopped == "done":
        read = {again.spans[number].place.display_name for number in again.remaining}
        assert read == {named[name] for name, data in later.items() if data}, "only what changed is read"
    kept = {span for span in before.spans.values() if span.place.display_name not in changed}
    assert kept <= set(again.spans.values())
    done(again)
    fresh = done(planned(folder, tmp_path / "fresh", grain=100_000))
    for name in ("signatures", "samples", "matrix", "positions", "damage", "files", "skipped", "run"):
        assert table(again, name) == table(fresh, name), name
    order = itemgetter("path", "position")
    assert sorted(frames(again), key=order) == sorted(frames(fresh), key=order)
    assert planned(folder, out, grain=100_000).remaining == []


def test_files_of_spans_that_left_the_plan_are_removed_also_after_a_kill(tmp_path: Path) -> None:
    folder = logs.write(tmp_path / "in", a=GOOD[0], b=GOOD[1])
    done(planned(folder, tmp_path / "out"))
    stale = {path: path.read_bytes() for path in (tmp_path / "out").glob("*/000001*")}
    assert len(stale) == 2, "its rows and its commit"
    (folder / "b.log").unlink()
    planned(folder, tmp_path / "out")
    for path, data in stale.items():
        path.write_bytes(data)
    logs.write(folder, c=FLIPPED)
    plan = done(planned(folder, tmp_path / "out"))
    assert [row["kind"] for row in frames(plan)] == ["frame", "garbage"]
    assert list(plan.spans) == [0, 2]


def test_a_packed_object_that_is_damaged_is_in_the_account(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.log.gz").write_bytes(gzip.compress(b"".join(GOOD), 0)[:-9])
    plan = done(planned(tmp_path / "in", tmp_path / "out"))
    [file] = table(plan, "files")
    assert file["fault"] == "decompress-failed"
    assert file["bytes_read"] == sum(row["length"] for row in frames(plan)) > 1_000_000


def test_the_tasks_hold_every_span_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, _ = damaged()
    plan = planned(logs.write(tmp_path / "in", a=data), tmp_path / "out", grain=100_000)
    monkeypatch.setattr(scan_job, "MIN_TASK_BYTES", 1)
    tasks = plan.tasks(6)
    assert sorted(number for task in tasks for number in task) == list(plan.spans)
    assert 5 <= len(tasks) <= 8
    scan_job.scan_span(plan, 0)
    assert 0 not in [number for task in plan.tasks(6) for number in task]


@pytest.mark.parametrize(("adapters", "wanted"), [([], 2), (["reference"], 6)])
def test_many_small_objects_are_one_task_for_each_core_unless_adapters_are_asked(
    adapters: list[str], wanted: int, tmp_path: Path
) -> None:
    small = {f"{number:020}": b"".join(GOOD[:20]) for number in range(36)}
    options = session.source_options([str(logs.write(tmp_path / "in", **small))])
    plan = plan_scan("wireproof.kafka_log", options, adapters, tmp_path / "out")
    tasks = plan.tasks(2 * TASKS_PER_CORE)
    assert len(tasks) == wanted
    assert sorted(number for task in tasks for number in task) == list(range(36))


def test_heka_frames_are_asked_as_messages(tmp_path: Path) -> None:
    bad = b"\x1e\x02\x08\x05\x1f?????"
    folder = logs.write(tmp_path / "in", a=logs.heka_frame(b"a") + bad + logs.heka_frame(b"b"))
    options = session.source_options([str(folder)])
    plan = done(plan_scan("wireproof.heka_stream", options, ["reference"], tmp_path / "out"))
    shown = [
        (row["format"], row["kind"], *[one["verdict"] for one in row["verdicts"]]) for row in frames(plan)
    ]
    assert shown == [
        ("heka.message/0.10", "frame", "pass:canonical"),
        ("heka.message/0.10", "garbage", "pass:canonical"),
        ("heka.message/0.10", "frame", "pass:canonical"),
    ]


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


def test_the_account_of_an_object_must_be_its_size() -> None:
    part = verdict_tables.SpanResult(1)
    part.account("frame", 1, 10)
    with pytest.raises(AssertionError, match="x: 10 of 11 bytes"):
        list(verdict_tables.merge_files([("x", 11, False, part.dump())]))


# --- the verb ---


def test_without_its_extra_the_verb_says_what_to_install(
    wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wireproof.spark.session", None)
    monkeypatch.delattr("wireproof.spark.session")
    done = wireproof("scan", "x", "--out", "y")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert install_command("spark") in done.err


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


def test_a_scan_that_is_done_is_shown_again_without_spark(wireproof: Command, tmp_path: Path) -> None:
    """Everything is committed: no session is needed to put the tables together and to say how it ended."""
    flipped = bytearray(GOOD[1])
    flipped[500] ^= 1
    damaged = GOOD[0] + bytes(flipped)
    for number, (log, adapters, code) in enumerate(
        ((b"".join(GOOD[:2]), (), 0), (damaged, (), 1), (damaged, (MUTANT,), 1))
    ):
        folder, out = logs.write(tmp_path / f"in{number}", a=log), tmp_path / f"out{number}"
        options = session.source_options([str(folder)])
        plan = plan_scan("wireproof.kafka_log", options, adapters, out)
        done(plan)
        said = wireproof("scan", folder, "--out", out, *(f"--adapter={name}" for name in adapters))
        assert said.code == code, said.err
        garbage = 970 * code
        shown = f"1,940 bytes: {1940 - garbage:,} of frames, {garbage} of garbage, 0 of cut tails; 0 spans"
        assert shown in said.out
        assert ("fail:wrong-accept" in said.out) == bool(adapters)

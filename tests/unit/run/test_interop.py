"""Every encoder's bytes to every decoder; mutants are the codecs that differ in one known way."""

from functools import cache

from tests.mutants.registry import spec_of
from wireproof.cases.case import Reject
from wireproof.report.failure_groups import failure_groups_of
from wireproof.run.events import CaseEvent
from wireproof.run.interop import (
    InteropRun,
    InteropSettings,
    run_interop,
)

READER = spec_of("mutant:legacy-timestamp-ignored")
WRITER = spec_of("mutant:encode-headers-dropped")
SEALER = spec_of("mutant:encode-legacy-crc-from-attributes")

ROWS = frozenset({"kafka.batch/v0", "kafka.batch/v1", "kafka.batch/v2"})


@cache
def exchanged() -> InteropRun:
    specs = ["reference", READER, WRITER, SEALER]
    return run_interop(specs, InteropSettings(12, 3, ROWS), lambda _: "wp1:x", timeout_scale=10)


def events_of(found: InteropRun, spec: str, op: str, format_id: str) -> list[CaseEvent]:
    (one,) = [one for one in found.participants if one.spec == spec]
    return [event for event in one.events if (event.op, event.format_id) == (op, format_id)]


def test_a_reader_that_differs_is_a_failure_with_the_field_and_whose_bytes_they_were() -> None:
    (stream,) = [stream for stream in exchanged().streams if stream.run.spec == READER]
    reads = [event for event in stream.cases if event.op == "decode" and event.verdict == "fail"]
    assert {(event.format_id, event.kind, event.signature_path) for event in reads} == {
        ("kafka.batch/v1", "wrong-value", "timestamp")
    }
    titles = {f"decode of what {name} wrote" for name in ("reference", WRITER)}
    assert {event.title for event in reads} >= titles
    (group,) = [one for one in failure_groups_of(stream) if one.first.op == "decode"]
    assert 1 + len(group.others) == len(reads)


def test_a_writer_that_lies_is_judged_and_its_bytes_are_refused_by_all() -> None:
    dropped = [one for one in events_of(exchanged(), WRITER, "encode", "kafka.batch/v2") if one.token]
    assert {one.label for one in dropped} == {"fail:not-round-trip"}
    assert not any(one.token for one in events_of(exchanged(), "reference", "encode", "kafka.batch/v2"))
    bad = {one.label for one in events_of(exchanged(), SEALER, "encode", "kafka.batch/v1")}
    assert bad == {"fail:wrong-bytes"}
    theirs = [one for one in exchanged().encoded_messages["kafka.batch/v1"] if one.producers == (SEALER,)]
    assert theirs
    assert all(isinstance(one.case.expect, Reject) for one in theirs)
    read = events_of(exchanged(), "reference", "decode", "kafka.batch/v1")
    assert all(one.verdict == "pass" for one in read)


def test_an_encoder_that_leaves_the_codec_out_is_not_wrong_and_one_that_writes_other_times_is() -> None:
    lazy, late = spec_of("mutant:encode-codec-ignored"), spec_of("mutant:encode-timestamps-absolute")
    rows = frozenset({"kafka.batch/v1", "kafka.batch/v2"})
    settings = InteropSettings(10, 3, rows)
    found = run_interop(["reference", lazy, late], settings, lambda _: "wp1:x", timeout_scale=10)
    labels = {one.label for one in events_of(found, lazy, "encode", "kafka.batch/v2")}
    assert "info:uncompressed" in labels
    assert labels <= {"info:uncompressed", "pass:canonical", "pass:semantic"}
    (written,) = [one.written["kafka.batch/v2"] for one in found.participants if one.spec == lazy]
    assert written[0] == written[1]
    wrong = [one for one in events_of(found, late, "encode", "kafka.batch/v2") if one.token]
    assert wrong
    assert all("timestamp" in one.path for one in wrong)

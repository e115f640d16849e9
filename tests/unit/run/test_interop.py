"""Every encoder's bytes to every decoder; mutants are the codecs that differ in one known way."""

from functools import cache

from tests.mutants.registry import spec_of
from wireproof.cases.case import Reject
from wireproof.report.failure_groups import failure_groups_of
from wireproof.run.interop import (
    InteropRun,
    InteropSettings,
    collect_results,
    run_interop,
)

READER = spec_of("mutant:legacy-timestamp-ignored")
WRITER = spec_of("mutant:encode-headers-dropped")
SEALER = spec_of("mutant:encode-legacy-crc-from-attributes")

ROWS = frozenset({"kafka.batch/v0", "kafka.batch/v1", "kafka.batch/v2"})


@cache
def exchanged() -> InteropRun:
    return run_interop(["reference", READER, WRITER, SEALER], InteropSettings(12, 3, ROWS), timeout_scale=10)


def test_a_reader_that_differs_is_a_failure_with_the_field_and_whose_bytes_they_were() -> None:
    made = collect_results(exchanged(), lambda _: "wp1:x")
    (stream,) = [stream for stream in made.streams if stream.run.spec == READER]
    reads = [event for event in stream.cases if event.op == "decode" and event.verdict == "fail"]
    assert {(event.format_id, event.kind, event.signature_path) for event in reads} == {
        ("kafka.batch/v1", "wrong-value", "timestamp")
    }
    titles = {f"decode of what {name} wrote" for name in ("reference", WRITER)}
    assert {event.title for event in reads} >= titles
    (group,) = [one for one in failure_groups_of(stream) if one.first.op == "decode"]
    assert 1 + len(group.others) == len(reads)


def test_a_writer_that_lies_is_judged_and_its_bytes_are_refused_by_all() -> None:
    written = {participant.spec: participant.written for participant in exchanged().participants}
    dropped = [one.verdict for one in written[WRITER]["kafka.batch/v2"] if not one.verdict.passing]
    assert dropped
    assert {verdict.label for verdict in dropped} == {"fail:not-round-trip"}
    assert all(one.verdict.passing for one in written["reference"]["kafka.batch/v2"])
    bad = {one.verdict.label for one in written[SEALER]["kafka.batch/v1"]}
    assert bad == {"fail:wrong-bytes"}
    (reader,) = [participant for participant in exchanged().participants if participant.spec == "reference"]
    theirs = [one for one in reader.read["kafka.batch/v1"] if one.encoded_message.producers == (SEALER,)]
    assert theirs
    assert all(one.verdict.name == "pass" for one in theirs)
    assert all(isinstance(one.encoded_message.case.expect, Reject) for one in theirs)


def test_an_encoder_that_leaves_the_codec_out_is_not_wrong_and_one_that_writes_other_times_is() -> None:
    lazy, late = spec_of("mutant:encode-codec-ignored"), spec_of("mutant:encode-timestamps-absolute")
    rows = frozenset({"kafka.batch/v1", "kafka.batch/v2"})
    found = run_interop(["reference", lazy, late], InteropSettings(10, 3, rows), timeout_scale=10)
    written = {participant.spec: participant.written["kafka.batch/v2"] for participant in found.participants}
    labels = {one.verdict.label for one in written[lazy]}
    assert "info:uncompressed" in labels
    assert labels <= {"info:uncompressed", "pass:canonical", "pass:semantic"}
    assert all(one.data for one in written[lazy])
    wrong = [one.verdict for one in written[late] if not one.verdict.passing]
    assert wrong
    assert all("timestamp" in verdict.path for verdict in wrong)

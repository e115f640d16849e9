"""Every encoder's bytes to every decoder; mutants are the codecs that differ in one known way."""

import re
import shlex
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from attrs import evolve
from command_line import Command

from tests.mutants.registry import spec_of
from wireproof import formats
from wireproof.cases.case import Accept, Case, Data
from wireproof.cases.outcome import Accepted, Crashed, Outcome, Refused
from wireproof.formats import FORMATS
from wireproof.kafka.family.producer_messages import (
    ZSTD,
    LogicalMessage,
    LogicalMessageSet,
    count_losses,
    encodings_of,
    messages_of,
    shared_fields,
)
from wireproof.runner.cross_version import check_versions, field_losses
from wireproof.runner.disagreements import (
    Disagreement,
    Reading,
    clusters,
    describe_difference,
    find_disagreements,
    group_disagreements,
    readings_agree,
)
from wireproof.runner.event_files import read_events
from wireproof.runner.interop import (
    DecodeResult,
    EncodedMessage,
    InteropRun,
    InteropSettings,
    encode_cases,
    run_interop,
    shared_formats,
)
from wireproof.runner.interop_results import ReadCounts, collect_results
from wireproof.runner.verdicts import Verdict
from wireproof.wire.json_values import to_json
from wireproof.wire.observed_fields import NO_FIELDS, common_tree, field_tree, project

READER = spec_of("mutant:legacy-timestamp-ignored")
WRITER = spec_of("mutant:encode-headers-dropped")
SEALER = spec_of("mutant:encode-legacy-crc-from-attributes")

ROWS = frozenset({"kafka.batch/v0", "kafka.batch/v1", "kafka.batch/v2"})


@cache
def exchanged() -> InteropRun:
    return run_interop(["reference", READER, WRITER, SEALER], InteropSettings(12, 3, ROWS), timeout_scale=10)


# --- what is sent ---

SENDING = LogicalMessageSet(
    1,
    (LogicalMessage(b"k", None, 1000, ((b"h", None),)), LogicalMessage(None, b"", 900)),
    producer=(7, 1, 5),
    transactional=True,
)


@pytest.mark.parametrize(("revision", "ways"), [("v0", 2), ("v1", 2), ("v2", 1)])
def test_each_encoding_of_logical_messages_is_read_as_these_messages(revision: str, ways: int) -> None:
    row = FORMATS[f"kafka.batch/{revision}"]
    found = encodings_of(SENDING, revision)
    assert len(found) == ways
    for entries in found:
        back = [formats.decode(row, formats.encode(row, to_json(one))) for one in entries]
        messages = messages_of([to_json(one.value) for one in back])
        assert messages is not None
        assert [message["key"] for message in messages] == ["6b", None]
        assert [message["value"] for message in messages] == [None, ""]
        assert [message["offset"] for message in messages] == ["0", "1"]
        times = ["-1", "-1"] if revision == "v0" else ["1000", "900"]
        assert [message["timestamp"] for message in messages] == times


def test_uncompressed_messages_are_entries_of_their_own_before_v2_and_zstd_is_none() -> None:
    plain = evolve(SENDING, codec=0)
    assert [len(entries) for entries in encodings_of(plain, "v0")] == [2]
    assert [len(entries) for entries in encodings_of(plain, "v2")] == [1]
    assert encodings_of(evolve(SENDING, codec=ZSTD), "v1") == ()


def test_what_an_older_format_has_no_place_for_is_counted() -> None:
    (newer,) = encodings_of(SENDING, "v2")[0]
    older = [to_json(one) for one in encodings_of(evolve(SENDING, codec=0), "v0")[0]]
    assert count_losses(to_json(newer), older) == Counter(
        {
            "timestamps": 2,
            "messages' headers": 1,
            "producer ids": 1,
            "transactions": 1,
            "batches, now single messages": 1,
        }
    )
    v1 = [to_json(one) for one in encodings_of(SENDING, "v1")[0]]
    assert set(count_losses(to_json(newer), v1)) == {"messages' headers", "producer ids", "transactions"}


def test_what_two_formats_carry_leaves_out_what_one_has_no_place_for() -> None:
    messages = messages_of([to_json(encodings_of(SENDING, "v2")[0][0])])
    assert messages is not None
    assert set(shared_fields(messages, "v2", "v1")[0]) == {"offset", "timestamp", "key", "value"}  # type: ignore[arg-type] # a dict
    assert set(shared_fields(messages, "v0", "v2")[0]) == {"offset", "key", "value"}  # type: ignore[arg-type] # a dict


@pytest.mark.parametrize("odd", [[None], ["text"], [{"records": "x"}], [{"records": [None]}]])
def test_a_value_that_is_no_entry_has_no_messages(odd: list[object]) -> None:
    assert messages_of(odd) is None  # type: ignore[arg-type] # that is the point


def test_the_values_of_a_seed_are_the_same_however_many_are_wanted() -> None:
    few, many = encode_cases("kafka.batch/v1", 3, 5), encode_cases("kafka.batch/v1", 6, 5)
    assert many[: len(few)] == few
    assert encode_cases("kafka.batch/v1", 3, 6) != few


# --- fields that two adapters show ---


def test_the_fields_that_both_show_are_compared_and_no_others() -> None:
    one, other = field_tree(("a", "list[].x", "list[].y", "z")), field_tree(("list[].y", "a.b", "q"))
    shared = common_tree(one, other)
    value = {"a": {"b": "1", "c": "2"}, "list": [{"x": "3", "y": "4"}], "z": "5", "q": "6"}
    assert project(value, shared) == {"a": {"b": "1"}, "list": [{"y": "4"}]}
    assert common_tree({}, one) == one
    assert common_tree(field_tree(("a",)), field_tree(("b",))) is NO_FIELDS
    assert common_tree(field_tree(("list[].a", "c")), field_tree(("list[].b", "c"))) == {"c": {}}


# --- clusters ---


def reading(outcome: Outcome, label: str = "pass", observes: tuple[str, ...] = ()) -> DecodeResult:
    case = Case("x", "heka.message", "0.10", Data(b""), Accept({"a": "1", "b": "2"}))
    name, _, kind = label.partition(":")
    verdict = Verdict(name, kind)  # type: ignore[arg-type] # a name of the table
    return DecodeResult(EncodedMessage(case, ()), case, verdict, outcome, field_tree(observes), 0)


SAID = Accepted({"a": "1", "b": "2"}, 5)
OTHER = Accepted({"a": "1", "b": "9"}, 5)


def test_the_largest_cluster_comes_first_even_against_the_reference() -> None:
    heard = [
        Reading("reference", reading(SAID)),
        Reading("x", reading(OTHER, "fail:wrong-value")),
        Reading("y", reading(OTHER, "fail:wrong-value")),
        Reading("z", reading(Refused("crc-mismatch", 3, "crc", text="no"), "fail:wrong-reject")),
        Reading("silent", reading(Crashed("SIGSEGV"), "crash")),
        Reading("outside", reading(SAID, "unsupported")),
    ]
    split = Disagreement(heard[0].read.encoded_message, clusters(heard))
    assert [[one.adapter for one in some] for some in split.clusters] == [
        ["x", "y"],
        ["reference"],
        ["z"],
        ["silent"],
    ]
    assert [split.place(name) for name in ("y", "reference", "silent", "outside")] == [1, 2, 4, 0]
    said = {one.adapter: split.difference(one) for one in split.apart}
    assert said["reference"] == 'b = "2"; the others "9"'
    assert said["z"] == "refuses: crc-mismatch at 3 crc no"
    assert said["silent"].startswith("crash")


def test_what_one_hides_sets_nobody_apart() -> None:
    assert readings_agree(reading(SAID), reading(OTHER, observes=("a",)))
    assert not readings_agree(reading(SAID), reading(OTHER, observes=("a", "b")))
    assert readings_agree(reading(SAID, observes=("a",)), reading(OTHER, observes=("b",)))


def test_bytes_consumed_set_apart_where_both_say_so() -> None:
    longer = reading(Accepted({"a": "1", "b": "2"}, 6), "fail:over-read")
    assert not readings_agree(reading(SAID), longer)
    assert describe_difference(longer, reading(SAID)) == "6 bytes consumed; the others 5"
    assert readings_agree(reading(SAID), reading(Accepted({"a": "1", "b": "2"}, None)))


def test_any_refusal_agrees_with_any_refusal() -> None:
    assert readings_agree(reading(Refused("other")), reading(Refused("crc-mismatch", 3)))


# --- a whole exchange ---


def test_rows_are_those_that_one_writes_and_another_reads() -> None:
    hellos = [participant.hello for participant in exchanged().participants]
    assert [row.format_id for row in shared_formats(hellos, InteropSettings(1))] == sorted(ROWS)
    assert shared_formats(hellos[:1], InteropSettings(1)) == []


def test_a_reader_apart_is_named_with_the_field_and_whose_bytes_they_were() -> None:
    found = group_disagreements(find_disagreements(exchanged()))
    group = next(one for one in found if READER in one.members)
    assert group.format_id == "kafka.batch/v1"
    assert group.reason == "fail:wrong-value batches[].timestamp"
    assert list(group.members) == [READER]
    assert set(group.producers) >= {"reference", WRITER}
    assert group.size == len(group.members[READER])
    assert {one.format_id for one in found if READER in one.members} == {"kafka.batch/v1"}


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
    assert all(one.verdict.name == "pass" and isinstance(one.outcome, Refused) for one in theirs)


def test_equal_bytes_are_read_once_for_all_who_wrote_them() -> None:
    encoded_messages = exchanged().encoded_messages["kafka.batch/v0"]
    assert len({encoded_message.data for encoded_message in encoded_messages}) == len(encoded_messages)
    assert any(
        set(encoded_message.producers) == {"reference", READER, WRITER}
        for encoded_message in encoded_messages
    )


def test_the_law_of_the_same_messages_fails_for_the_reader_without_timestamps_alone() -> None:
    found = list(check_versions(exchanged()))
    broken = [held for held in found if not held.verdict.passing]
    assert {(held.reader, held.older) for held in broken} == {(READER, "v1")}
    assert all("timestamp" in held.verdict.path for held in broken)
    assert {held.producer for held in found} >= {"reference", READER, WRITER}
    assert {held.reader for held in found} == {"reference", READER, WRITER, SEALER}


def test_an_encoder_that_leaves_the_codec_out_is_not_wrong_and_one_that_writes_other_times_is() -> None:
    lazy, late = spec_of("mutant:encode-codec-ignored"), spec_of("mutant:encode-timestamps-absolute")
    rows = frozenset({"kafka.batch/v1", "kafka.batch/v2"})
    found = run_interop(["reference", lazy, late], InteropSettings(10, 3, rows), timeout_scale=10)
    written = {participant.spec: participant.written["kafka.batch/v2"] for participant in found.participants}
    labels = {one.verdict.label for one in written[lazy]}
    assert "info:uncompressed" in labels
    assert labels <= {"info:uncompressed", "pass:canonical", "pass:semantic"}
    assert all(one.data for one in written[lazy])
    broken = [held for held in check_versions(found) if not held.verdict.passing]
    assert {(held.producer, held.reader, held.older) for held in broken} == {(late, "", "v1")}
    assert all("timestamp" in held.verdict.path for held in broken)


def test_the_losses_are_those_of_the_bytes() -> None:
    by_producer = {loss.producer: loss for loss in field_losses(exchanged())}
    ours, theirs = by_producer["reference"], by_producer[WRITER]
    assert ours.gone["v0"]["timestamps"] > 0
    assert ours.gone["v0"]["messages' headers"] > 0
    assert "timestamps" not in ours.gone["v1"]
    assert "messages' headers" not in theirs.gone["v1"]  # it had dropped them before
    assert ours.written["v1"] < ours.written["v2"]  # zstd


def test_the_results_count_every_encode_case_for_its_producer_and_number_the_clusters() -> None:
    apart = list(find_disagreements(exchanged()))
    made = collect_results(
        exchanged(), {split.encoded_message.case.id: split for split in apart}, lambda _: "wp1:x"
    )
    writes = len(encode_cases("kafka.batch/v1", 12, 3))
    assert made.tallies["kafka.batch/v1", "reference", "reference"] == ReadCounts(alike=writes)
    wrong = made.tallies["kafka.batch/v1", "reference", READER]
    assert wrong.wrong > 0
    assert wrong.all == writes
    events = {stream.run.spec: stream.cases for stream in made.streams}
    numbers = {event.cluster for event in events[READER] if event.verdict == "fail" and event.op == "decode"}
    assert numbers - {0} == {2}
    assert all(event.cluster in (0, 1) for event in events["reference"])
    assert all(event.token for event in events[READER] if event.verdict == "fail")


# --- the verb ---

REPLAY = re.compile(r"replay  wireproof (replay .+)")


def test_the_verb_shows_the_matrix_and_a_replay_line_that_does_it_again(
    wireproof: Command, tmp_path: Path
) -> None:
    out, page = tmp_path / "x.jsonl", tmp_path / "x.html"
    done = wireproof(
        "interop", "reference", READER, "--count", 6, "--seed", 3, "--format", "kafka.batch", "--out", out,
        "--html", page, "--tokens", tmp_path / "tokens", "--timeout-scale", 10,
    )  # fmt: skip
    assert done.code == 1
    assert f"  {READER}: batches[0].timestamp" in done.out
    assert "v0 lost" in done.out
    assert f"DIFFER {READER} reads v1 of reference, {READER} otherwise" in done.out
    line = next(iter(REPLAY.findall(done.out)))
    again = wireproof(*shlex.split(line), "--in-process")
    assert again.code == 1
    assert "fail:wrong-value" in again.out
    streams = read_events(out)
    assert [stream.run.spec for stream in streams] == ["reference", READER]
    assert all(stream.complete for stream in streams)
    text = page.read_text(encoding="utf-8")
    assert "kafka.batch/v1: writes" in text
    assert "legacy-timestamp-ignored" in text
    assert wireproof("report", out, "--quiet").code == 0


def test_codecs_that_agree_end_with_0(wireproof: Command, tmp_path: Path) -> None:
    done = wireproof(
        "interop", spec_of("mutant:crc-skip"), "--count", 2, "--format", "kafka.batch/v2",
        "--tokens", tmp_path, "--timeout-scale", 10,
    )  # fmt: skip
    assert done.code == 0, done.out
    assert "APART" not in done.out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("reference", "--count", 1), 2, "no format that one of them writes"),
        (("reference", "kio", "--format", "heka.*", "--count", 1), 2, "no format that one of them writes"),
        (("--format", "nosuch"), 2, "no format is called nosuch"),
        (("nosuch", "--count", 1), 2, "unknown adapter nosuch"),
    ],
)
def test_what_cannot_be_exchanged_is_a_line(
    wireproof: Command, words: tuple[object, ...], code: int, said: str
) -> None:
    done = wireproof("interop", *words)
    assert done.code == code
    assert said in done.err


def test_one_that_does_not_start_leaves_the_others_at_it(wireproof: Command, tmp_path: Path) -> None:
    done = wireproof(
        "interop", "reference", spec_of("mutant:crc-skip"), "exec:no-such-program", "--count", 1,
        "--format", "kafka.batch/v2", "--tokens", tmp_path, "--timeout-scale", 10,
    )  # fmt: skip
    assert done.code == 4
    assert "no-such-program" in done.one_line()
    assert "kafka.batch/v2, read by" in done.out

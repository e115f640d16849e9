"""Every encoder's bytes to every decoder; mutants are the codecs that differ in one known way."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest
from attrs import define, evolve, field
from command_line import Command

from tests.mutants.registry import spec_of
from wireproof import formats
from wireproof.adapters.contract import Hello
from wireproof.adapters.registry.live_servers import Carried
from wireproof.cases.case import Reject
from wireproof.cases.outcome import Accepted, Refused, Unsupported
from wireproof.formats import FORMATS
from wireproof.kafka.suite.producer_messages import ZSTD, LogicalMessage, LogicalMessageSet, encodings_of
from wireproof.report.failure_groups import failure_groups_of
from wireproof.run.events import CaseEvent, read_events
from wireproof.run.interop import (
    EncodedMessage,
    InteropRun,
    InteropSettings,
    Participant,
    RelayReport,
    carried_messages,
    run_interop,
)
from wireproof.wire.checksums import crc32c
from wireproof.wire.json_values import to_json

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


# --- the verb ---


@pytest.fixture(autouse=True)
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder, in which tokens of long inputs are stored."""
    monkeypatch.chdir(tmp_path)


REPLAY = re.compile(r"replay  wireproof (replay .+)")


INTEROP = ("--timeout-scale", 10, "interop")


def test_the_verb_shows_the_matrix_and_a_replay_line_that_does_it_again(
    wireproof: Command, tmp_path: Path
) -> None:
    out, page = tmp_path / "x.jsonl", tmp_path / "x.html"
    done = wireproof(
        *INTEROP, "reference", READER, "--count", 6, "--seed", 3, "--format", "kafka.batch", "--out", out,
        "--html", page, code=1,
    )  # fmt: skip
    assert f"{READER}: FAIL  kafka.batch/v1/interop/" in done.out
    assert "  title   decode of what reference wrote" in done.out
    assert re.search(r"want    timestamp = .*\n  got     timestamp = ", done.out)
    line = next(iter(REPLAY.findall(done.out)))
    assert "fail:wrong-value" in wireproof(*shlex.split(line), "--in-process", code=1).out
    streams = read_events(out)
    assert [stream.run.spec for stream in streams] == ["reference", READER]
    assert all(stream.complete for stream in streams)
    text = page.read_text(encoding="utf-8")
    assert "decode of what reference wrote" in text
    assert "legacy-timestamp-ignored" in text
    assert "Who reads what others wrote" in text
    assert re.search(r'<td class="bad" title="\d+ read, \d+ of them wrong', text)
    assert wireproof("report", out, "--quiet").code == 1


def test_codecs_that_agree_end_with_0(wireproof: Command, tmp_path: Path) -> None:
    done = wireproof(*INTEROP, spec_of("mutant:crc-skip"), "--count", 2, "--format", "kafka.batch/v2", code=0)
    assert "FAIL" not in done.out
    assert list(tmp_path.iterdir()) == []


def test_one_that_does_not_start_leaves_the_others_at_it(wireproof: Command) -> None:
    done = wireproof(
        *INTEROP, "reference", spec_of("mutant:crc-skip"), "exec:no-such-program", "--count", 1,
        "--format", "kafka.batch/v2", code=4,
    )  # fmt: skip
    assert "no-such-program" in done.one_line()
    assert "kafka.batch/v2, read by" in done.out
    assert "unknown adapter nosuch" in wireproof("interop", "nosuch", "--count", 1, code=2).err


# --- logical messages in their encodings ---


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
        values = [to_json(one.value, with_derived=True) for one in back]
        messages = [part for value in values for part in value.get("records", value.get("messages", [value]))]
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


# --- a server that stores the messages; the servers here are lists ---


V2 = "kafka.batch/v2"
CRC_AT = 17


@define
class Server:
    """Answers the first message as told, and stores the others as they are."""

    first: Carried | None
    name: str = "a server"
    version: str = "1"
    assigned: tuple[str, ...] = ("offset",)
    kept: Mapping[str, tuple[str, ...]] = field(factory=lambda: {V2: ("producerId", "records[].value")})

    def carry(self, _: str, messages: Iterable[bytes]) -> Iterator[Carried]:
        for number, data in enumerate(messages):
            yield self.first if number == 0 and self.first is not None else Accepted(data=data)


@cache
def stored_exchange() -> InteropRun:
    specs = ["reference", "py:wireproof.adapters.reference:Reference"]
    return run_interop(specs, InteropSettings(6, 0, frozenset({V2})), lambda case: case.profile)


def written() -> Sequence[EncodedMessage]:
    """Messages of the reference that a broker accepts from a producer."""
    return stored_exchange().encoded_messages[V2]


def carried(first: Carried | None) -> tuple[Sequence[EncodedMessage], RelayReport, list[str]]:
    report = RelayReport(Participant("kafka-broker:h:1", Hello("a server", "1")))
    found = carried_messages(stored_exchange(), {V2: written()}, Server(first), report)[V2]
    return found, report, list(report.lines())


def test_a_message_that_cannot_be_carried_is_counted_with_its_reason() -> None:
    found, report, lines = carried(Unsupported("no transaction"))
    assert len(found) == len(written()) - 1
    assert not report.server.events
    assert lines[1] == "  1 not carried: no transaction"


def test_a_refusal_of_what_a_producer_may_send_is_a_fault() -> None:
    found, report, lines = carried(Refused("crc-mismatch", detail="CORRUPT_MESSAGE"))
    assert len(found) == len(written()) - 1
    assert [event.label for event in report.server.events] == ["fail:wrong-reject"]
    assert len(lines) == 1
    server = stored_exchange().stream_of(report.server)
    (event,) = server.cases
    assert (event.label, event.detail) == ("fail:wrong-reject", "CORRUPT_MESSAGE")
    assert event.title == "stores what reference, py:wireproof.adapters.reference:Reference wrote"
    assert (event.token, server.run.spec) == ("produce", "kafka-broker:h:1"), "judged as produced"


def test_a_refusal_that_the_rules_demand_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wireproof.run.interop.reference_expectation", lambda _: Reject("not-permitted"))
    _, report, lines = carried(Refused("not-permitted", detail="INVALID_RECORD"))
    assert not report.server.events
    assert lines[0].endswith("; 1 refused, as a producer may not send them")


@pytest.mark.parametrize(
    ("at", "path"),
    [(CRC_AT, "crc"), (43, "producerId"), (None, "")],
    ids=["unreadable", "another value", "nothing"],
)
def test_a_change_is_a_fault_with_its_field(at: int | None, path: str) -> None:
    data = bytearray(written()[0].data)
    if at is not None:
        data[at] ^= 1
    if path == "producerId":
        data[CRC_AT : CRC_AT + 4] = crc32c(bytes(data[21:])).to_bytes(4)
    found, report, _ = carried(Accepted(data=b"" if at is None else bytes(data)))
    assert [event.path for event in report.server.events] == [path]
    assert len(found) == len(written()) - (at is None), "what was stored is read, what was not is not"

"""What is reported of a server that stores the messages of an exchange; the servers here are lists."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import pytest
from attrs import define, field

from wireproof.adapters.contract import Hello
from wireproof.adapters.registry.live_servers import Carried
from wireproof.cases.case import Reject
from wireproof.cases.outcome import Accepted, Refused, Unsupported
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
def exchanged() -> InteropRun:
    specs = ["reference", "py:wireproof.adapters.reference:Reference"]
    return run_interop(specs, InteropSettings(6, 0, frozenset({V2})), lambda case: case.profile)


def written() -> Sequence[EncodedMessage]:
    """Messages of the reference that a broker accepts from a producer."""
    return exchanged().encoded_messages[V2]


def carried(first: Carried | None) -> tuple[Sequence[EncodedMessage], RelayReport, list[str]]:
    report = RelayReport(Participant("kafka-broker:h:1", Hello("a server", "1")))
    found = carried_messages(exchanged(), {V2: written()}, Server(first), report)[V2]
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
    server = exchanged().stream_of(report.server)
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

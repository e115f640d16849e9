"""What is judged of a batch that a producer sent, and what its program is asked for."""

import pytest

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from wireproof import formats
from wireproof.cases.outcome import Accepted, Outcome, Refused, Stalled
from wireproof.live.kafka_client import claims
from wireproof.live.kafka_client.claims import batch_value
from wireproof.live.kafka_client.produce_case import wrong_identity
from wireproof.live.kafka_client.program import ClientOptions

IDENTIFIED = {"producerId": "7", "producerEpoch": "2", "baseSequence": "0"}


def batch(**fields: str) -> bytes:
    return formats.encode(formats.get("kafka.batch", "v2"), batch_value() | fields)


@pytest.mark.parametrize("field", ["producerEpoch", "baseSequence"])
def test_epoch_and_sequence_are_compared_where_there_is_a_producer_id(field: str) -> None:
    value = batch_value() | IDENTIFIED
    assert wrong_identity(value, batch(**IDENTIFIED)) is None
    refused = wrong_identity(value, batch(**IDENTIFIED | {field: "5"}))
    assert refused == Refused(cls="invalid-value", text=f"{field} is 5, but must be {value[field]}")


def test_without_a_producer_id_they_mean_nothing() -> None:
    assert wrong_identity(batch_value(), batch(producerEpoch="0", baseSequence="0")) is None


class Answering:
    """Producers that answer an identified batch in one way."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome

    def produce(self, value: dict[str, str]) -> Outcome:
        return Accepted(data=batch()) if value["producerId"] == "-1" else self.outcome


@pytest.mark.parametrize(
    ("outcome", "modes"),
    [
        (Accepted(data=batch(**IDENTIFIED)), ("idempotent", "transactional")),
        (Accepted(data=batch()), ()),
        (Refused(text="no such mode"), ()),
        (Refused(text="exit code 1", untyped=True), ("idempotent", "transactional")),
        (Stalled("0 of 1 records"), ("idempotent", "transactional")),
    ],
    ids=["with an id", "without an id", "an error", "an exit code", "a stall"],
)
def test_a_mode_is_claimed_unless_it_is_an_error_or_sends_no_producer_id(
    outcome: Outcome, modes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "Producers", lambda *_: Answering(outcome))
    claim = claims.hello_of_client(ClientOptions(side="produce"), ("x",), 1).revisions["kafka.batch/v2"]
    assert claim.features == ("headers", *modes)

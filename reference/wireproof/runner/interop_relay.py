"""Interop through a live server: what every adapter wrote is stored by the server, and read from there.

The server is judged too: it may not refuse bytes that the reference accepts from a producer, and may not
change the fields that a relay names.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from attrs import define, evolve, field, frozen

from wireproof.adapters.live_servers import Carried, Relay
from wireproof.cases.case import Accept, Case, Data, Reject
from wireproof.cases.case_capabilities import capabilities_of
from wireproof.cases.outcome import Accepted, Refused, Unsupported
from wireproof.cases.reference_answers import reference_answer, reference_expectation
from wireproof.formats import FORMATS
from wireproof.runner.interop import EncodedMessage
from wireproof.runner.summaries import short_expect, short_field, short_outcome
from wireproof.runner.value_diff import first_difference
from wireproof.runner.verdicts import Verdict
from wireproof.wire.observed_fields import field_tree, project

SENT: Final = "sent"
REFUSED_RIGHTLY: Final = "refused, as a producer may not send them"
STORED: Final = "stored"


@frozen
class RelayFault:
    """A message that the server refuses without a reason, or stores otherwise; `case` replays it."""

    message: EncodedMessage
    case: Case
    verdict: Verdict


@define
class RelayReport:
    """What a server did with the messages.

    Attributes:
        spec, name, version: of the server.
        counts: of the messages, by what became of them.
        left_out: of the messages that could not be carried, by the reason.
        faults: of the server.
    """

    spec: str
    name: str
    version: str = ""
    counts: Counter[str] = field(factory=Counter)
    left_out: Counter[str] = field(factory=Counter)
    faults: list[RelayFault] = field(factory=list)

    def lines(self) -> Iterator[str]:
        """Yield how many messages were stored, and why the others were not."""
        others = [f"{number} {name}" for name, number in self.counts.items() if name not in (SENT, STORED)]
        stored = "; ".join([f"{self.counts[STORED]} of {self.counts[SENT]} messages stored", *others])
        yield f"THROUGH {self.spec} ({f'{self.name} {self.version}'.strip()}): {stored}"
        for reason, number in self.left_out.most_common():
            yield f"  {number} not carried: {reason}"


def carried_messages(
    relay: Relay,
    encoded_messages: Mapping[str, Sequence[EncodedMessage]],
    report: RelayReport,
) -> dict[str, tuple[EncodedMessage, ...]]:
    """Return the messages as the server stores them, without those that it did not store."""
    found: dict[str, tuple[EncodedMessage, ...]] = {}
    for format_id, messages in encoded_messages.items():
        answers = relay.carry(format_id, [message.data for message in messages])
        pairs = zip(messages, answers, strict=True)
        found[format_id] = tuple(_stored(pairs, relay.kept[format_id], report))
    return found


def _stored(
    pairs: Iterator[tuple[EncodedMessage, Carried]], kept: tuple[str, ...], report: RelayReport
) -> Iterator[EncodedMessage]:
    for message, answer in pairs:
        report.counts[SENT] += 1
        match answer:
            case Unsupported(text):
                report.left_out[text] += 1
            case Refused():
                _note_refusal(message, answer, report)
            case Accepted(data=b""):
                verdict = Verdict("fail", "wrong-value", want="what was acknowledged", got="nothing stored")
                report.faults.append(RelayFault(message, _produced(message), verdict))
            case Accepted(data=bytes(data)):
                report.counts[STORED] += 1
                stored = _with_bytes(message, data)
                if (fault := _changed(message, stored, kept)) is not None:
                    report.faults.append(fault)
                yield stored


def _with_bytes(message: EncodedMessage, data: bytes) -> EncodedMessage:
    case = evolve(message.case, input=Data(data))
    needs = capabilities_of(FORMATS[case.format_id], data)
    return evolve(message, case=evolve(case, expect=reference_expectation(case), needs=needs))


def _produced(message: EncodedMessage) -> Case:
    """Return the case of the bytes as a producer sends them: a server judges them by other rules."""
    case = evolve(message.case, profile="produce")
    return evolve(case, expect=reference_expectation(case))


def _note_refusal(message: EncodedMessage, answer: Refused, report: RelayReport) -> None:
    case = _produced(message)
    if isinstance(case.expect, Reject):
        report.counts[REFUSED_RIGHTLY] += 1
        return
    want, got = short_expect(case.expect), short_outcome(answer)
    verdict = Verdict("fail", "wrong-reject", answer.cls, want=want, got=got, detail=answer.detail)
    report.faults.append(RelayFault(message, case, verdict))


def _changed(message: EncodedMessage, stored: EncodedMessage, kept: tuple[str, ...]) -> RelayFault | None:
    """Return the fault of a server that changed a field which it must keep, or stored what nobody reads."""
    sent, back = reference_answer(message.case).outcome, reference_answer(stored.case).outcome
    if not isinstance(sent, Accepted):
        return None
    case = evolve(_produced(message), expect=Accept(value=sent.value))
    if isinstance(back, Refused):
        text = short_outcome(back)
        return RelayFault(message, case, Verdict("fail", "wrong-value", back.cls, back.path, got=text))
    tree = field_tree(kept)
    difference = first_difference(project(sent.value, tree), project(back.value, tree))
    if difference is None:
        return None
    want, got = short_field(difference)
    return RelayFault(message, case, Verdict("fail", "wrong-value", path=difference.path, want=want, got=got))

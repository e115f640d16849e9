"""What is concluded from the Fetches and the lines of a client program."""

import json
from collections.abc import Iterable
from queue import Queue

from wireproof.cases.outcome import Outcome, Stalled
from wireproof.kafka.family.client_program.consume_case import MOST_FETCHES, Consumption, Event, Fetched
from wireproof.kafka.family.client_program.program import LineRead
from wireproof.kafka.family.loopback_broker.served_log import END, ServedLog, Serving, end_batch

ONE_RECORD = end_batch(0)


def consumed(offsets: Iterable[int], values: Iterable[bytes]) -> Outcome | None:
    """Return what a program is found to do that fetches at these offsets, then delivers these values."""
    events: Queue[Event] = Queue()
    served = ServedLog(Serving(ONE_RECORD), lambda *fetched: events.put(Fetched(*fetched)))
    for offset in offsets:
        served.note_fetch(offset, 1 << 20)
    for offset, value in enumerate(values):
        events.put(LineRead(json.dumps({"offset": str(offset), "value": value.hex()}).encode()))
    return Consumption(served, events).run()


def test_a_program_may_deliver_after_any_number_of_fetches_at_the_end() -> None:
    assert consumed([0, 1, *(2 for _ in range(MOST_FETCHES))], [END, END]) is None


def test_a_program_that_never_gets_to_the_end_has_stalled() -> None:
    assert isinstance(consumed(range(-MOST_FETCHES, 0), []), Stalled)

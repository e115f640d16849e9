"""A decode by a client program: it consumes the log of the case, until the answer is known.

The answer is known when it delivers the record after the log, reports an error, ends, asks for one offset
again and again, or does nothing for some time.
"""

import time
from collections.abc import Sequence
from queue import Empty, Queue
from typing import Final, TypeAlias
from uuid import uuid4

from attrs import define, field, frozen
from kafka.protocol.consumer import FetchRequest

from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Crashed, Faulty, Outcome, Refused, Stalled
from wireproof.live.kafka_client import program
from wireproof.live.kafka_client.program import LONGEST, ClientOptions, Delivered, Ended, Failed, LineRead
from wireproof.live.loopback_broker import server
from wireproof.live.loopback_broker.cluster import LoopbackCluster, ServedTopic
from wireproof.live.loopback_broker.regroup_records import SeenRecord, assign_records, log_value
from wireproof.live.loopback_broker.served_log import END, ServedLog, Serving
from wireproof.wire.json_values import Json
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.text import one_line

TOPIC: Final = "wireproof"

START_SECONDS: Final = 30.0
"""Time limit of the first Fetch."""

QUIET_SECONDS: Final = 5.0
"""How long a client may do nothing after its first Fetch."""

REPEATS: Final = 15
"""How often a client may ask again for one offset, with no greater limit of bytes: 16 Fetches.

librdkafka doubles its limit ten times, and reports an error at the eleventh Fetch.
"""

PAUSE_SECONDS: Final = 10.0
"""How long a client may pause before it asks again: longer than the back-off of any."""

SLOW_SECONDS: Final = 60.0
"""How long a client that pauses may take for such Fetches."""

MOST_FETCHES: Final = 2000
MOST_RECORDS: Final = 1_000_000
MOST_BYTES: Final = 256 * 1024 * 1024
"""Bytes of keys and values: no log of a case has so many."""

NO_LINE: Final = "not a line of a client program"


@frozen
class Fetched:
    """The client asked for an offset: how often before, and if it or the limit of bytes is another now."""

    repeated: int
    is_new: bool


Event: TypeAlias = LineRead | Ended | Fetched


@define
class Consumption:
    """A log that a program consumes, and what is known of it so far.

    Attributes:
        served: the log.
        events: what happens, in order.
        records: the delivered records, without the one after the log.
        shown: the fields that every record showed.
        size: the bytes of their keys and values.
        software: name and version of the client, if it said them.
    """

    served: ServedLog
    events: "Queue[Event]"
    records: list[SeenRecord] = field(factory=list)
    shown: frozenset[str] | None = None
    size: int = 0
    software: list[str] = field(factory=list)

    def run(self) -> Outcome | None:
        """Wait for the answer; return the outcome, or None if the whole log was delivered."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                event = self.events.get(timeout=max(deadline - time.monotonic(), 0))
            except Empty:
                return Stalled(f"{self._so_far()}, then nothing new{self._last_fetch()}")
            match event:
                case LineRead(text):
                    done, outcome = self._line(text)
                    if done:
                        return outcome
                    deadline = time.monotonic() + QUIET_SECONDS
                case Ended():
                    return self._ended(event)
                case Fetched(repeated, _) if repeated >= REPEATS or (
                    # one that has all fetched may take its time to deliver
                    self.served.fetches >= MOST_FETCHES and not self.served.waits
                ):
                    return self._repeating()
                case Fetched(repeated, is_new) if repeated or is_new:
                    pause = PAUSE_SECONDS if repeated else QUIET_SECONDS
                    deadline = min(time.monotonic() + pause, self.served.since + SLOW_SECONDS)

    def _line(self, text: bytes) -> tuple[bool, Outcome | None]:
        """Take a line; return True and the outcome if it is the last one, as the record after the log is."""
        try:
            line = program.parse_line(text)
        except ValueError as error:
            return True, no_line(text, error)
        match line:
            case Failed(reason):
                expected = self.served.refuses  # the broker answered with an error on purpose
                return not expected, Refused(text=one_line(reason, LONGEST))
            case Delivered(record, shown):
                if record.value == END and record.offset == self.served.end_at:
                    return True, None
                self.records.append(record)
                self.shown = shown if self.shown is None else self.shown & shown
                self.size += len(record.key or b"") + len(record.value or b"")
                over = len(self.records) > MOST_RECORDS or self.size > MOST_BYTES
                return over, Stalled(f"{self._so_far()}, more than the log has") if over else None
        return True, no_line(text, "a record must show more than its offset")

    def _ended(self, end: Ended) -> Outcome:
        if end.code == 0 and not end.has_crashed:
            return Stalled(f"{self._so_far()}, then the program ended without an error{self._last_fetch()}")
        return failed(end)

    def _repeating(self) -> Outcome:
        """Wait a little for an error, which may come after the Fetch that repeats; else it has stalled."""
        seconds = max(time.monotonic() - self.served.since, 0.001)
        count = self.served.repeated + 1
        deadline = time.monotonic() + 0.5
        while (left := deadline - time.monotonic()) > 0:
            try:
                event = self.events.get(timeout=left)
            except Empty:
                break
            if isinstance(event, LineRead):
                done, outcome = self._line(event.text)
                if done:
                    return outcome or Stalled(f"{self._so_far()}, and it fetches the end of the log again")
            elif isinstance(event, Ended):
                return self._ended(event)
        if count <= REPEATS:
            return Stalled(
                f"{self._so_far()} and no error; {self.served.fetches} Fetches{self._last_fetch()}"
            )
        return Stalled(
            f"{self._so_far()} and no error; it asks for offset {self.served.offset} again and again: "
            f"{count} Fetches in {seconds:.2f} s, {count / seconds:.0f} per second"
        )

    def _so_far(self) -> str:
        return f"{len(self.records)} records"

    def _last_fetch(self) -> str:
        served = self.served
        if not served.fetches:
            return "; it never fetched"
        after = "; the record after the log was not delivered" if served.end_at is not None else ""
        return f"; its last Fetch, of {served.fetches}, asked for offset {served.offset}{after}"


@frozen
class Consumers:
    """Decodes by a client program, each by a process and a cluster of its own."""

    options: ClientOptions
    words: Sequence[str]

    def decode(self, request: Request) -> Outcome:
        """Serve the bytes of a request and compare nothing: return what the program delivered."""
        wanted = request.options
        serving = Serving(request.data, wanted.fetch_offset or 0, wanted.aborted, self.options.serve)
        seen, outcome = self.consume(serving, wanted.isolation)
        whole = (wanted.fetch_offset, wanted.isolation) == (None, DEFAULT_OPTIONS.isolation)
        match outcome:
            case None:
                following = str(seen.served.end_at) if serving.log.entries else None
                return Accepted(value=_value(seen, following, whole=whole))
            case Refused():
                before = _value(seen, None, whole=False)
                return Refused(text=outcome.text, untyped=outcome.untyped, before=before)
            case _:
                return outcome

    def consume(self, serving: Serving, isolation: str) -> tuple[Consumption, Outcome | None]:
        """Let the program consume a log; return what it delivered and how it ended: None if all was well."""
        events: Queue[Event] = Queue()
        served = ServedLog(serving, lambda *fetched: events.put(Fetched(*fetched)))
        topic = served.topic = ServedTopic(uuid4(), [served])
        cluster = LoopbackCluster(newest={FetchRequest.API_KEY: self.options.fetch}, topics={TOPIC: topic})
        seen = Consumption(served, events, software=cluster.software)
        nodes = 2 if serving.manner == "leader" else 1
        with server.running(cluster, nodes=nodes) as address:
            words = [*self.words, self.options.start, address, TOPIC, isolation, str(serving.start)]
            try:
                with program.ClientProgram(words, events):
                    return seen, seen.run()
            except OSError as error:
                return seen, not_started(words[0], error)


def not_started(word: str, error: OSError) -> Faulty:
    """Return the outcome for a command that is not there, or that may not be run."""
    return Faulty(f"{word} cannot be started: {error.strerror}")


def no_line(text: bytes, error: object) -> Faulty:
    """Return the outcome for a line that breaks the contract of a client program."""
    return Faulty(f"{NO_LINE}: {error}: {one_line(text[:80].decode(errors='replace'), LONGEST)}")


def failed(end: Ended) -> Crashed | Faulty | Refused:
    """Return the outcome for a program that ended before its answer was known."""
    if end.has_full_disk:
        return Faulty(end.text)
    return Crashed(end.text) if end.has_crashed else Refused(text=end.text, untyped=True)


def _value(seen: Consumption, following: str | None, *, whole: bool) -> Json:
    value = log_value(assign_records(seen.served.serving.log, seen.records), whole=whole)
    assert isinstance(value, dict)
    return value | {"nextOffset": following}

"""What a client program is asked: a probe shows which fields, codecs and commands it knows."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from wireproof import formats
from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.errors import AdapterStartError
from wireproof.cases.outcome import Accepted, Faulty, Outcome, Refused, Stalled
from wireproof.kafka.attribute_bits import TRANSACTIONAL
from wireproof.kafka.entry import peek_batch
from wireproof.live.kafka_client.consume_case import NO_LINE, Consumers, Consumption
from wireproof.live.kafka_client.produce_case import CODECS, Producers
from wireproof.live.kafka_client.program import ClientOptions
from wireproof.live.loopback_broker.served_log import Serving

# --- why a program cannot be judged: what it did at a plain record, and what to do next ---

BROKER: Final = "127.0.0.1:9092"
"""An address for a command that a user types; a broker of their own may be there."""


def not_consumed(
    options: ClientOptions, words: Sequence[str], seen: Consumption, outcome: Outcome | None
) -> AdapterStartError:
    """Return the error for a program that does not deliver the one record of a log."""
    found = f"{len(seen.records)} records of one" if outcome is None else getattr(outcome, "text", "")
    if isinstance(outcome, Stalled) and not seen.served.fetches:
        after = "it must connect to ADDRESS and read partition 0 of TOPIC from OFFSET on"
    elif isinstance(outcome, Stalled) and seen.shown is None and seen.served.end_at is not None:
        after = "it fetched the whole log and printed nothing: print each record, and flush each line"
    else:
        after = _next_step(outcome, *words, options.start, BROKER, "TOPIC", UNCOMMITTED, "0")
    return AdapterStartError(f"{options.name} does not consume a plain record: {found}; {after}")


def _next_step(outcome: Outcome | None, *by_hand: str) -> str:
    match outcome:
        case Faulty(text) if text.startswith(NO_LINE):
            return "print only the lines of clients.md on stdout, and log to stderr"
        case Faulty():
            return f"correct the command; it is started in {Path.cwd()}"
        case _:
            return f"start it by hand: {shlex.join(by_hand)}"


# --- claims ---


COMMITTED: Final = "read_committed"
UNCOMMITTED: Final = "read_uncommitted"

READS: Final = (
    *("wrapper", "partial-tail", "headers", "empty-batch", "log-append-time", "mixed-magic"),
    *("delete-horizon", "idempotent", "transactional", "fetch-offset"),
)
"""The features of a log that a client must read; it reads control batches, and delivers none of them."""

SHOWN: Final = {
    "offset": ("batches[].offset", "batches[].messages[].offset", "batches[].records[].offset"),
    "timestamp": ("batches[].timestamp", "batches[].messages[].timestamp", "batches[].records[].timestamp"),
    "timestampType": ("batches[].records[].timestampType", "batches[].messages[].timestampType"),
    "key": ("batches[].key", "batches[].messages[].key", "batches[].records[].key"),
    "value": ("batches[].value", "batches[].messages[].value", "batches[].records[].value"),
    "headers": ("batches[].records[].headers",),
}
"""The fields of a log by the field of a line."""

WRITTEN: Final = (
    *("baseOffset", "magic", "attributes", "lastOffsetDelta", "baseTimestamp", "maxTimestamp"),
    *("producerId", "records"),
)
"""The fields of a batch that a producer writes as given; it chooses the leader epoch.

Epoch and sequence are compared where there is a producer id: `produce_case.wrong_identity`.
"""


def batch_value(codec: int = 0, offset: int = 0) -> dict[str, Any]:
    """Return the value of a batch with one record that has everything."""
    return {
        "baseOffset": str(offset),
        "partitionLeaderEpoch": "0",
        "magic": "2",
        "attributes": str(codec),
        "lastOffsetDelta": "0",
        "baseTimestamp": "1700000000000",
        "maxTimestamp": "1700000000000",
        "producerId": "-1",
        "producerEpoch": "-1",
        "baseSequence": "-1",
        "records": [
            {
                "attributes": "0",
                "timestampDelta": "0",
                "offsetDelta": "0",
                "key": "6b",
                "value": "76",
                "headers": [["68", "78"]],
            }
        ],
    }


def hello_of_client(options: ClientOptions, words: tuple[str, ...], window: int) -> Hello:
    """Ask a client program what it knows, and return its hello; raise `AdapterStartError`."""
    revisions: dict[str, Claim] = {}
    software: list[str] = []
    if options.side != "produce":
        revisions["kafka.log/mixed"] = _reads(Consumers(options, words), software)
    else:
        names = ("kafka.log/mixed", *(f"kafka.batch/v{magic}" for magic in range(3)))
        revisions |= dict.fromkeys(names, Claim(()))
    if options.side != "consume":
        revisions["kafka.batch/v2"] = _writes(Producers(options, words, software))
    return Hello(options.name, " ".join(software), revisions, window=window, cost="slow")


def _reads(consumers: Consumers, software: list[str]) -> Claim:
    """Return what the program reads: it is asked for all codecs at once, and if it fails, for each alone.

    Raises:
        AdapterStartError: it does not deliver a record without compression.
    """

    def alone(codec: int) -> tuple[bool, Consumption, Outcome | None]:
        seen, outcome = consumers.consume(Serving(_batches([codec])), UNCOMMITTED)
        return outcome is None and len(seen.records) == 1, seen, outcome

    seen, outcome = consumers.consume(Serving(_batches(range(len(CODECS)))), COMMITTED)
    codecs: tuple[str, ...] = CODECS
    features: tuple[str, ...] = (*READS, "read-committed")
    if isinstance(outcome, Stalled) and not seen.served.fetches:
        raise not_consumed(consumers.options, consumers.words, seen, outcome)
    if outcome is not None or len(seen.records) != len(CODECS):
        plain, seen, outcome = alone(0)
        if not plain:
            raise not_consumed(consumers.options, consumers.words, seen, outcome)
        codecs = (*CODECS[:1], *(name for code, name in enumerate(CODECS) if code and alone(code)[0]))
        _, outcome = consumers.consume(Serving(_batches([0])), COMMITTED)
        if isinstance(outcome, Refused) and not outcome.untyped:  # it does not know this isolation
            features = READS
    software[:] = seen.software
    fields = (field for name in SHOWN if name in (seen.shown or ()) for field in SHOWN[name])
    return Claim(("decode",), codecs, ("reader",), (*fields, "nextOffset"), features)


def _batches(codecs: Iterable[int]) -> bytes:
    form = formats.get("kafka.batch", "v2")
    return b"".join(formats.encode(form, batch_value(codec, offset)) for offset, codec in enumerate(codecs))


def _writes(producers: Producers) -> Claim:
    """Return what the program produces: a mode is known unless it is an error, or sends no producer id.

    Raises:
        AdapterStartError: it does not produce a plain record.
    """
    outcome = producers.produce(batch_value())
    if not isinstance(outcome, Accepted):
        options = producers.options
        after = _next_step(outcome, *producers.words, "produce", BROKER, "TOPIC", "none", "plain")
        if options.side == "both":
            after = f"{after}; side=consume judges the consumer alone"
        found = getattr(outcome, "text", "")
        raise AdapterStartError(f"{options.name} does not produce a plain record: {found}; {after}")
    modes = []
    for name, bits in {"idempotent": 0, "transactional": TRANSACTIONAL}.items():
        identity = {"producerId": "1", "producerEpoch": "0", "baseSequence": "0"}
        match producers.produce(batch_value(bits) | identity):
            case Refused(untyped=False):
                continue
            case Accepted(data=data) if data and peek_batch(data).producer_id < 0:
                continue
        modes.append(name)
    return Claim(("encode",), CODECS, ("reader",), WRITTEN, ("headers", *modes))

"""What a client program is asked: a probe shows which fields, codecs and commands it knows."""

from typing import Any, Final

from wireproof import formats
from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.errors import AdapterStartError
from wireproof.cases.outcome import Accepted
from wireproof.kafka.family.client_program.client_options import ClientOptions
from wireproof.kafka.family.client_program.consume_case import Consumers, Consumption
from wireproof.kafka.family.client_program.produce_case import CODECS, Producers
from wireproof.kafka.family.loopback_broker.served_log import Serving

READS: Final = (
    *("wrapper", "partial-tail", "headers", "empty-batch", "log-append-time", "mixed-magic"),
    *("delete-horizon", "idempotent", "transactional", "fetch-offset", "read-committed"),
)
"""The features of a log that a client must read; it reads control batches, and delivers none of them."""

WRITES: Final = ("headers", "idempotent", "transactional")

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
    *("producerId", "producerEpoch", "baseSequence", "records"),
)
"""The fields of a batch that a producer writes as given; it chooses the leader epoch."""

_RECORD: Final[dict[str, Any]] = {
    "attributes": "0",
    "timestampDelta": "0",
    "offsetDelta": "0",
    "key": "6b",
    "value": "76",
    "headers": [["68", "78"]],
}


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
        "records": [_RECORD],
    }


def hello_of_client(options: ClientOptions, words: tuple[str, ...], window: int) -> Hello:
    """Ask a client program what it knows, and return its hello; raise `AdapterStartError`."""
    revisions: dict[str, Claim] = {}
    version = "unknown"
    if options.side != "produce":
        consumers = Consumers(options, words)
        seen = _probed(consumers)
        version = " ".join(seen.software) or version
        fields = sum((SHOWN[name] for name in SHOWN if name in (seen.shown or ())), ())
        revisions["kafka.log/mixed"] = Claim(
            ("decode",), _codecs(consumers), ("reader",), (*fields, "nextOffset"), READS
        )
    else:
        names = ("kafka.log/mixed", *(f"kafka.batch/v{magic}" for magic in range(3)))
        revisions |= dict.fromkeys(names, Claim(()))
    producers = Producers(options, words)
    if options.side != "consume" and _produces(producers):
        version = " ".join(producers.software) or version
        revisions["kafka.batch/v2"] = Claim(("encode",), CODECS, ("reader",), WRITTEN, WRITES)
    return Hello(options.name, version, revisions, window=window, cost="slow")


def _probed(consumers: Consumers) -> Consumption:
    """Return what the program delivers of a log with one record; raise `AdapterStartError`."""
    seen, outcome = consumers.consume(Serving(_batch(0, 0)), "read_uncommitted")
    if outcome is not None or len(seen.records) != 1:
        reason = getattr(outcome, "text", "") or f"{len(seen.records)} records of one"
        raise AdapterStartError(f"{consumers.options.name} does not consume a plain record: {reason}")
    return seen


def _codecs(consumers: Consumers) -> tuple[str, ...]:
    """Return the codecs that the program reads: it is asked for all at once, then for each alone."""
    both = b"".join(_batch(codec, codec) for codec in range(len(CODECS)))
    if _delivers(consumers, both, len(CODECS)):
        return CODECS
    return tuple(name for codec, name in enumerate(CODECS) if _delivers(consumers, _batch(codec, 0), 1))


def _delivers(consumers: Consumers, data: bytes, count: int) -> bool:
    seen, outcome = consumers.consume(Serving(data), "read_uncommitted")
    return outcome is None and len(seen.records) == count


def _batch(codec: int, offset: int) -> bytes:
    return formats.encode(formats.get("kafka.batch", "v2"), batch_value(codec, offset))


def _produces(producers: Producers) -> bool:
    """Return True if the program has the command `produce`."""
    return isinstance(producers.produce(batch_value()), Accepted)

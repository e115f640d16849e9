"""The ops of steps that a live Kafka broker is asked: adapter-contract.md, "Sequences"."""

from collections.abc import Mapping
from typing import Final

from wireproof import formats
from wireproof.cases.steps import StepOp
from wireproof.kafka.attribute_bits import TRANSACTIONAL
from wireproof.kafka.values import Log, RecordBatch
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.rejection import Rejected

LOG: Final = formats.get("kafka.log", "mixed")

PRODUCER: Final = frozenset({"transactionalId", "producerId", "producerEpoch"})
"""The fields of a request about a transaction."""

LIMITS: Final = frozenset(
    {"maxBytes", "partitionMaxBytes", "isolation", "minBytes", "maxWaitMs", "meanwhile"}
)
"""The fields of a fetch that say how much it returns, and when."""

STEP_OPS: Final[Mapping[str, StepOp]] = {
    "produce": StepOp(
        optional=frozenset({"partition", "transactionalId", "transactionVersion", "inFlight", "afterMs"}),
        data=True,
    ),
    "init-producer": StepOp(
        required=frozenset({"producerId"}), optional=frozenset({"transactionalId", "producerEpoch"})
    ),
    "add-partitions": StepOp(required=PRODUCER | {"partitions"}),
    "end-transaction": StepOp(required=PRODUCER | {"commit"}, optional=frozenset({"transactionVersion"})),
    "fetch": StepOp(
        required=frozenset({"offset"}),
        optional=LIMITS | {"partition", "until", "compacted", "version", "times"},
    ),
    "fetch-session": StepOp(
        required=frozenset({"epoch"}), optional=LIMITS | {"partitions", "forget", "otherSession"}
    ),
    "delete-records": StepOp(required=frozenset({"offset"}), optional=frozenset({"partition"})),
    "await-expiry": StepOp(required=frozenset({"of"})),
    "list-offset": StepOp(
        required=frozenset({"timestamp"}),
        optional=frozenset({"partition", "isolation", "timestampOf", "version"}),
    ),
    "restart": StepOp(),
}
"""The requests by name, each with its fields."""


def words_of_batch(data: bytes) -> str:
    """Describe the bytes of a produce: the producer and the values of each batch."""
    try:
        log = formats.decode(LOG, data, DEFAULT_OPTIONS).value
    except Rejected as rejected:
        return f"{len(data)} bytes, refused: {rejected.cls}"
    assert isinstance(log, Log)
    return " ".join(_words(entry) for entry in log.batches if isinstance(entry, RecordBatch))


def _words(batch: RecordBatch) -> str:
    values = ",".join((record.value or b"").decode("ascii", "backslashreplace") for record in batch.records)
    if batch.producer_id < 0:
        return f"[{values}]"
    kind = " transactional" if batch.attributes & TRANSACTIONAL else ""
    place = f"producer {batch.producer_id} epoch {batch.producer_epoch} sequence {batch.base_sequence}"
    return f"[{values}] {place}{kind}"

"""The markers of the end of a transaction: kafka.md §1.9, from Kafka's EndTransactionMarker."""

from struct import pack
from typing import Final

from wireproof.kafka.attribute_bits import CONTROL, TRANSACTIONAL
from wireproof.kafka.control_types import ABORT, COMMIT
from wireproof.kafka.family.loopback_broker.stored_form import LEADER_EPOCH, Form, written_records
from wireproof.kafka.values import Record, RecordBatch

VERSION: Final = 0
COORDINATOR_EPOCH: Final = 0
NO_SEQUENCE: Final = -1
MAGIC: Final = 2


def marker(producer: int, epoch: int, *, commit: bool, offset: int, now: int) -> Form:
    """Return the control batch that ends a transaction of a producer."""
    key = pack(">hh", VERSION, COMMIT if commit else ABORT)
    records = (Record(0, 0, 0, key, pack(">hi", VERSION, COORDINATOR_EPOCH), ()),)
    batch = RecordBatch(
        offset,
        LEADER_EPOCH,
        MAGIC,
        TRANSACTIONAL | CONTROL,
        0,
        now,
        now,
        producer,
        epoch,
        NO_SEQUENCE,
        records,
    )
    return Form(batch, written_records(batch))

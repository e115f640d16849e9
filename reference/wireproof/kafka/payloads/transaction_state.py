"""Records of `__transaction_state`: kafka.md §15.3."""

from typing import Final

from wireproof.kafka.payloads import codes
from wireproof.kafka.payloads.framing import KeyedRecord
from wireproof.wire.struct_table import ListOf, StructField, VersionedStruct

TRANSACTION_LOG_KEY: Final = VersionedStruct(
    "TransactionLogKey", (StructField("transactionalId", "string", "0"),), versions="0"
)

_PARTITIONS_SCHEMA: Final = VersionedStruct(
    "PartitionsSchema",
    (
        StructField("topic", "string"),
        StructField("partitionIds", ListOf("int32")),
    ),
)

TRANSACTION_LOG_VALUE: Final = VersionedStruct(
    "TransactionLogValue",
    (
        StructField("producerId", "int64"),
        StructField("previousProducerId", "int64", "1+", tag=0, default=-1),
        StructField("nextProducerId", "int64", "1+", tag=1, default=-1),
        StructField("producerEpoch", "int16"),
        StructField("nextProducerEpoch", "int16", "1+", tag=3, default=-1),
        StructField("transactionTimeoutMs", "int32"),
        StructField("transactionStatus", "int8", codes=codes.TRANSACTION_STATES),
        StructField("transactionPartitions", ListOf(_PARTITIONS_SCHEMA), nullable="0+"),
        StructField("transactionLastUpdateTimestampMs", "int64"),
        StructField("transactionStartTimestampMs", "int64"),
        StructField("clientTransactionVersion", "int16", "1+", tag=2),
    ),
    versions="0-1",
    flexible="1+",
)

TRANSACTION_STATE: Final = {
    0: KeyedRecord("TransactionLog", TRANSACTION_LOG_KEY, TRANSACTION_LOG_VALUE),
}
"""The record types by the number in the key."""

"""The error codes with which a broker refuses a record set, and the class of each.

Numbers and names: Kafka's protocol guide, "Error Codes" (`Errors`). Each code has one class, so that a case
whose sources name a code can be judged by it. Where Kafka raises each, by the classes of kafka.md §1.7:

    CORRUPT_MESSAGE                    `UnifiedLog.analyzeAndValidateRecords`: `batch.ensureValid()`;
                                       `LogValidator.validateRecord`: the CRC of an inner message
    INVALID_RECORD                     `LogValidator.validateBatch`, `validateKey`;
                                       `ProduceRequest.validateRecords`
    MESSAGE_TOO_LARGE                  `UnifiedLog.analyzeAndValidateRecords`: above `max.message.bytes`
    RECORD_LIST_TOO_LARGE              `UnifiedLog.append`: the set is larger than a segment
    INVALID_TIMESTAMP                  `LogValidator.validateTimestamp`
    UNSUPPORTED_COMPRESSION_TYPE       `ProduceRequest.validateRecords`: zstd before Produce 7 (KIP-110)
    UNSUPPORTED_FOR_MESSAGE_FORMAT     `LogValidator.validateBatch`: a transaction in v0 or v1
    OUT_OF_ORDER_SEQUENCE_NUMBER and   `ProducerAppendInfo` (KIP-98)
    the codes of a producer's state
"""

from typing import Final

from attrs import frozen

from wireproof.wire.rejection import RejectClass


@frozen
class BrokerError:
    """An error code of a broker: its name, and the class of the refusal."""

    name: str
    cls: RejectClass = "other"


ERRORS: Final[dict[int, BrokerError]] = {
    -1: BrokerError("UNKNOWN_SERVER_ERROR"),
    2: BrokerError("CORRUPT_MESSAGE", "crc-mismatch"),
    10: BrokerError("MESSAGE_TOO_LARGE", "limit-exceeded"),
    18: BrokerError("RECORD_LIST_TOO_LARGE", "limit-exceeded"),
    32: BrokerError("INVALID_TIMESTAMP", "invalid-value"),
    42: BrokerError("INVALID_REQUEST"),
    43: BrokerError("UNSUPPORTED_FOR_MESSAGE_FORMAT", "bad-magic"),
    45: BrokerError("OUT_OF_ORDER_SEQUENCE_NUMBER", "bad-offset"),
    46: BrokerError("DUPLICATE_SEQUENCE_NUMBER", "bad-offset"),
    47: BrokerError("INVALID_PRODUCER_EPOCH"),
    48: BrokerError("INVALID_TXN_STATE"),
    49: BrokerError("INVALID_PRODUCER_ID_MAPPING"),
    53: BrokerError("TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
    59: BrokerError("UNKNOWN_PRODUCER_ID"),
    76: BrokerError("UNSUPPORTED_COMPRESSION_TYPE", "unknown-codec"),
    87: BrokerError("INVALID_RECORD", "not-permitted"),
}
"""The answers about a record set, by code."""

UNDOCUMENTED: Final = frozenset({-1})
"""Codes that say only that the broker failed: no client can tell what is wrong with its records."""

RETRIED: Final = frozenset({3, 5, 6, 7, 8, 9, 13, 14, 19, 20, 56, 74, 75, 89, 100})
"""Codes about the state of the cluster, not about the records: leaders move, replicas lag behind."""

UNKNOWN_TOPIC: Final = frozenset({3, 100})
"""UNKNOWN_TOPIC_OR_PARTITION and UNKNOWN_TOPIC_ID, which a topic has for a moment after its creation too."""

PRODUCER_STATE: Final = frozenset({45, 46, 47, 48, 49, 51, 53, 59, 90})
"""Codes about the state of a producer or of its transaction, which no bytes of a record set create."""

DENIED: Final = frozenset({29, 31})
"""TOPIC_AUTHORIZATION_FAILED and CLUSTER_AUTHORIZATION_FAILED."""


def error_of(code: int) -> BrokerError:
    """Return the error of a code; one without a class for a code that says nothing about records."""
    return ERRORS.get(code) or BrokerError(f"error {code}")


def name_of(code: int) -> str:
    return error_of(code).name

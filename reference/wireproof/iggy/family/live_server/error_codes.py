"""The error codes of an Iggy server as reject classes: iggy.md, section 9."""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from wireproof.wire.reject_classes import RejectClass


@frozen
class ServerError:
    """An error of the server: its name and the class of a refusal."""

    name: str
    cls: RejectClass = "other"


ERRORS: Final[Mapping[int, ServerError]] = {
    3: ServerError("InvalidCommand"),
    6: ServerError("InvalidIdentifier", "invalid-value"),
    40: ServerError("Unauthenticated"),
    41: ServerError("Unauthorized", "not-permitted"),
    42: ServerError("InvalidCredentials"),
    204: ServerError("CannotParseSlice"),
    209: ServerError("CannotParseHeaderKind", "bad-kind"),
    1009: ServerError("StreamIdNotFound"),
    2010: ServerError("TopicIdNotFound"),
    3007: ServerError("PartitionNotFound"),
    3021: ServerError("ConsumerOffsetNotFound"),
    3022: ServerError("NotResolvedConsumer"),
    4009: ServerError("InvalidMessagesCount", "count-mismatch"),
    4017: ServerError("TooBigUserHeaders", "limit-exceeded"),
    4018: ServerError("InvalidHeaderKey", "invalid-value"),
    4019: ServerError("InvalidHeaderValue", "invalid-value"),
    4022: ServerError("TooBigMessagePayload", "limit-exceeded"),
    4024: ServerError("EmptyMessagePayload", "invalid-value"),
    4025: ServerError("InvalidMessagePayloadLength", "bad-length"),
    4027: ServerError("InvalidMessageChecksum", "crc-mismatch"),
    4028: ServerError("InvalidKeyValueLength", "bad-length"),
    4031: ServerError("NonZeroOffset", "reserved-nonzero"),
    4032: ServerError("NonZeroTimestamp", "reserved-nonzero"),
    4033: ServerError("MissingIndex", "count-mismatch"),
    4034: ServerError("InvalidIndexesByteSize", "length-mismatch"),
    4035: ServerError("InvalidIndexesCount", "count-mismatch"),
    4036: ServerError("InvalidMessagesSize", "length-mismatch"),
    4037: ServerError("TooSmallMessage", "truncated"),
    4100: ServerError("InvalidOffset", "bad-offset"),
    4101: ServerError("InvalidReservedField", "reserved-nonzero"),
    5000: ServerError("ConsumerGroupIdNotFound"),
    5003: ServerError("ConsumerGroupNameNotFound"),
    5006: ServerError("ConsumerGroupMemberNotFound"),
    10011: ServerError("CannotReadIndexPosition", "bad-offset"),
}


def error_of(status: int) -> ServerError:
    """Return the error with a code; one that the table lacks has its number as name."""
    return ERRORS.get(status) or ServerError(f"error {status}")

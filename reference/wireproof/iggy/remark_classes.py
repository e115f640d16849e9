"""The remark classes of Iggy: iggy.md, sections 9 to 11."""

from typing import Final

from wireproof.wire.remark_classes import RemarkClass

IGGY_REMARKS: Final[dict[str, RemarkClass]] = {
    "iggy-duplicate-header": RemarkClass(
        "iggy.md §10.1", "a header key occurs twice", others=("first-wins", "last-wins")
    ),
    "iggy-header-size": RemarkClass(
        "iggy.md §10.3, int32_3bytes", "the size of a header value does not match its kind"
    ),
    "iggy-header-bool": RemarkClass("iggy.md §10.3, bool_is_2", "a boolean is neither 0 nor 1"),
    "iggy-header-utf8": RemarkClass("iggy.md §0 and §2.3, kind string", "a string header is not UTF-8"),
    "iggy-message-count": RemarkClass("iggy.md §3.3, §11.1 R9", "the count is not the number of messages"),
    "iggy-message-order": RemarkClass(
        "iggy.md §3.3, §5",
        "messages are not in the order of their offsets",
        rejectable=False,
        others=("sorted-by-offset",),
    ),
    "iggy-empty-payload": RemarkClass("iggy.md §3.3, §11.1 R10", "a message has no payload"),
    "iggy-payload-checksum": RemarkClass(
        "iggy.md §3.3, checksum", "the checksum of a payload is wrong", mismatch=True
    ),
    "iggy-message-checksum": RemarkClass(
        "iggy.md §5, §6, §11.1 R9", "the checksum of a message is wrong", mismatch=True
    ),
    "iggy-batch-checksum": RemarkClass(
        "iggy.md §6, §11.1 R9", "the checksum of a batch is wrong", mismatch=True
    ),
    "iggy-batch-count": RemarkClass(
        "iggy.md §6, §11.1 R9", "the count of a batch is not the number of its messages", mismatch=True
    ),
    "iggy-offset-delta": RemarkClass(
        "iggy.md §6: producers write the index of the message", "the index of a message is not its position"
    ),
    "iggy-unminted-id": RemarkClass("iggy.md §2.5: the server does not check it", "a message has the id 0"),
    "iggy-opaque-headers": RemarkClass(
        "iggy.md §5, §6, §10.2: encrypted or damaged, the message is delivered",
        "headers are no map of keys and values: they may be encrypted",
        rejectable=False,
        others=("no-headers",),
    ),
    "iggy-unset-field": RemarkClass(
        "iggy.md §2.1, §5: written as 0, ignored by readers", "a field that must be 0 has another value"
    ),
    "iggy-flag": RemarkClass(
        "iggy.md §3.2, §5: every value other than 1 means 0", "a flag is neither 0 nor 1"
    ),
    "iggy-request-checksum": RemarkClass(
        "iggy.md §2.1, request_checksum", "the checksum of a request is wrong", mismatch=True
    ),
    "iggy-no-request-checksum": RemarkClass(
        "iggy.md §2.1, request_checksum: optional, and 0 where a client leaves it out",
        "a request has no checksum, which is optional",
        rejectable=False,
    ),
    "iggy-short-body": RemarkClass(
        "iggy.md §2.1: clients read one byte as an empty body",
        "one byte for an empty body",
        others=("empty",),
    ),
    "iggy-balanced-value": RemarkClass("iggy.md §2.2, Partitioning", "a balanced partitioning has a value"),
    "iggy-bare-balanced": RemarkClass("iggy.md §2.2, Partitioning", "a balanced partitioning has no length"),
    "iggy-lowered-limit": RemarkClass("iggy.md §9, 0.0.30 and 0.0.116", "longer than later servers accept"),
    "iggy-json-length": RemarkClass(
        "iggy.md §8.2: no reader compares it", "a length in JSON does not match its value"
    ),
    "iggy-json-reserved": RemarkClass(
        "iggy.md §8.2, §11.1 R16: not checked", "a reserved field of JSON is not 0"
    ),
    "iggy-json-unknown-field": RemarkClass("iggy.md §8", "JSON has a field without a meaning"),
    "iggy-base64-bits": RemarkClass("RFC 4648 §3.5", "base64 ends in bits that are not 0"),
}

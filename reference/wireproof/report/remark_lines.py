"""The meaning of remarks, for a person who looks at bytes: a sentence for each class.

A remark says that the format leaves the answer open. It is no fault: the bytes may be correct.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from wireproof.wire.rejection import Remark

MEANINGS: Final[dict[str, str]] = {
    # Kafka
    "size-overflow": "a size that no log contains",
    "unknown-attr-bits": "attribute bits without a meaning are set",
    "record-attrs": "the attributes of a record, which are unused, are not 0",
    "varint-overlong": "a number takes more bytes than it needs",
    "varint-dropped-bits": "a number has bits that do not fit into its type",
    "length-below-minus1": "a length below -1, read as null",
    "header-key-utf8": "the key of a header is not UTF-8",
    "offset-delta": "the offsets inside the batch are not those of its header",
    "last-offset-delta": "the last offset of the batch is not that of its last record",
    "offset-negative": "an offset is below 0",
    "offset-overflow": "an offset does not fit into 64 bits",
    "offsets-not-monotonic": "offsets do not increase",
    "max-timestamp": "the maximum timestamp of the batch is not that of its records",
    "producer-fields": "producer id, epoch and sequence are not all set or all unset; Kafka's broker itself"
    " writes a sequence of 0 without a producer in __consumer_offsets",
    "negative-timestamp": "a timestamp is below 0",
    "timestamp-overflow": "a timestamp does not fit into 64 bits",
    "count-zero-with-bytes": "a batch without records has bytes in their place",
    "compressed-empty-batch": "a batch without records is marked as compressed",
    "lat-and-horizon": "the append time and the delete horizon share one field",
    "control-record-count": "a control batch does not have exactly one record, such as those of KRaft",
    "control-not-transactional": "a control batch is not transactional, such as those of KRaft",
    "control-compressed": "a control batch is compressed",
    "control-value": "the value of a control record is not the end of a transaction, such as those of KRaft",
    "legacy-extra-bytes": "there are bytes after the value of a message",
    "wrapper-key": "a wrapper message has a key",
    "wrapper-crc": "the checksum of a wrapper message is wrong",
    "inner-magic": "an inner message has another magic than its wrapper",
    "inner-truncated": "the last inner message is cut",
    "inner-offsets": "the offsets of inner messages do not increase by one",
    "inner-ts-type": "an inner message has another timestamp type than its wrapper",
    "produce-append-time": "a producer sets the timestamp type to append time",
    "produce-delete-horizon": "a producer sets the cleaner's bit",
    "produce-inner-offsets": "a producer sets offsets that the broker overwrites",
    "gzip-trailing-garbage": "there are bytes after the end of the gzip stream",
    "gzip-reserved-flags": "reserved flags of gzip are set",
    "snappy-unframed": "snappy without the framing of snappy-java, as many clients write it",
    "snappy-version": "the snappy framing has another version",
    "snappy-trailing-bytes": "there are bytes after the last snappy block",
    "snappy-concatenated": "more than one snappy frame",
    "lz4-content-checksum": "the content checksum of the lz4 frame is wrong",
    "lz4-content-size": "the content size of the lz4 frame is wrong",
    "lz4-after-endmark": "there are bytes after the end of the lz4 frame",
    "lz4-endmark-stored": "an empty lz4 block that is not the end mark",
    "lz4-v0-hc-good": "the lz4 header checksum is correct; old clients write another one",
    "lz4-v0-hc-neither": "the lz4 header checksum is neither correct nor that of old clients",
    "zstd-empty-packed-block": "a compressed zstd block is empty",
    # Iggy
    "iggy-duplicate-header": "a header key occurs twice",
    "iggy-header-size": "the size of a header value does not match its kind",
    "iggy-header-bool": "a boolean is neither 0 nor 1",
    "iggy-header-utf8": "a string header is not UTF-8",
    "iggy-message-count": "the count is not the number of messages",
    "iggy-message-order": "messages are not in the order of their offsets",
    "iggy-empty-payload": "a message has no payload",
    "iggy-payload-checksum": "the checksum of a payload is wrong",
    "iggy-message-checksum": "the checksum of a message is wrong",
    "iggy-batch-checksum": "the checksum of a batch is wrong",
    "iggy-batch-count": "the count of a batch is not the number of its messages",
    "iggy-offset-delta": "the index of a message is not its position",
    "iggy-unminted-id": "a message has the id 0",
    "iggy-opaque-headers": "headers are no map of keys and values: they may be encrypted",
    "iggy-unset-field": "a field that must be 0 has another value",
    "iggy-flag": "a flag is neither 0 nor 1",
    "iggy-request-checksum": "the checksum of a request is wrong",
    "iggy-no-request-checksum": "a request has no checksum, which is optional",
    "iggy-short-body": "one byte for an empty body",
    "iggy-balanced-value": "a balanced partitioning has a value",
    "iggy-bare-balanced": "a balanced partitioning has no length",
    "iggy-lowered-limit": "longer than later servers accept",
    "iggy-json-length": "a length in JSON does not match its value",
    "iggy-json-reserved": "a reserved field of JSON is not 0",
    "iggy-json-unknown-field": "JSON has a field without a meaning",
    "iggy-base64-bits": "base64 ends in bits that are not 0",
    # Heka
    "varint-nonminimal": "a number takes more bytes than it needs",
    "int32-five-byte-negative": "a negative number is cut to 32 bits",
    "severity-range": "a severity outside 0 to 7",
    "timestamp-negative": "a timestamp is below 0",
    "bad-utf8": "a string is not UTF-8",
    "duplicate-scalar": "a field occurs twice, the last one counts",
    "field-no-value": "a field has no value",
    "field-empty-name": "a field has an empty name",
    "packed-empty": "a packed list without values",
    "bool-not-01": "a boolean is neither 0 nor 1",
    "header-order": "the fields of a header are in another order",
    "header-unknown-field": "a header has a field without a meaning",
    "header-unknown-function": "a header names a hash function that Heka does not have",
    "legacy-encoding": "the header names an encoding, which old Heka wrote",
    "legacy-encoding-json": "the header names JSON, which old Heka wrote",
}


def remark_text_lines(remarks: Sequence[Remark]) -> Iterator[str]:
    """Return one line for each remark class that occurs: its meaning, its count, and its first position."""
    by_class: dict[str, list[Remark]] = {}
    for remark in remarks:
        by_class.setdefault(remark.cls, []).append(remark)
    for cls, found in by_class.items():
        first = found[0]
        often = f"{len(found)} times, first at" if len(found) > 1 else "at"
        yield f"remark {cls}, {often} {first.at} ({first.path}): {MEANINGS[cls]}; {_allowed(first)}"


def misfit_lines(remarks: Sequence[Remark]) -> Iterator[str]:
    """Return one line for each remark on damaged bytes, however readers may treat them."""
    for one in remarks:
        yield f"wrong: {one.cls} at {one.at} ({one.path}): {MEANINGS[one.cls]}"


def _allowed(remark: Remark) -> str:
    """Return the other answers that a reader may give."""
    others = [f"another value ({other.name}: {other.value})" for other in remark.others]
    also = [*["a refusal"] * remark.rejectable, *others]
    return f"allowed, and so is {' or '.join(also)}" if also else "allowed"

"""What a remark means, for a person who looks at bytes: a sentence of each class, and one line of a kind.

A remark says that the format leaves the answer open. It is no alarm: the bytes may be as they ought to be.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from wireproof.wire.rejection import Remark

MEANINGS: Final[dict[str, str]] = {
    # Kafka
    "size-overflow": "a size that no log holds",
    "unknown-attr-bits": "attribute bits without a meaning are set",
    "record-attrs": "the attributes of a record, which are unused, are not 0",
    "varint-overlong": "a number takes more bytes than it needs",
    "varint-dropped-bits": "a number has bits that do not fit into its type",
    "length-below-minus1": "a length below -1, read as null",
    "header-key-utf8": "the key of a header is not UTF-8",
    "offset-delta": "the offsets inside the batch are not those of its head",
    "last-offset-delta": "the last offset of the batch is not that of its last record",
    "offset-negative": "an offset is below 0",
    "offset-overflow": "an offset does not fit into 64 bits",
    "offsets-not-monotonic": "offsets do not rise",
    "max-timestamp": "the greatest timestamp of the batch is not that of its records",
    "producer-fields": "producer id, epoch and sequence are not all set or all unset; Kafka's broker itself"
    " writes a sequence of 0 without a producer in __consumer_offsets",
    "negative-timestamp": "a timestamp is below 0",
    "timestamp-overflow": "a timestamp does not fit into 64 bits",
    "count-zero-with-bytes": "a batch without records has bytes in their place",
    "compressed-empty-batch": "a batch without records is marked as compressed",
    "lat-and-horizon": "the time of appending and a delete horizon share one field",
    "control-record-count": "a control batch has other than one record, as the ones that KRaft writes",
    "control-not-transactional": "a control batch is not transactional, as the ones that KRaft writes",
    "control-compressed": "a control batch is compressed",
    "control-value": "the value of a control record is no end of a transaction; KRaft writes others",
    "legacy-extra-bytes": "bytes stand behind the value of a message",
    "wrapper-key": "a message that wraps others has a key",
    "wrapper-crc": "the checksum of a message that wraps others is not right",
    "inner-magic": "a message inside another has another magic",
    "inner-truncated": "the last message inside another is cut",
    "inner-offsets": "the offsets of messages inside another do not rise by one",
    "inner-ts-type": "a message inside another has another type of timestamp",
    "produce-append-time": "a producer sets the time of appending",
    "produce-delete-horizon": "a producer sets the cleaner's bit",
    "produce-inner-offsets": "a producer sets offsets that a broker writes anew",
    "gzip-trailing-garbage": "bytes stand behind the end of the gzip stream",
    "gzip-reserved-flags": "reserved flags of gzip are set",
    "snappy-unframed": "snappy without the frame of snappy-java, as many clients write it",
    "snappy-version": "the frame of snappy has another version",
    "snappy-trailing-bytes": "bytes stand behind the last block of snappy",
    "snappy-concatenated": "more than one frame of snappy",
    "lz4-content-checksum": "the checksum of the content of lz4 is not right",
    "lz4-content-size": "the size of the content of lz4 is not right",
    "lz4-after-endmark": "bytes stand behind the end of the lz4 frame",
    "lz4-endmark-stored": "a block of lz4 without bytes that is no end",
    "lz4-v0-hc-good": "the header checksum of lz4 is right, which old clients write otherwise",
    "lz4-v0-hc-neither": "the header checksum of lz4 is neither right nor as old clients write it",
    "zstd-empty-packed-block": "a compressed block of zstd has no bytes",
    # Iggy
    "iggy-duplicate-header": "a header key stands twice",
    "iggy-header-size": "the value of a header has not the size of its kind",
    "iggy-header-bool": "a truth value is neither 0 nor 1",
    "iggy-header-utf8": "a header of text is not UTF-8",
    "iggy-message-count": "the count is not that of the messages",
    "iggy-message-order": "messages are not in the order of their offsets",
    "iggy-empty-payload": "a message has no payload",
    "iggy-payload-checksum": "the checksum of a payload is not right",
    "iggy-message-checksum": "the checksum of a message is not right",
    "iggy-batch-checksum": "the checksum of a batch is not right",
    "iggy-batch-count": "the count of a batch is not that of its messages",
    "iggy-offset-delta": "a message has not the number of its place",
    "iggy-unminted-id": "a message has the id 0",
    "iggy-opaque-headers": "headers are no map of keys and values: they may be encrypted",
    "iggy-unset-field": "a field that is left at 0 is not",
    "iggy-flag": "a flag is neither 0 nor 1",
    "iggy-request-checksum": "the checksum of a request is not right",
    "iggy-short-body": "one byte for an empty body",
    "iggy-balanced-value": "a balanced partitioning has a value",
    "iggy-bare-balanced": "a balanced partitioning has no length",
    "iggy-lowered-limit": "longer than later servers take",
    "iggy-json-length": "a length in JSON is not that of its value",
    "iggy-json-reserved": "a reserved field of JSON is not 0",
    "iggy-json-unknown-field": "JSON has a field without a meaning",
    "iggy-base64-bits": "base64 ends in bits that are not 0",
    # Heka
    "varint-nonminimal": "a number takes more bytes than it needs",
    "int32-five-byte-negative": "a negative number is cut to 32 bits",
    "severity-range": "a severity outside 0 to 7",
    "timestamp-negative": "a timestamp is below 0",
    "bad-utf8": "a text is not UTF-8",
    "duplicate-scalar": "a field stands twice, the last one counts",
    "field-no-value": "a field has no value",
    "field-empty-name": "a field has an empty name",
    "packed-empty": "a packed list without values",
    "bool-not-01": "a truth value is neither 0 nor 1",
    "header-order": "the fields of a header are in another order",
    "header-unknown-field": "a header has a field without a meaning",
    "legacy-encoding": "the header names an encoding, which old Heka wrote",
    "legacy-encoding-json": "the header names JSON, which old Heka wrote",
}


def remark_text_lines(remarks: Sequence[Remark]) -> Iterator[str]:
    """Return one line of each class that was remarked: what it means, how often, where first."""
    by_class: dict[str, list[Remark]] = {}
    for remark in remarks:
        by_class.setdefault(remark.cls, []).append(remark)
    for cls, found in by_class.items():
        first = found[0]
        often = f"{len(found)} times, first at" if len(found) > 1 else "at"
        yield f"remark {cls}, {often} {first.at} ({first.path}): {MEANINGS[cls]}; {_allowed(first)}"


def misfit_lines(remarks: Sequence[Remark]) -> Iterator[str]:
    """Return a line of each remark on bytes that are damaged, whatever a reader may make of them."""
    for one in remarks:
        yield f"wrong: {one.cls} at {one.at} ({one.path}): {MEANINGS[one.cls]}"


def _allowed(remark: Remark) -> str:
    """Return the other answers that a reader may give."""
    others = [f"another value ({other.name}: {other.value})" for other in remark.others]
    also = [*["a refusal"] * remark.rejectable, *others]
    return f"allowed, and so is {' or '.join(also)}" if also else "allowed"

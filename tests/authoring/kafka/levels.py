"""The levels of Kafka's cases that are not `must`; the rule of each case gives the reason.

`should`: one reader, or a policy of the suite. `may`: the text says one thing, and a reader does another.
"""

from typing import Final

SHOULD: Final = """
    kafka.batch/v1/encode/timestamp-minus-2
    kafka.batch/v1/produce/append-time-0
    kafka.batch/v1/produce/append-time-none
    kafka.batch/v1/produce/create-time-none
    kafka.batch/v1/produce/inner-magic
    kafka.batch/v1/produce/wrapper-no-time
    kafka.batch/v0/produce/encode-wrapper-snappy
    kafka.batch/v1/produce/encode-wrapper-snappy
    kafka.batch/v1/wrapper/inner-magic-5
    kafka.batch/v1/wrapper/inner-magic-minus-1
    kafka.batch/v1/wrapper/nested
    kafka.batch/v1/wrapper/nested-second
    kafka.batch/v1/wrapper/nested-second-codec-5
    kafka.batch/v1/wrapper/offset-below-last
    kafka.batch/v1/wrapper/offset-negative
    kafka.batch/v2/compression/snappy-bomb
    kafka.batch/v2/compression/snappy-two-bytes-behind
    kafka.batch/v2/compression/snappy-two-streams
    kafka.batch/v2/compression/snappy-zero-chunk
    kafka.batch/v2/control/key-version-negative
    kafka.batch/v2/control/kraft-version-v1
    kafka.batch/v2/control/kraft-voters
    kafka.batch/v2/control/kraft-voters-overlong
    kafka.batch/v2/control/kraft-voters-v1
    kafka.batch/v2/control/leader-change-nulls
    kafka.batch/v2/control/leader-change-tags
    kafka.batch/v2/control/leader-change-two-voters
    kafka.batch/v2/control/leader-change-v-minus-1
    kafka.batch/v2/control/leader-change-v1
    kafka.batch/v2/control/leader-change-v2
    kafka.batch/v2/control/snapshot-footer
    kafka.batch/v2/control/snapshot-footer-overlong
    kafka.batch/v2/control/snapshot-footer-v1
    kafka.batch/v2/control/snapshot-header
    kafka.batch/v2/control/snapshot-header-v1
    kafka.batch/v2/counts/gzip-zero-of-empty-member
    kafka.batch/v2/counts/gzip-zero-of-none
    kafka.batch/v2/counts/lz4-zero-of-none
    kafka.batch/v2/counts/snappy-zero-of-none
    kafka.batch/v2/counts/zstd-zero-of-none
    kafka.batch/v2/gzip/reserved-flag-0x20
    kafka.batch/v2/gzip/trailing-garbage
    kafka.batch/v2/headers/key-invalid-utf8
    kafka.batch/v2/lz4/after-end-mark
    kafka.batch/v2/lz4/content-checksum-wrong
    kafka.batch/v2/lz4/dictionary-bit
    kafka.batch/v2/lz4/packed-block-of-nothing
    kafka.batch/v2/precedence/codec-before-count
    kafka.batch/v2/precedence/count-before-stream
    kafka.batch/v2/precedence/crc-before-codec
    kafka.batch/v2/precedence/crc-before-count
    kafka.batch/v2/precedence/magic-before-whole-size
    kafka.batch/v2/precedence/none
    kafka.batch/v2/precedence/size-before-magic
    kafka.batch/v2/produce/append-time
    kafka.batch/v2/produce/append-time-0
    kafka.batch/v2/produce/append-time-none
    kafka.batch/v2/produce/base-offset-1
    kafka.batch/v2/produce/base-offset-5
    kafka.batch/v2/produce/base-offset-minus-1
    kafka.batch/v2/produce/count-not-range
    kafka.batch/v2/produce/create-time-none
    kafka.batch/v2/produce/encode-snappy
    kafka.batch/v2/produce/no-epoch
    kafka.batch/v2/produce/producer-0
    kafka.batch/v2/produce/range-above-count
    kafka.batch/v2/produce/range-below-count
    kafka.batch/v2/produce/sequence-last
    kafka.batch/v2/produce/three-records
    kafka.batch/v2/produce/transactional-no-time
    kafka.batch/v2/varints/dropped-bits-0x10
    kafka.batch/v2/varints/dropped-bits-0x7f
    kafka.batch/v2/varints/gzip-length-six-bytes
    kafka.batch/v2/varints/length-six-bytes
    kafka.batch/v2/varints/six-bytes
    kafka.batch/v2/varints/varlong-dropped-bits-0x02
    kafka.batch/v2/varints/varlong-dropped-bits-0x7f
    kafka.batch/v2/zstd/bomb-of-zeros
    kafka.batch/v2/zstd/window-log-27
    kafka.log/mixed/damaged/magic-128
    kafka.log/mixed/damaged/magic-3-alone
    kafka.log/mixed/damaged/magic-3-in-tail
    kafka.log/mixed/damaged/size-13
    kafka.log/mixed/damaged/size-over-maximum-cut
    kafka.log/mixed/damaged/zeros-12
    kafka.log/mixed/damaged/zeros-12-alone
    kafka.log/mixed/delivered/aborted-broken-gzip
    kafka.log/mixed/produce/batch-then-cut
    kafka.log/mixed/produce/message-then-cut
    kafka.log/mixed/produce/one-batch
    kafka.log/mixed/produce/two-batches
    kafka.log/mixed/produce/two-magics
    kafka.log/mixed/produce/two-messages
    kafka.log/mixed/segments/magic-3-cut
    kafka.log/mixed/segments/magic-3-in-tail
    kafka.log/mixed/segments/zeros-12
    kafka.log/mixed/segments/zeros-17
    kafka.log/mixed/segments/zeros-18
"""

MAY: Final = """
    kafka.batch/v2/control/kraft-voters-name-past-end
    kafka.batch/v2/control/leader-change-count-past-end
    kafka.batch/v2/control/leader-change-null
    kafka.batch/v2/control/snapshot-footer-tag-past-end
    kafka.batch/v2/control/snapshot-footer-without-tags
    kafka.batch/v2/control/snapshot-header-short
    kafka.batch/v2/control/value-5-bytes
    kafka.batch/v2/control/value-empty
    kafka.batch/v2/control/value-null
    kafka.batch/v2/control/value-version-negative
    kafka.batch/v2/counts/gzip-zero-of-garbage
    kafka.batch/v2/counts/zero-with-bytes
    kafka.batch/v2/counts/zero-with-three-bytes
    kafka.batch/v2/zstd/window-log-28
    kafka.log/mixed/segments/magic-3
"""

LEVELS: Final = dict.fromkeys(SHOULD.split(), "should") | dict.fromkeys(MAY.split(), "may")
"""The level of each case, by its id."""

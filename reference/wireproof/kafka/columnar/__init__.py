"""The fast decoder of Kafka entries: whole buffers to arrays and Arrow columns.

A buffer is any contiguous bytes: `bytes`, or `memoryview(mmap)`. To scan a part of a file, pass
`view[start:end]`; positions then count from `start`. All functions take `Options` and respect `max_output`,
`max_message` and `profile` like the reference's scan. None of them raises, whatever the bytes are.

The kernels answer only for entries that they find valid and without remarks. They hand every other entry to
the reference (`wireproof.kafka`), one at a time. So the result is always that of the reference; only the time
differs. `KafkaFrames.by_reference` marks the entries that the reference decoded.

Memory: a scan needs about 30 bytes for each item. Records are kept in blocks of 4 MiB of entries or 2 MiB of
decompressed bytes, unless one entry alone is larger. Without numba and pyarrow the import fails with one line
that names the extra. `columns` imports pyarrow, which a scan does not need.
"""

from wireproof.columnar.basic_kernels import FRAME, GARBAGE, KINDS, TAIL
from wireproof.kafka.columnar.entry_scan import KafkaFrames, scan

__all__ = ["FRAME", "GARBAGE", "KINDS", "TAIL", "KafkaFrames", "scan"]

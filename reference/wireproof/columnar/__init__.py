"""The fast decoders: whole buffers of entries and frames into arrays and Arrow columns. Design, section 2.

    frames = columnar.scan(buffer)            # every byte accounted for: arrays, one row an item
    columnar.heads(buffer, frames)            # the same as a pyarrow.RecordBatch, with fixed fields: HEADS
    for batch in columnar.records(buffer):    # pyarrow.RecordBatch, one row a record: RECORDS
        ...
    columnar.scan_heka(buffer)                # a heka.stream accounted for: HekaFrames

`buffer` is anything with bytes in one piece: `bytes`, or `memoryview(mmap)`. A part of a file is
`view[start:end]`; positions then count from `start`. All of them take `Options`: `max_output`, `max_message`,
`profile` as the reference's scan does. None of them raises, for any bytes at all.

The kernels answer only for entries that they find clean and free of remarks. Every other entry is handed to
the reference (`wireproof.kafka`), one by one; so what comes out is what the reference says, and only the
time differs. `Frames.handed` tells which they were, `Frames.share` their part of the whole entries.

Memory: a scan holds some 30 bytes an item; records are given wave by wave, 16 MiB of entries or 2 MiB of
what they unpack to at a time, unless one entry alone is larger. Without numba and pyarrow the import fails
with one line that names the extra.
"""

from wireproof.columnar.arrow import RECORDS, clean_records, records
from wireproof.columnar.frames import FRAME, GARBAGE, KINDS, TAIL, Frames, scan
from wireproof.columnar.heads import HEADS, heads
from wireproof.columnar.heka import HekaFrames, scan_heka

__all__ = [
    "FRAME",
    "GARBAGE",
    "HEADS",
    "KINDS",
    "RECORDS",
    "TAIL",
    "Frames",
    "HekaFrames",
    "clean_records",
    "heads",
    "records",
    "scan",
    "scan_heka",
]

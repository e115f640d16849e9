"""The fast decoder of Heka frames: whole buffers to arrays.

    columnar.scan_heka(buffer)    # the items of a heka.stream: HekaFrames

It is used like that of Kafka entries (`wireproof.kafka.columnar`): any contiguous bytes, and `Options` as in
the reference's scan.
"""

from wireproof.heka.columnar.frame_scan import HekaFrames, scan_heka

__all__ = ["HekaFrames", "scan_heka"]

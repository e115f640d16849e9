"""The reference codecs of Kafka's record batches (v2), messages (v0, v1) and logs, after kafka.md.

Citations such as `§1.5` are sections of kafka.md; ids such as `C16` are test vectors in it. Modules for the
index files of a log segment, and for recovery inside damaged logs, are here too.
"""

from wireproof.kafka.remark_classes import KAFKA_REMARKS
from wireproof.wire.remark_classes import register

register(KAFKA_REMARKS)

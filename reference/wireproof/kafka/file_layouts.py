"""The layouts of the binary files beside a log of Kafka: kafka.md §14.2.

The producer snapshot is a message of Kafka's schema language in version 1, without tagged fields.
"""

from typing import Final

from wireproof.kafka.layouts import CRC32C
from wireproof.wire.layout import REST, Checksum, Count, Layout, Number, Repeated

PRODUCER_SNAPSHOT_VERSION: Final = 1

PRODUCER_ENTRY: Final = Layout(
    "ProducerEntry",
    (
        Number("producerId", "int64"),
        Number("producerEpoch", "int16"),
        Number("lastSequence", "int32", meaning="of the last batch; -1 if none is known"),
        Number("lastOffset", "int64", meaning="of the last batch; -1 if none is known"),
        Number("offsetDelta", "int32", meaning="last offset minus first offset of the last batch"),
        Number("timestamp", "int64", meaning="the greatest of the last batch"),
        Number("coordinatorEpoch", "int32", meaning="of the last transaction marker; -1 if none is known"),
        Number("currentTxnFirstOffset", "int64", meaning="of the open transaction; -1 if none is open"),
    ),
    cites="kafka.md §14.2",
)

PRODUCER_SNAPSHOT: Final = Layout(
    "ProducerSnapshot",
    (
        Number("version", "int16", const=PRODUCER_SNAPSHOT_VERSION),
        Checksum("crc", "uint32", algorithm=CRC32C, over=REST, meaning="CRC-32C of all bytes after it"),
        Count("producerCount", "int32", of="producers"),
        Repeated("producers", of=PRODUCER_ENTRY),
    ),
    cites="kafka.md §14.2",
)

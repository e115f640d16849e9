"""The layouts of the files beside the segments of an Iggy server: iggy.md §7.1.

All integers are little-endian. Sources, in apache/iggy: `core/server/src/state/{entry,file}.rs` and
`core/server/src/streaming/partitions/storage.rs` of server-0.5.0 and server-0.8.0;
`core/partitions/src/offset_storage.rs`, `core/journal/src/{superblock,prepare_journal}.rs`,
`core/consensus/src/vsr_state.rs` and `core/binary_protocol/src/consensus/header.rs` of cc269ef7, from which
server-0.9.0-edge.5 was made.
"""

from typing import Final

from wireproof.iggy.checksums import CRC32, XXH3
from wireproof.wire.layout import (
    WHOLE,
    Checksum,
    ChecksumAlgorithm,
    Layout,
    Length,
    Number,
    Octets,
    Part,
    Zero,
)


def _state_entry(kind: str = "", algorithm: ChecksumAlgorithm = CRC32) -> Layout:
    """Return the layout of an entry; without a kind it has no checksum."""
    checksum = (
        Checksum(
            "checksum", kind, algorithm=algorithm, over=WHOLE,
            meaning="of all other fields, with the command before encryption",
        ),
    )  # fmt: skip
    parts: tuple[Part, ...] = (
        Number("index", "uint64le", meaning="of the entry; each is one above the one before it"),
        Number("term", "uint64le"),
        Number("leaderId", "uint32le"),
        Number("version", "uint32le", meaning="of the server: 5000 is 0.5.0"),
        Number("flags", "uint64le"),
        Number("timestamp", "uint64le", meaning="in microseconds"),
        Number("userId", "uint32le"),
        *(checksum if kind else ()),
        Length("contextLength", "uint32le", of="context"),
        Octets("context"),
        Number("code", "uint32le", meaning="of the command"),
        Length("commandLength", "uint32le", of="command"),
        Octets("command", meaning="encrypted if the server is set so"),
    )  # fmt: skip
    return Layout("StateEntry", parts, cites="iggy.md §7.1")


STATE_ENTRIES: Final = {
    "of 0.3": _state_entry(),
    "0.4 to 0.5": _state_entry("uint32le", CRC32),
    "from 0.6": _state_entry("uint64le", XXH3),
}
"""The entry of the state log, by the servers that write it."""

CONSUMER_OFFSET: Final = Layout(
    "ConsumerOffset",
    (
        Number("offset", "uint64le"),
        Checksum("checksum", "uint64le", algorithm=XXH3, over="offset", meaning="from 0.9"),
    ),
    cites="iggy.md §7.1",
)

PURGE_GENERATION: Final = Layout(
    "PurgeGeneration",
    (Number("generation", "uint64le"), Number("createdRevision", "uint64le")),
    cites="iggy.md §7.1",
)

SUPERBLOCK_MAGIC: Final = 0x5342_4C4B
SUPERBLOCK_VERSION: Final = 1

SUPERBLOCK: Final = Layout(
    "Superblock",
    (
        Number("magic", "uint32le", const=SUPERBLOCK_MAGIC),
        Number("version", "uint16le", const=SUPERBLOCK_VERSION),
        Zero("reserved", kind="uint16le"),
        Number("sequence", "uint64le", meaning="the larger one of two files is valid"),
        Number("parentChecksum", "uint64le"),
        Length("payloadLength", "uint32le", of="payload"),
        Octets("payload", meaning="a VsrState"),
        Checksum("checksum", "uint64le", algorithm=XXH3, over=WHOLE, meaning="of the bytes before it"),
    ),
    cites="iggy.md §7.1",
)

VSR_STATE: Final = Layout(
    "VsrState",
    (
        Octets("cluster", size=16, structure=True),
        Number("replicaId", "uint8"),
        Number("replicaCount", "uint8"),
        Number("view", "uint32le"),
        Number("logView", "uint32le", meaning="not above view"),
        Number("commitMax", "uint64le"),
        Number("checkpointOp", "uint64le"),
        Octets("checkpointChecksum", size=16, structure=True),
        Number("offsetFrontier", "uint64le", meaning="absent in records of 58 bytes"),
    ),
    cites="iggy.md §7.1",
)

PREPARE_COMMAND: Final = 6

PREPARE_HEADER: Final = Layout(
    "PrepareHeader",
    (
        Octets("checksum", size=16, structure=True, meaning="XXH3-64 of the header, with 0 here and as view"),
        Octets("checksumBody", size=16, structure=True, meaning="XXH3-64 of the body; 0 if there is none"),
        Octets("cluster", size=16, structure=True),
        Number("size", "uint32le", meaning="of header and body"),
        Number("view", "uint32le"),
        Number("release", "uint32le"),
        Number("command", "uint8", const=PREPARE_COMMAND),
        Number("replica", "uint8"),
        Zero("reservedFrame", size=66),
        Octets("client", size=16, structure=True),
        Octets("parent", size=16, structure=True, meaning="the checksum of the operation before it"),
        Octets("requestChecksum", size=16, structure=True),
        Number("op", "uint64le"),
        Number("commit", "uint64le"),
        Number("timestamp", "uint64le"),
        Number("request", "uint64le"),
        Number("operation", "uint8"),
        Zero("operationPadding", size=7),
        Number("group", "uint64le"),
        Number("userId", "uint32le"),
        Zero("reserved", size=28),
    ),
    cites="iggy.md §7.1",
)

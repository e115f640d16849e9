"""The files beside the segments of an Iggy server, and readers of them: iggy.md §7.1. They raise nothing.

All integers are little-endian. Sources, in apache/iggy: `core/server/src/state/{entry,file}.rs` and
`core/server/src/streaming/partitions/storage.rs` of server-0.5.0 and server-0.8.0;
`core/partitions/src/offset_storage.rs`, `core/journal/src/{superblock,prepare_journal}.rs`,
`core/consensus/src/vsr_state.rs` and `core/binary_protocol/src/consensus/header.rs` of cc269ef7, from which
server-0.9.0-edge.5 was made.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from wireproof.data_files import FileFinding, FileReport
from wireproof.iggy.checksums import CRC32, XXH3
from wireproof.schema.layout import WHOLE, Checksum, ChecksumAlgorithm, Length, Number, Octets, Zero
from wireproof.schema.struct import Field, Struct, StructLayout, fields_of, since, until
from wireproof.wire.checksums import xxh3_64
from wireproof.wire.json_values import Json
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.text import counted

CITES: Final = "iggy.md §7.1"


def _state_checksum(kind: str, algorithm: ChecksumAlgorithm) -> Checksum:
    meaning = "of all other fields, with the command before encryption"
    return Checksum("checksum", kind, algorithm=algorithm, over=WHOLE, shown=True, meaning=meaning)


STATE_WRITERS: Final = ("of 0.3", "0.4 to 0.5", "from 0.6")
"""The servers that write each layout of the state log."""

STATE_ENTRY: Final = Struct(
    "StateEntry",
    Number("index", "uint64le", meaning="of the entry; each is one above the one before it"),
    Number("term", "uint64le"),
    Number("leaderId", "uint32le"),
    Number("version", "uint32le", meaning="of the server: 5000 is 0.5.0"),
    Number("flags", "uint64le"),
    Number("timestamp", "uint64le", meaning="in microseconds"),
    Number("userId", "uint32le"),
    since("0.4 to 0.5", until("from 0.6", _state_checksum("uint32le", CRC32))),
    since("from 0.6", _state_checksum("uint64le", XXH3)),
    Length("contextLength", "uint32le", of="context"),
    Octets("context"),
    Number("code", "uint32le", meaning="of the command"),
    Length("commandLength", "uint32le", of="command"),
    Octets("command", meaning="encrypted if the server is set so"),
    revisions=STATE_WRITERS,
    cites=CITES,
)
"""The entry of the state log; the first servers wrote no checksum."""


def _layout(name: str, *parts: Field) -> StructLayout:
    """Return the layout of a file that has one."""
    return Struct(name, *parts, revisions=("0.9",), cites=CITES).at("0.9")


CONSUMER_OFFSET: Final = _layout(
    "ConsumerOffset",
    Number("offset", "uint64le"),
    Checksum("checksum", "uint64le", algorithm=XXH3, over="offset", shown=True, meaning="from 0.9"),
)

PURGE_GENERATION: Final = _layout(
    "PurgeGeneration", Number("generation", "uint64le"), Number("createdRevision", "uint64le")
)

SUPERBLOCK_MAGIC: Final = 0x5342_4C4B
SUPERBLOCK_VERSION: Final = 1

SUPERBLOCK: Final = _layout(
    "Superblock",
    Number("magic", "uint32le", const=SUPERBLOCK_MAGIC),
    Number("version", "uint16le", const=SUPERBLOCK_VERSION),
    Zero("reserved", kind="uint16le"),
    Number("sequence", "uint64le", meaning="the larger one of two files is valid"),
    Number("parentChecksum", "uint64le"),
    Length("payloadLength", "uint32le", of="payload"),
    Octets("payload", meaning="a VsrState"),
    Number("checksum", "uint64le", meaning="XXH3-64 of all bytes before it"),
)

VSR_STATE: Final = _layout(
    "VsrState",
    Octets("cluster", size=16),
    Number("replicaId", "uint8"),
    Number("replicaCount", "uint8"),
    Number("view", "uint32le"),
    Number("logView", "uint32le", meaning="not above view"),
    Number("commitMax", "uint64le"),
    Number("checkpointOp", "uint64le"),
    Octets("checkpointChecksum", size=16),
    Number("offsetFrontier", "uint64le", meaning="absent in records of 58 bytes"),
)

PREPARE_COMMAND: Final = 6

PREPARE_HEADER: Final = _layout(
    "PrepareHeader",
    Number("checksum", "uint128le", meaning="XXH3-64 of the header, with 0 here and as view"),
    Number("checksumBody", "uint128le", meaning="XXH3-64 of the body; 0 if there is none"),
    Octets("cluster", size=16),
    Number("size", "uint32le", meaning="of header and body"),
    Number("view", "uint32le"),
    Number("release", "uint32le"),
    Number("command", "uint8", const=PREPARE_COMMAND),
    Number("replica", "uint8"),
    Zero("reservedFrame", size=66),
    Octets("client", size=16),
    Number("parent", "uint128le", meaning="the checksum of the operation before it"),
    Octets("requestChecksum", size=16),
    Number("op", "uint64le"),
    Number("commit", "uint64le"),
    Number("timestamp", "uint64le"),
    Number("request", "uint64le"),
    Number("operation", "uint8"),
    Zero("operationPadding", size=7),
    Number("group", "uint64le"),
    Number("userId", "uint32le"),
    Zero("reserved", size=28),
)


MAX_LISTED: Final = 50
"""Findings that are kept of one file; a damaged file may have one for each byte."""

MAX_PREPARE_BYTES: Final = 64 * 1024 * 1024
"""Maximum bytes of an entry of the metadata journal: `MAX_ENTRY_SIZE`."""

SHORT_VSR_STATE: Final = VSR_STATE.offset("offsetFrontier")
"""The size of a VsrState before it had the last field."""

SNAPSHOT_MARK: Final = b"PNSI"
"""The first bytes of the trailer of a metadata snapshot; then follow XXH3-64 of the rest, and 8 zeros."""

SNAPSHOT_TRAILER: Final = len(SNAPSHOT_MARK) + 16

_PREPARE_SIZE: Final = PREPARE_HEADER.fixed_size
_VIEW_AT: Final = PREPARE_HEADER.offset("view")


def _faulty(message: str, at: int = 0, size: int = 0) -> FileReport:
    return FileReport("damaged", (FileFinding(at, message),), unsound=size)


# --- offsets of consumers ---


def read_consumer_offset(data: bytes) -> FileReport:
    """Read the offset of a consumer: 8 bytes, from server 0.9 on with a checksum of 8 bytes."""
    size, bare = CONSUMER_OFFSET.fixed_size, CONSUMER_OFFSET.offset("checksum")
    if len(data) not in (bare, size):
        there = counted(len(data), "byte", grouped=False)
        text = f"{there}; an offset has {bare}, or {size} with its checksum"
        return _faulty(text, 0, len(data))
    found = CONSUMER_OFFSET.codec.read(Reader(data.ljust(size, b"\0")))
    values: dict[str, Json] = {"offset": found.offset, "checksummed": len(data) == size}
    if len(data) == size and (computed := xxh3_64(data[:bare])) != found.checksum:
        text = f"checksum: {found.checksum:016x} stored, {computed:016x} computed"
        return FileReport(f"offset {found.offset}", (FileFinding(bare, text),), values, size)
    return FileReport(f"offset {found.offset}", facts=values)


def read_purge_generation(data: bytes) -> FileReport:
    """Read how often a partition was purged; a shorter file counts as never."""
    if len(data) < PURGE_GENERATION.fixed_size:
        return _faulty(f"{len(data)} bytes of {PURGE_GENERATION.fixed_size}", 0, len(data))
    found = PURGE_GENERATION.codec.read(Reader(data))
    text = f"generation {found.generation} of revision {found.created_revision}"
    more = len(data) - PURGE_GENERATION.fixed_size
    return FileReport(text, facts=fields_of(PURGE_GENERATION, found), unknown=more)


# --- the state log ---


def read_state_log(data: bytes) -> FileReport:
    """Read the state log of the servers before 0.9: commands that changed streams, topics and users."""
    if not data:
        return FileReport("no entry", facts={"entries": 0})
    walks = ((*_walk_state(name, data), name) for name in STATE_WRITERS)
    matching, end, count, findings, name = max(walks, key=lambda walk: walk[:2])
    if count and findings and not matching:
        text = "no checksum matches: the commands are encrypted, or every entry is damaged"
        findings = [FileFinding(None, text, is_error=False)]
    unsound = len(data) - end
    if unsound:
        findings.append(FileFinding(end, f"{unsound} bytes are no whole entry"))
    summary = f"{counted(count, 'entry', 'entries', grouped=False)} as servers {name} write them"
    return FileReport(summary, tuple(findings[:MAX_LISTED]), {"entries": count, "layout": name}, unsound)


def _walk_state(name: str, data: bytes) -> tuple[int, int, int, list[FileFinding]]:
    """Read entry after entry in a layout, up to the first one whose lengths do not fit.

    Returns:
        The number of checksums that match, the position after the last entry, the number of entries, and
        what is wrong.
    """
    layout = STATE_ENTRY.at(name)
    indexes: list[int] = []
    faults: list[FileFinding] = []
    matching, end, reader = 0, 0, Reader(data)
    while reader.left:
        try:
            entry = layout.codec.read(reader)
        except Rejected:
            break
        at, end = end, reader.pos
        if layout.position("checksum") is not None:
            checksum, place = layout.part("checksum"), at + layout.offset("checksum")
            assert isinstance(checksum, Checksum)
            covered = data[at:place] + data[at + layout.offset("contextLength") : end]
            if (computed := checksum.algorithm.of(covered)) == entry.checksum:
                matching += 1
            else:
                text = f"entry {entry.index}: checksum {entry.checksum:x} stored, {computed:x} computed"
                faults.append(FileFinding(place, text))
        if indexes and entry.index != indexes[-1] + 1:
            faults.append(FileFinding(at, f"entry {entry.index} follows entry {indexes[-1]}"))
        indexes.append(entry.index)
    return matching, end, len(indexes), faults


# --- files of 0.9 ---


def read_superblock(data: bytes) -> FileReport:
    """Read a superblock, which keeps the state of the consensus over a crash."""
    reader = Reader(data)
    try:
        block = SUPERBLOCK.codec.read(reader)
    except Rejected as fault:
        return _faulty(f"{fault.path}: {fault.text}", len(data), len(data))
    if (block.magic, block.version) != (SUPERBLOCK_MAGIC, SUPERBLOCK_VERSION):
        text = f"magic {block.magic:08x} and version {block.version} are not those of a superblock"
        return _faulty(text, 0, len(data))
    findings: list[FileFinding] = []
    at = SUPERBLOCK.offset("payload") + len(block.payload)
    if (computed := xxh3_64(data[:at])) != block.checksum:
        text = f"checksum: {block.checksum:016x} stored, {computed:016x} computed"
        findings.append(FileFinding(at, text))
    if len(block.payload) not in (SHORT_VSR_STATE, VSR_STATE.fixed_size):
        sizes = f"{SHORT_VSR_STATE} or {VSR_STATE.fixed_size}"
        text = f"a payload of {len(block.payload)} bytes; a VsrState has {sizes}"
        findings.append(FileFinding(SUPERBLOCK.offset("payload"), text))
    if reader.left:
        text = f"{counted(reader.left, 'byte', grouped=False)} after the checksum"
        findings.append(FileFinding(reader.pos, text))
    values: dict[str, Json] = {"sequence": block.sequence}
    if len(block.payload) in (SHORT_VSR_STATE, VSR_STATE.fixed_size):
        state = VSR_STATE.codec.read(Reader(block.payload.ljust(VSR_STATE.fixed_size, b"\0")))
        fields = fields_of(VSR_STATE, state)
        values |= {name: value for name, value in fields.items() if not isinstance(value, bytes)}
        if state.log_view > state.view:
            findings.append(FileFinding(None, f"logView {state.log_view} is above view {state.view}"))
    text = ", ".join(f"{name} {value}" for name, value in values.items())
    return FileReport(text, tuple(findings), values, unknown=reader.left)


def read_journal(data: bytes) -> FileReport:
    """Read the metadata journal: prepared operations, each with checksums and that of the one before it."""
    at, ops, before = 0, 0, cast("Any", None)
    findings: list[FileFinding] = []
    while at < len(data):
        found = _prepare(data, at)
        if isinstance(found, str):
            findings.append(FileFinding(at, found))
            break
        if before and before.op + 1 == found.op and found.parent != before.checksum and before.checksum:
            findings.append(FileFinding(at, f"operation {found.op} does not follow operation {before.op}"))
        findings += _prepare_faults(data, at, found)
        before = found
        at, ops = at + found.size, ops + 1
    last = f", the last one is {before.op}" if before else ""
    values: dict[str, Json] = {"operations": ops, "lastOp": before.op if before else None}
    text = f"{counted(ops, 'operation', grouped=False)}{last}"
    return FileReport(text, tuple(findings[:MAX_LISTED]), values, len(data) - at)


def _prepare(data: bytes, at: int) -> Any:  # noqa: ANN401 - a value of `PREPARE_HEADER`, or a text
    """Return the header of a prepared operation, or the reason why there is none."""
    left = len(data) - at
    if left < _PREPARE_SIZE:
        return f"{left} of {_PREPARE_SIZE} bytes of a header"
    found = PREPARE_HEADER.codec.read(Reader(data, pos=at))
    if found.command != PREPARE_COMMAND:
        return f"command {found.command}; a prepared operation has {PREPARE_COMMAND}"
    if not _PREPARE_SIZE <= found.size <= MAX_PREPARE_BYTES:
        return f"size {found.size} is not from {_PREPARE_SIZE} to {MAX_PREPARE_BYTES}"
    return found if found.size <= left else f"size {found.size}, and {left} bytes are left"


def _prepare_faults(data: bytes, at: int, found: Any) -> Iterator[FileFinding]:  # noqa: ANN401 - a value
    """Yield checksums that do not match; 0 means that the server wrote none."""
    header, body = data[at : at + _PREPARE_SIZE], data[at + _PREPARE_SIZE : at + found.size]
    covered = bytes(16) + header[16:_VIEW_AT] + bytes(4) + header[_VIEW_AT + 4 :]
    for name, stored, part in (
        ("checksum", found.checksum, covered),
        ("checksumBody", found.checksum_body, body),
    ):
        if stored and stored != xxh3_64(part):
            text = f"operation {found.op}: {name} {stored:x} stored, {xxh3_64(part):x} computed"
            yield FileFinding(at + PREPARE_HEADER.offset(name), text)


def read_metadata_snapshot(data: bytes) -> FileReport:
    """Check a metadata snapshot, a value of MessagePack that is not decoded here, and its trailer."""
    trailer = data[-SNAPSHOT_TRAILER:]
    if len(trailer) < SNAPSHOT_TRAILER or not trailer.startswith(SNAPSHOT_MARK):
        return FileReport("MessagePack without a checksum", facts={"checksummed": False})
    stored = int.from_bytes(trailer[len(SNAPSHOT_MARK) :], "little")
    values: dict[str, Json] = {"checksummed": True}
    if (computed := xxh3_64(data[:-SNAPSHOT_TRAILER])) != stored:
        text = f"checksum: {stored:x} stored, {computed:x} computed"
        at = len(data) - SNAPSHOT_TRAILER + len(SNAPSHOT_MARK)
        return FileReport("MessagePack", (FileFinding(at, text),), values, len(data))
    return FileReport("MessagePack with a valid checksum", facts=values)


# --- `state/info`, where a server keeps its version ---
#
# The file is a value of the Rust crate bincode, which has no checksum. Its strings and lists begin with their
# length. Servers from 0.4.300 on write lengths and integers as bincode 2 does: a byte, or a mark and then
# two, four or eight bytes; earlier ones write every length in eight bytes.

MARKS: Final[Mapping[int, int]] = {251: 2, 252: 4, 253: 8}
"""The bytes of an integer after its mark; a smaller byte is the integer itself."""


def _fixed(reader: Reader, name: str, size: int) -> int:
    return int.from_bytes(reader.take(name, size), "little")


def _marked(reader: Reader, name: str, _: int) -> int:
    first = reader.take(name, 1)[0]
    return _fixed(reader, name, MARKS[first]) if first in MARKS else first


def read_server_info(data: bytes) -> FileReport:
    """Read the version of the server that started last, and the migrations of its data."""
    for number in (_marked, _fixed):
        try:
            values, left = _read(Reader(data), number)
        except (Rejected, UnicodeDecodeError):
            continue
        if not left:
            return FileReport(f"server {values['version']}", facts=values)
    text = "no version and list of migrations, in neither of the layouts that servers write"
    return _faulty(text, 0, len(data))


def _read(reader: Reader, number: Callable[[Reader, str, int], int]) -> tuple[dict[str, Json], int]:
    """Return the values, and the bytes after them."""
    version, digest = _text(reader, "version", number), _text(reader, "hash", number)
    count = number(reader, "migrations", 8)
    migrations: list[Json] = [
        {
            "id": number(reader, "id", 4),
            "name": _text(reader, "name", number),
            "hash": _text(reader, "hash", number),
            "appliedAt": number(reader, "appliedAt", 8),
        }
        for _ in range(min(count, reader.left + 1))  # each has bytes
    ]
    return {"version": version, "hash": digest, "migrations": migrations}, reader.left


def _text(reader: Reader, name: str, number: Callable[[Reader, str, int], int]) -> str:
    return bytes(reader.take(name, number(reader, f"{name}Length", 8))).decode()

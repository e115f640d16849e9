"""Readers of the files beside the segments of an Iggy server: iggy.md §7.1. They raise nothing."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from attrs import frozen

from wireproof.data_files import FileFinding
from wireproof.iggy.file_layouts import (
    CONSUMER_OFFSET,
    PREPARE_COMMAND,
    PREPARE_HEADER,
    PURGE_GENERATION,
    STATE_ENTRY,
    STATE_WRITERS,
    SUPERBLOCK,
    SUPERBLOCK_MAGIC,
    SUPERBLOCK_VERSION,
    VSR_STATE,
)
from wireproof.schema.struct import StructLayout, fields_of
from wireproof.wire.checksums import xxh3_64
from wireproof.wire.json_values import Json
from wireproof.wire.layout import Checksum
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

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


@frozen
class ServerFile:
    """What is in a file: a summary, values for programs, findings, and the bytes that nothing explains."""

    summary: str
    values: Mapping[str, Json]
    findings: tuple[FileFinding, ...] = ()
    unknown: int = 0
    unsound: int = 0


def _faulty(message: str, at: int = 0, size: int = 0) -> ServerFile:
    return ServerFile("damaged", {}, (FileFinding(at, message),), unsound=size)


# --- offsets of consumers ---


def read_consumer_offset(data: bytes) -> ServerFile:
    """Read the offset of a consumer: 8 bytes, from server 0.9 on with a checksum of 8 bytes."""
    size, bare = CONSUMER_OFFSET.fixed_size, CONSUMER_OFFSET.offset("checksum")
    if len(data) not in (bare, size):
        return _faulty(f"{len(data)} bytes; an offset has {bare}, or {size} with its checksum", 0, len(data))
    found = CONSUMER_OFFSET.codec.read(Reader(data.ljust(size, b"\0")))
    values: dict[str, Json] = {"offset": found.offset, "checksummed": len(data) == size}
    if len(data) == size and (computed := xxh3_64(data[:bare])) != found.checksum:
        text = f"checksum: {found.checksum:016x} stored, {computed:016x} computed"
        return ServerFile(f"offset {found.offset}", values, (FileFinding(bare, text),), unsound=size)
    return ServerFile(f"offset {found.offset}", values)


def read_purge_generation(data: bytes) -> ServerFile:
    """Read how often a partition was purged; a shorter file counts as never."""
    if len(data) < PURGE_GENERATION.fixed_size:
        return _faulty(f"{len(data)} bytes of {PURGE_GENERATION.fixed_size}", 0, len(data))
    found = PURGE_GENERATION.codec.read(Reader(data))
    text = f"generation {found.generation} of revision {found.created_revision}"
    more = len(data) - PURGE_GENERATION.fixed_size
    return ServerFile(text, fields_of(PURGE_GENERATION, found), unknown=more)


# --- the state log ---


@frozen
class _StateWalk:
    """The entries of a state log in one of its layouts."""

    name: str
    indexes: tuple[int, ...]
    end: int
    matching: int
    faults: tuple[FileFinding, ...]


def read_state_log(data: bytes) -> ServerFile:
    """Read the state log of the servers before 0.9: commands that changed streams, topics and users."""
    if not data:
        return ServerFile("no entry", {"entries": 0})
    walks = [_walk_state(name, data) for name in STATE_WRITERS]
    best = max(walks, key=lambda one: (one.matching, one.end))
    findings = list(best.faults)
    if best.indexes and best.faults and not best.matching:
        text = "no checksum matches: the commands are encrypted, or every entry is damaged"
        findings = [FileFinding(None, text, is_error=False)]
    if best.end < len(data):
        text = f"{len(data) - best.end} bytes are no whole entry"
        findings.append(FileFinding(best.end, text))
    entries = f"{len(best.indexes)} {'entry' if len(best.indexes) == 1 else 'entries'}"
    summary = f"{entries} as servers {best.name} write them"
    values: dict[str, Json] = {"entries": len(best.indexes), "layout": best.name}
    unsound = len(data) - best.end
    return ServerFile(summary, values, tuple(findings[:MAX_LISTED]), unsound=unsound)


def _walk_state(name: str, data: bytes) -> _StateWalk:
    """Read entry after entry, up to the first one whose lengths do not fit."""
    layout = STATE_ENTRY.at(name)
    checksum_at = layout.position("checksum")
    indexes: list[int] = []
    faults: list[FileFinding] = []
    matching, reader = 0, Reader(data)
    while reader.left:
        at = reader.pos
        try:
            entry = layout.codec.read(reader)
        except Rejected:
            return _StateWalk(name, tuple(indexes), at, matching, tuple(faults))
        if checksum_at is not None:
            fault = _checksum_fault(layout, entry, data[at : reader.pos])
            matching += not fault
            faults += [FileFinding(at + checksum_at, fault)] if fault else []
        if indexes and entry.index != indexes[-1] + 1:
            faults.append(FileFinding(at, f"entry {entry.index} follows entry {indexes[-1]}"))
        indexes.append(entry.index)
    return _StateWalk(name, tuple(indexes), reader.pos, matching, tuple(faults))


def _checksum_fault(layout: StructLayout, entry: Any, data: bytes) -> str:  # noqa: ANN401 - an entry of the layout
    """Return the fault of an entry whose checksum does not match."""
    checksum, stored = layout.part("checksum"), entry.checksum
    assert isinstance(checksum, Checksum)
    covered = data[: layout.offset("checksum")] + data[layout.offset("contextLength") :]
    computed = checksum.algorithm.of(covered)
    text = f"entry {entry.index}: checksum {stored:x} stored, {computed:x} computed"
    return "" if computed == stored else text


# --- files of 0.9 ---


def read_superblock(data: bytes) -> ServerFile:
    """Read a superblock, which keeps the state of the consensus over a crash."""
    reader = Reader(data)
    try:
        block = SUPERBLOCK.codec.read(reader)
    except Rejected as fault:
        return _faulty(f"{fault.path}: {fault.text}", len(data), len(data))
    if (block.magic, block.version) != (SUPERBLOCK_MAGIC, SUPERBLOCK_VERSION):
        text = f"magic {block.magic:08x} and version {block.version} are not those of a superblock"
        return _faulty(text, 0, len(data))
    findings = list(_superblock_faults(data, reader, block))
    values: dict[str, Json] = {"sequence": block.sequence}
    if len(block.payload) in (SHORT_VSR_STATE, VSR_STATE.fixed_size):
        state = VSR_STATE.codec.read(Reader(block.payload.ljust(VSR_STATE.fixed_size, b"\0")))
        fields = fields_of(VSR_STATE, state)
        values |= {name: value for name, value in fields.items() if not isinstance(value, bytes)}
        if state.log_view > state.view:
            findings.append(FileFinding(None, f"logView {state.log_view} is above view {state.view}"))
    text = ", ".join(f"{name} {value}" for name, value in values.items())
    return ServerFile(text, values, tuple(findings), unknown=reader.left)


def _superblock_faults(data: bytes, reader: Reader, block: Any) -> Iterator[FileFinding]:  # noqa: ANN401 - a value
    at = SUPERBLOCK.offset("payload") + len(block.payload)
    if (computed := xxh3_64(data[:at])) != block.checksum:
        yield FileFinding(at, f"checksum: {block.checksum:016x} stored, {computed:016x} computed")
    if len(block.payload) not in (SHORT_VSR_STATE, VSR_STATE.fixed_size):
        sizes = f"{SHORT_VSR_STATE} or {VSR_STATE.fixed_size}"
        text = f"a payload of {len(block.payload)} bytes; a VsrState has {sizes}"
        yield FileFinding(SUPERBLOCK.offset("payload"), text)
    if reader.left:
        yield FileFinding(reader.pos, f"{reader.left} bytes after the checksum")


def read_journal(data: bytes) -> ServerFile:
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
    text = f"{ops} operation{'s' * (ops != 1)}{last}"
    return ServerFile(text, values, tuple(findings[:MAX_LISTED]), unsound=len(data) - at)


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


def read_metadata_snapshot(data: bytes) -> ServerFile:
    """Check a metadata snapshot, a value of MessagePack that is not decoded here, and its trailer."""
    trailer = data[-SNAPSHOT_TRAILER:]
    if len(trailer) < SNAPSHOT_TRAILER or not trailer.startswith(SNAPSHOT_MARK):
        return ServerFile("MessagePack without a checksum", {"checksummed": False})
    stored = int.from_bytes(trailer[len(SNAPSHOT_MARK) :], "little")
    values: dict[str, Json] = {"checksummed": True}
    if (computed := xxh3_64(data[:-SNAPSHOT_TRAILER])) != stored:
        text = f"checksum: {stored:x} stored, {computed:x} computed"
        at = len(data) - SNAPSHOT_TRAILER + len(SNAPSHOT_MARK)
        return ServerFile("MessagePack", values, (FileFinding(at, text),), unsound=len(data))
    return ServerFile("MessagePack with a valid checksum", values)

"""Readers of the files beside the segments of an Iggy server: iggy.md §7.1. They raise nothing."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from attrs import frozen

from wireproof.data_files import FileFinding
from wireproof.iggy.file_layouts import (
    CONSUMER_OFFSET,
    PREPARE_COMMAND,
    PREPARE_HEADER,
    PURGE_GENERATION,
    STATE_ENTRIES,
    SUPERBLOCK,
    SUPERBLOCK_MAGIC,
    SUPERBLOCK_VERSION,
    VSR_STATE,
)
from wireproof.wire.checksums import xxh3_64
from wireproof.wire.json_values import Json
from wireproof.wire.layout import Checksum, Layout
from wireproof.wire.layout_codec import FixedRun, runs, segments
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

(_OFFSET,) = runs(CONSUMER_OFFSET)
(_PURGE,) = runs(PURGE_GENERATION)
(_VSR,) = runs(VSR_STATE)
(_PREPARE,) = runs(PREPARE_HEADER)
_SUPERBLOCK, _, _SUPERBLOCK_END = segments(SUPERBLOCK)
assert isinstance(_SUPERBLOCK, FixedRun)
assert isinstance(_SUPERBLOCK_END, FixedRun)


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
    offset, stored = _OFFSET.peek(data.ljust(size, b"\0"), 0)
    values: dict[str, Json] = {"offset": offset, "checksummed": len(data) == size}
    if len(data) == size and (computed := xxh3_64(data[:bare])) != stored:
        text = f"checksum: {stored:016x} stored, {computed:016x} computed"
        return ServerFile(f"offset {offset}", values, (FileFinding(bare, text),), unsound=size)
    return ServerFile(f"offset {offset}", values)


def read_purge_generation(data: bytes) -> ServerFile:
    """Read how often a partition was purged; a shorter file counts as never."""
    if len(data) < PURGE_GENERATION.fixed_size:
        return _faulty(f"{len(data)} bytes of {PURGE_GENERATION.fixed_size}", 0, len(data))
    generation, revision = _PURGE.peek(data, 0)
    values: dict[str, Json] = {"generation": generation, "createdRevision": revision}
    more = len(data) - PURGE_GENERATION.fixed_size
    return ServerFile(f"generation {generation} of revision {revision}", values, unknown=more)


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
    walks = [_walk_state(name, layout, data) for name, layout in STATE_ENTRIES.items()]
    best = max(walks, key=lambda one: (one.matching, one.end))
    findings = list(best.faults)
    if best.indexes and not best.matching:
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


def _walk_state(name: str, layout: Layout, data: bytes) -> _StateWalk:
    """Read entry after entry, up to the first one whose lengths do not fit."""
    fixed, _, command, _ = segments(layout)
    assert isinstance(fixed, FixedRun)
    assert isinstance(command, FixedRun)
    checksum = layout.part("checksum")
    assert isinstance(checksum, Checksum)
    indexes: list[int] = []
    faults: list[FileFinding] = []
    matching, reader = 0, Reader(data)
    while reader.left:
        at = reader.pos
        try:
            numbers = fixed.read(reader)
            reader.take("context", numbers[-1])
            _, length = command.read(reader)
            reader.take("command", length)
        except Rejected:
            return _StateWalk(name, tuple(indexes), at, matching, tuple(faults))
        size = fixed.offsets["contextLength"] - fixed.offsets["checksum"]
        begin = at + fixed.offsets["checksum"]
        computed = checksum.algorithm.of(data[at:begin] + data[begin + size : reader.pos])
        matching += computed == numbers[-2]
        if computed != numbers[-2]:
            text = f"entry {numbers[0]}: checksum {numbers[-2]:x} stored, {computed:x} computed"
            faults.append(FileFinding(begin, text))
        if indexes and numbers[0] != indexes[-1] + 1:
            faults.append(FileFinding(at, f"entry {numbers[0]} follows entry {indexes[-1]}"))
        indexes.append(numbers[0])
    return _StateWalk(name, tuple(indexes), reader.pos, matching, tuple(faults))


# --- files of 0.9 ---


def read_superblock(data: bytes) -> ServerFile:
    """Read a superblock, which keeps the state of the consensus over a crash."""
    reader = Reader(data)
    try:
        magic, version, _, sequence, _, length = _SUPERBLOCK.read(reader)  # type: ignore[union-attr] # a run
        payload = data[reader.pos : reader.pos + length]
        reader.take("payload", length)
        (stored,) = _SUPERBLOCK_END.read(reader)  # type: ignore[union-attr] # a run
    except Rejected as fault:
        return _faulty(f"{fault.path}: {fault.text}", len(data), len(data))
    if (magic, version) != (SUPERBLOCK_MAGIC, SUPERBLOCK_VERSION):
        return _faulty(f"magic {magic:08x} and version {version} are not those of a superblock", 0, len(data))
    findings = list(_superblock_faults(data, reader, payload, stored))
    values: dict[str, Json] = {"sequence": sequence}
    if len(payload) in (SHORT_VSR_STATE, VSR_STATE.fixed_size):
        values |= _vsr_state(payload)
        if int(str(values["logView"])) > int(str(values["view"])):
            findings.append(FileFinding(None, f"logView {values['logView']} is above view {values['view']}"))
    text = ", ".join(f"{name} {value}" for name, value in values.items())
    return ServerFile(text, values, tuple(findings), unknown=reader.left)


def _superblock_faults(data: bytes, reader: Reader, payload: bytes, stored: int) -> Iterator[FileFinding]:
    at = reader.pos - SUPERBLOCK_CHECKSUM
    if (computed := xxh3_64(data[:at])) != stored:
        yield FileFinding(at, f"checksum: {stored:016x} stored, {computed:016x} computed")
    if len(payload) not in (SHORT_VSR_STATE, VSR_STATE.fixed_size):
        text = (
            f"a payload of {len(payload)} bytes; a VsrState has {SHORT_VSR_STATE} or {VSR_STATE.fixed_size}"
        )
        yield FileFinding(SUPERBLOCK.offset("payload"), text)
    if reader.left:
        yield FileFinding(reader.pos, f"{reader.left} bytes after the checksum")


SUPERBLOCK_CHECKSUM: Final = 8
"""Size of the checksum at the end of a superblock, in bytes."""


def _vsr_state(payload: bytes) -> dict[str, Json]:
    numbers = _VSR.peek(payload.ljust(VSR_STATE.fixed_size, b"\0"), 0)
    names = (part.name for part in VSR_STATE.parts)
    found: list[tuple[str, Any]] = list(zip(names, numbers, strict=True))
    return {name: value for name, value in found if not isinstance(value, bytes)}


def read_journal(data: bytes) -> ServerFile:
    """Read the metadata journal: prepared operations, each with checksums and that of the one before it."""
    at, ops, before = 0, 0, None
    findings: list[FileFinding] = []
    while at < len(data):
        found = _prepare(data, at)
        if isinstance(found, str):
            findings.append(FileFinding(at, found))
            break
        if before is not None and before[0] + 1 == found["op"] and found["parent"] != before[1] and before[1]:
            findings.append(FileFinding(at, f"operation {found['op']} does not follow operation {before[0]}"))
        findings += _prepare_faults(data, at, found)
        before = (found["op"], found["checksum"])
        at, ops = at + found["size"], ops + 1
    last = f", the last one is {before[0]}" if before else ""
    values: dict[str, Json] = {"operations": ops, "lastOp": before[0] if before else None}
    text = f"{ops} operation{'s' * (ops != 1)}{last}"
    return ServerFile(text, values, tuple(findings[:MAX_LISTED]), unsound=len(data) - at)


def _prepare(data: bytes, at: int) -> dict[str, int] | str:
    """Return the numbers of a prepared operation, or the reason why there is none."""
    if len(data) - at < _PREPARE_SIZE:
        return f"{len(data) - at} of {_PREPARE_SIZE} bytes of a header"
    numbers: dict[str, Any] = dict(
        zip((part.name for part in PREPARE_HEADER.parts), _PREPARE.peek(data, at), strict=True)
    )
    found = {
        name: int.from_bytes(value, "little") if isinstance(value, bytes) else value
        for name, value in numbers.items()
    }
    if found["command"] != PREPARE_COMMAND:
        return f"command {found['command']}; a prepared operation has {PREPARE_COMMAND}"
    if not _PREPARE_SIZE <= found["size"] <= MAX_PREPARE_BYTES:
        return f"size {found['size']} is not from {_PREPARE_SIZE} to {MAX_PREPARE_BYTES}"
    if found["size"] > len(data) - at:
        return f"size {found['size']}, and {len(data) - at} bytes are left"
    return found


def _prepare_faults(data: bytes, at: int, found: Mapping[str, int]) -> Iterator[FileFinding]:
    """Yield checksums that do not match; 0 means that the server wrote none."""
    header, body = data[at : at + _PREPARE_SIZE], data[at + _PREPARE_SIZE : at + found["size"]]
    covered = bytes(16) + header[16:_VIEW_AT] + bytes(4) + header[_VIEW_AT + 4 :]
    for name, part in (("checksum", covered), ("checksumBody", body)):
        if found[name] and found[name] != xxh3_64(part):
            text = f"operation {found['op']}: {name} {found[name]:x} stored, {xxh3_64(part):x} computed"
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

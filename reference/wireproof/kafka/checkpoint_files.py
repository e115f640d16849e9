"""The checkpoint files of a broker: text with a version, a count, and a line for each entry. kafka.md §14.3.

`leader-epoch-checkpoint` of a partition has an epoch and its first offset in a line. The offset checkpoints
of a data directory have a topic, a partition and an offset.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from attrs import frozen

from wireproof.data_files import FileFinding

VERSION: Final = 0

EPOCH_FIELDS: Final = ("epoch", "startOffset")
OFFSET_FIELDS: Final = ("topic", "partition", "offset")

TEXT_FIELDS: Final = frozenset({"topic"})
"""The fields that are no numbers."""

BITS: Final = {"epoch": 32, "partition": 32, "startOffset": 64, "offset": 64}
"""The size of each number in memory: `Integer.parseInt` and `Long.parseLong` refuse larger ones."""

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,20}")


@frozen
class CheckpointEntry:
    """A line with an entry: its position in the file, and its fields."""

    at: int
    fields: tuple[str | int, ...]


@frozen
class Checkpoint:
    """The entries of a checkpoint file, and the faults of its text."""

    entries: tuple[CheckpointEntry, ...]
    findings: tuple[FileFinding, ...]


def text_lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield the position and the text of each line; a byte that is not UTF-8 becomes U+FFFD."""
    at = 0
    for line in data.splitlines(keepends=True):
        yield at, line.decode(errors="replace").rstrip("\r\n")
        at += len(line)


def read(data: bytes, names: Sequence[str]) -> Checkpoint:
    """Read a checkpoint file whose lines have these fields; raise nothing. An empty file has no entries."""
    lines = list(text_lines(data))
    findings: list[FileFinding] = []
    for (at, text), what in zip(lines, ("version", "number of entries"), strict=False):
        if not _fits(text, 32):
            findings.append(FileFinding(at, f"the {what} is {text!r}, not a number"))
    if findings:
        return Checkpoint((), tuple(findings))
    if lines and int(lines[0][1]) != VERSION:
        text = f"version {lines[0][1]}: Kafka knows only version {VERSION}"
        return Checkpoint((), (FileFinding(0, text),))
    entries: list[CheckpointEntry] = []
    for at, text in lines[2:]:
        match _entry(text, names):
            case str() as fault:
                findings.append(FileFinding(at, fault))
            case found:
                entries.append(CheckpointEntry(at, found))
    if len(lines) > 1 and int(lines[1][1]) != len(lines) - 2:
        text = f"{lines[1][1]} entries are announced, and {len(lines) - 2} lines follow"
        findings.append(FileFinding(lines[1][0], text))
    return Checkpoint(tuple(entries), tuple(findings))


def _entry(text: str, names: Sequence[str]) -> tuple[str | int, ...] | str:
    """Return the fields of a line, or the fault in it."""
    parts = re.split(r"\s+", text)
    if len(parts) != len(names):
        return f"{text!r} has {len(parts)} fields, and an entry has {len(names)}: {' '.join(names)}"
    for name, part in zip(names, parts, strict=True):
        if name not in TEXT_FIELDS and not _fits(part, BITS[name]):
            return f"{name} is {part!r}, not a number of {BITS[name]} bits"
    pairs = zip(names, parts, strict=True)
    return tuple(part if name in TEXT_FIELDS else int(part) for name, part in pairs)


def _fits(text: str, bits: int) -> bool:
    """Return whether Java reads a text as an integer of so many bits."""
    return _NUMBER.fullmatch(text) is not None and -(1 << bits - 1) <= int(text) < 1 << bits - 1


def check_epochs(found: Checkpoint) -> Iterator[FileFinding]:
    """Check the entries of a leader epoch checkpoint: `LeaderEpochFileCache` keeps both numbers rising."""
    for entry in found.entries:
        epoch, start = map(int, entry.fields)
        if epoch < 0 or start < 0:
            yield FileFinding(entry.at, f"epoch {epoch} begins at offset {start}: both are 0 or more")
    for before, entry in pairwise(found.entries):
        (earlier, begin), (epoch, start) = map(_numbers, (before, entry))
        if epoch <= earlier:
            yield FileFinding(entry.at, f"epoch {epoch} is not above {earlier}, the one before it")
        if start <= begin:
            text = f"epoch {epoch} begins at offset {start}, not after {begin}, where epoch {earlier} begins"
            yield FileFinding(entry.at, text)


def _numbers(entry: CheckpointEntry) -> tuple[int, int]:
    epoch, start = map(int, entry.fields)
    return epoch, start


def check_offsets(found: Checkpoint) -> Iterator[FileFinding]:
    """Check the entries of an offset checkpoint: each partition once, and no negative offset."""
    seen: set[tuple[str | int, ...]] = set()
    for entry in found.entries:
        *partition, offset = entry.fields
        name = "-".join(map(str, partition))
        if int(offset) < 0:
            yield FileFinding(entry.at, f"{name} has offset {offset}")
        if tuple(partition) in seen:
            yield FileFinding(entry.at, f"{name} is there twice")
        seen.add(tuple(partition))

"""The companions of a segment's log, as files: found by name, read, held to the log that lies beside them.

A segment is named after its base offset: `00000000000000001000.log`, `.index`, `.timeindex`, `.txnindex`
(Apache Kafka's `LogFileUtils`). `DumpLogSegments` looks at the same files and ends with no exit code.
Apache Iggy gives its segments the same names: whose an index is, the log beside it says, or its own bytes.
"""

import mmap
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from wireproof.iggy.index_file import IndexLayout
from wireproof.kafka import offset_index, segment, time_index, transaction_index
from wireproof.kafka.companion import Finding
from wireproof.kafka.segment import Segment
from wireproof.trial import iggy_companions
from wireproof.trial.iggy_companions import IggyLog

NAME: Final = re.compile(r"(\d{1,20})(\.(?:index|timeindex|txnindex|log))(\.(?:deleted|cleaned|swap))?")
"""Base offset, kind, and the state that Kafka adds while it deletes or compacts."""

KINDS: Final = (".index", ".timeindex", ".txnindex")

MOST: Final = 20
"""Findings of one companion that are listed; the others are counted."""

LARGEST: Final = 256 * 1024 * 1024
"""Bytes of a companion that are read: `segment.index.bytes` is 10 MiB by default."""


class CompanionError(ValueError):
    """A file is no companion, or cannot be read as one; one line."""


@frozen
class Name:
    """What the name of a file of a segment tells."""

    base: int
    kind: str
    path: Path

    def beside(self, kind: str) -> Path:
        """The path of another file of the segment, in the same state."""
        return self.path.with_name(self.path.name.replace(self.kind, kind, 1))


@frozen
class Checked:
    """A companion that was held to its log.

    Attributes:
        index: its entries.
        log: None if it is not there.
        system: whose index it is: `Kafka`, `Iggy 0.7`.
    """

    name: Name
    size: int
    index: Any
    log: Segment | IggyLog | None
    findings: tuple[Finding, ...]
    system: str = "Kafka"

    @property
    def wrong(self) -> int:
        """Findings that mislead a reader."""
        return sum(finding.wrong for finding in self.findings)

    def lines(self) -> Iterator[str]:
        """A line of each of the first findings: file, byte and what; what to do next is `advice`."""
        for finding in self.findings[:MOST]:
            sort = "wrong" if finding.wrong else "note"
            yield f"{sort}: {self.name.path} at {finding.at}: {finding.what}"
        if len(self.findings) > MOST:
            yield f"… {self.name.path}: {len(self.findings) - MOST} more"

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do next, each once; nothing where no source says what helps."""
        return tuple(dict.fromkeys(finding.then for finding in self.findings if finding.then))

    def verdict(self) -> str:
        """One line: what there is, and whether it agrees."""
        raw = self.index.raw
        entries = f"{len(raw.rows)} {'entry' if len(raw.rows) == 1 else 'entries'}"
        tail = f", {raw.tail} not written yet" if raw.tail else ""
        beside = (
            "agrees with its log"
            if self.log is not None
            else "its log is not beside it, and it is sound by itself"
        )
        said = f"{self.wrong} wrong" if self.wrong else beside
        system = "" if self.system == "Kafka" else f" of {self.system}"
        return f"{self.name.path.name}: {entries}{system}{tail}: {said}"


@frozen
class Codec:
    """How one kind of companion is read and checked."""

    read: Callable[[bytes, int], Any]
    alone: Callable[[Any], Iterator[Finding]]
    against: Callable[[Any, Segment], Iterator[Finding]]


CODECS: Final = {
    ".index": Codec(offset_index.read, offset_index.alone, offset_index.against),
    ".timeindex": Codec(time_index.read, time_index.alone, time_index.against),
    ".txnindex": Codec(transaction_index.read, transaction_index.alone, transaction_index.against),
}


def named(path: Path) -> Name | None:
    """What the name of a segment's file tells; None for any other name."""
    found = NAME.fullmatch(path.name)
    return Name(int(found[1]), found[2], path) if found else None


def kind_of(path: Path) -> str:
    """The kind of a companion by the ending of its name, whatever stands before it; empty for none."""
    stem = re.sub(r"\.(deleted|cleaned|swap)$", "", path.name)
    return next((kind for kind in KINDS if stem.endswith(kind)), "")


def checked(path: Path) -> Checked:
    """A companion, held to the log beside it.

    Raises:
        CompanionError: its name tells no base offset, or it is too large to be one.
    """
    name = named(path)
    if name is None or name.kind not in CODECS:
        raise CompanionError(
            f"{path}: a companion is named after its base offset: 00000000000000000000.index"
        )
    return _of(name, name.beside(".log"))


def companions(log: Path) -> tuple[Checked, ...]:
    """The companions that lie beside a log, checked; none where there is none, as in many archives."""
    name = named(log)
    if name is None or name.kind != ".log":
        return ()
    names = [Name(name.base, kind, name.beside(kind)) for kind in KINDS if name.beside(kind).is_file()]
    if not names:
        return ()
    if (other := iggy_companions.log_of(log)) is not None:
        return tuple(_iggy(one, other) for one in names)
    found = segment_of(log)
    if found.size and not found.heads:  # nothing in it is Kafka's, or it is damaged from the first byte on
        return tuple(_by_content(one, found) for one in names)
    if all(one.kind != ".txnindex" for one in names) and transaction_index.aborted(found):
        names.append(Name(name.base, ".txnindex", name.beside(".txnindex")))
    return tuple(_held(one, found) for one in names)


def of_kafka(log: Path) -> bool:
    """Whether a log begins as Kafka's do, or is empty."""
    return log.is_file() and iggy_companions.log_of(log) is None


def _of(name: Name, log: Path) -> Checked:
    """A companion, whichever system its log is of."""
    if not log.is_file():
        return _by_content(name, None)
    if (other := iggy_companions.log_of(log)) is not None:
        return _iggy(name, other)
    found = segment_of(log)
    return _held(name, found) if found.heads or not found.size else _by_content(name, found)


def _by_content(name: Name, log: Segment | None) -> Checked:
    """A companion whose log does not tell whose it is: Kafka's if it is sound so, else Iggy's."""
    data = _bytes(name)
    found = iggy_companions.layouts_of(name.kind, data) if _held(name, None).wrong else []
    if not found:
        return _held(name, log)
    index = iggy_companions.read(found[0], data)
    return Checked(name, len(data), index, None, (), f"Iggy {' or '.join(_revisions(found))}")


def _revisions(found: Iterable[IndexLayout]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(revision for layout in found for revision in layout.revisions))


def _iggy(name: Name, log: IggyLog) -> Checked:
    """A companion held to Iggy's records; no source of Iggy says what repairs one, so nothing is advised."""
    data = _bytes(name)
    index, wrong = iggy_companions.checked(log, name.kind, name.base, data)
    findings = tuple(Finding(at, what, "", wrong=misleads) for at, what, misleads in wrong)
    return Checked(name, len(data), index, log, findings, f"Iggy {log.revision}")


def segment_of(log: Path) -> Segment:
    """The heads of a log; it is mapped, not read into memory."""
    with log.open("rb") as file:
        if not log.stat().st_size:
            return segment.read(b"")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return segment.read(data)  # type: ignore[arg-type] # a map is read as bytes are


def _bytes(name: Name) -> bytes:
    """A companion that is not there has no bytes."""
    size = name.path.stat().st_size if name.path.is_file() else 0
    if size > LARGEST:
        raise CompanionError(f"{name.path}: {size} bytes, and a companion has at most {LARGEST}")
    return name.path.read_bytes() if size else b""


def _held(name: Name, log: Segment | None) -> Checked:
    """A companion of Kafka; where it is not there, every entry that it ought to have is missing."""
    data = _bytes(name)
    codec = CODECS[name.kind]
    index = codec.read(data, name.base)
    findings = [*codec.alone(index), *(codec.against(index, log) if log is not None else ())]
    if log is not None and log.heads and log.heads[0].first < name.base and log.heads[0].magic > 1:
        text = f"the log begins at offset {log.heads[0].first}, below the base offset of its name"
        findings.insert(0, Finding(0, text, "give the files the name of their first offset"))
    return Checked(name, len(data), index, log, tuple(findings))

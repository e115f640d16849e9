"""The files in a data directory of Kafka, alone and compared with each other: kafka.md §14."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, Final

from attrs import define, field, frozen

from wireproof.data_files import (
    CheckedFile,
    DataFile,
    DirectoryRules,
    FileFinding,
    FileKind,
    FileReport,
    PartitionReport,
    named,
    whole,
)
from wireproof.inspect import data_directory
from wireproof.inspect.data_directory import log_report
from wireproof.inspect.file_survey import survey_file
from wireproof.kafka import entry
from wireproof.kafka.control_types import CONTROL_TYPES, SNAPSHOT_FOOTER, SNAPSHOT_HEADER
from wireproof.kafka.files import producer_snapshot, state_files
from wireproof.kafka.files.index_file import REBUILD, SegmentEntry, aborted_transactions
from wireproof.kafka.files.state_files import EPOCH_FIELDS, OFFSET_FIELDS
from wireproof.kafka.suite.index_files import SYSTEM, parse_file_name, read_segment
from wireproof.kafka.suite.listing import offsets_and_epoch
from wireproof.kafka.values import RecordBatch
from wireproof.schema.struct import fields_of
from wireproof.wire.json_values import Json
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.text import counted
from wireproof.wire.walk import Entry, EntryRows

# --- kinds of files ---

LOG_FORMAT: Final = "kafka.log/mixed"

STATE: Final = r"(?:\.(?:deleted|cleaned|swap))?"
"""The ending of a file that is being deleted, or that compaction is writing or moving into place: §14.1."""

TEMPORARY: Final = r"(?:\.tmp)?"
"""The ending of a file that is being written: §14.1."""

REMOTE: Final = r"\d+-[A-Za-z0-9_-]{22}"
"""The names of the objects of a remote segment: its base offset and its id: §14.6."""

EPOCHS_SHOWN: Final = 3


def _log(file: DataFile) -> FileReport:
    """Read a log, and look for aborted transactions that no index lists."""
    name = parse_file_name(file.path)
    assert name is not None, file.path
    offsets = _Offsets()
    survey = survey_file(file.path, format_name=LOG_FORMAT, listen=file.reading(offsets.add))
    segment = read_segment(file.path)
    findings = []
    aborted = aborted_transactions(segment).values()
    unlisted = [one for one in aborted if one.first is not None]  # one without records has no entry
    if unlisted and not name.beside(".txnindex").exists():
        text = f"{len(unlisted)} transactions were aborted, and there is no .txnindex"
        findings.append(FileFinding(None, text, REBUILD))
    if segment.heads and segment.heads[0].first < name.base and segment.heads[0].magic > 1:
        text = f"the log begins at offset {segment.heads[0].first}, below the base offset of its name"
        findings.append(FileFinding(0, text))
    return log_report(file, survey, findings, {"base": name.base, **offsets.facts()})


@define
class _Offsets:
    """The leader epochs of a log with their first offsets, and the offsets that no entry has.

    Attributes:
        epochs: pairs of an epoch and an offset.
        gaps: first and last offset of those that are missing between two entries with no damage between them.
        is_damaged: whether the bytes after the last sound entry are damaged.
    """

    epochs: list[Json] = field(factory=list)
    gaps: list[Json] = field(factory=list)
    is_damaged: bool = False
    _after: int | None = None
    _epoch: int | None = None

    def add(self, part: Entry | EntryRows) -> None:
        """Add a part of the log; those that are no sound entries have no cells."""
        if isinstance(part, Entry) and part.kind != "frame":
            self.is_damaged = True
        for cells in part.cells if isinstance(part, EntryRows) else filter(None, (part.cells,)):
            first, last, epoch = offsets_and_epoch(cells)
            if self._after is not None and first > self._after and not self.is_damaged:
                self.gaps.append([self._after, first - 1])
            if epoch is not None and epoch != self._epoch:
                self.epochs.append([epoch, first])
                self._epoch = epoch
            self._after, self.is_damaged = last + 1, False

    def facts(self) -> dict[str, Json]:
        return {"epochs": self.epochs, "gaps": self.gaps, "endIsDamaged": self.is_damaged}


def _index(file: DataFile) -> FileReport:
    """Check an index file against the log beside it."""
    found = data_directory.check_index_file(file.path)
    raw = found.index.raw
    text = counted(len(raw.rows), "entry", "entries", grouped=False)
    text += f", {raw.tail} not written yet" if raw.tail else ""
    text += "" if found.log is not None else "; its log is not beside it"
    facts: dict[str, Json] = {"entries": len(raw.rows), "notWritten": raw.tail}
    return FileReport(text, found.findings, facts, unknown=raw.odd)


def _producers(file: DataFile) -> FileReport:
    """Check a producer snapshot: §14.2."""
    data = file.read()
    found = producer_snapshot.read(data)
    end = int(file.path.name.partition(".")[0].partition("-")[0])
    remote = "-" in file.path.name  # it is named after the first offset of its segment
    checks = () if remote else producer_snapshot.check_producers(found, end)
    opened = sum(one.current_txn_first_offset != producer_snapshot.NONE for one in found.producers)
    text = counted(len(found.producers), "producer", grouped=False)
    text += f", {opened} with an open transaction" if opened else ""
    producers: list[Json] = [fields_of(producer_snapshot.PRODUCER, one) for one in found.producers]
    unknown = max(0, len(data) - producer_snapshot.place_of(len(producers)))
    return FileReport(text, (*found.findings, *checks), {"producers": producers}, unknown=unknown)


def _epochs(file: DataFile) -> FileReport:
    """Check a leader epoch checkpoint: §14.3."""
    found = state_files.read(file.read(), EPOCH_FIELDS)
    pairs: list[Json] = [list(entry.fields) for entry in found.entries]
    last = found.entries[-EPOCHS_SHOWN:]
    shown = ", ".join("{} from offset {}".format(*entry.fields) for entry in last)
    more = f"{len(pairs) - EPOCHS_SHOWN} earlier, " if len(pairs) > EPOCHS_SHOWN else ""
    findings = (*found.findings, *state_files.check_epochs(found))
    return FileReport(f"epochs {more}{shown}" if pairs else "no epoch", findings, {"epochs": pairs})


def _checkpoint(file: DataFile) -> FileReport:
    """Check an offset checkpoint: §14.3."""
    found = state_files.read(file.read(), OFFSET_FIELDS)
    rows: list[Json] = [list(entry.fields) for entry in found.entries]
    findings = (*found.findings, *state_files.check_offsets(found))
    return FileReport(counted(len(rows), "partition", grouped=False), findings, {"offsets": rows})


def _lock(file: DataFile) -> FileReport:
    """Check a lock file, which has no bytes: `FileLock` locks the file itself."""
    findings = (FileFinding(0, "a lock file has no bytes"),) if file.size else ()
    return FileReport("empty", findings, unknown=file.size)


def _kraft_snapshot(file: DataFile) -> FileReport:
    """Check a snapshot of KRaft: a log between a header record and a footer record: §14.5."""
    offsets = _Offsets()
    survey = survey_file(file.path, format_name=LOG_FORMAT, listen=file.reading(offsets.add))
    heads = read_segment(file.path).heads
    findings = []
    for index, wanted in ((0, SNAPSHOT_HEADER), (-1, SNAPSHOT_FOOTER)) if heads else ():
        if wanted not in _control_types(file, heads[index]):
            text = f"this batch has no {CONTROL_TYPES[wanted]} record"
            findings.append(FileFinding(heads[index].position, text))
    if not heads:
        findings.append(FileFinding(0, "a snapshot begins with a control batch, and this has no batch"))
    return log_report(file, survey, findings, offsets.facts())


def _control_types(file: DataFile, head: SegmentEntry) -> list[int]:
    """Return the types of the control records of a batch; none if it is damaged."""
    with file.path.open("rb") as opened:
        opened.seek(head.position)
        reader = Reader(opened.read(head.size))
    try:
        found = entry.decode(reader, DEFAULT_OPTIONS, head.magic)
    except Rejected:
        return []
    records = found.records if isinstance(found, RecordBatch) else ()
    return [record.control.type for record in records if record.control is not None]


def _is_kafka(file: DataFile) -> bool:
    return data_directory.proven_system(file.path) in (SYSTEM, "")


def _is_kafka_index(file: DataFile) -> bool:
    return data_directory.check_index_file(file.path).written_by == SYSTEM


def _metadata(what: str, name: str, read: Callable[[bytes], FileReport]) -> FileKind:
    return FileKind(what, named(name), whole(read), small=True)


KINDS: Final = (
    FileKind("log segment", named(rf"\d{{20}}\.log{STATE}"), _log, _is_kafka, is_fast=True),
    FileKind("offset index", named(rf"\d{{20}}\.index{STATE}"), _index, _is_kafka_index),
    FileKind("time index", named(rf"\d{{20}}\.timeindex{STATE}"), _index, _is_kafka_index),
    FileKind("transaction index", named(rf"\d{{20}}\.txnindex{STATE}"), _index),
    FileKind("producer snapshot", named(rf"\d{{20}}\.snapshot{STATE}"), _producers, small=True),
    FileKind("leader epochs", named(rf"leader-epoch-checkpoint{TEMPORARY}"), _epochs, small=True),
    _metadata("topic id", rf"partition\.metadata{TEMPORARY}", state_files.read_partition_metadata),
    _metadata("ids of cluster and node", rf"meta\.properties{TEMPORARY}", state_files.read_properties),
    FileKind(
        "offset checkpoint",
        named(rf"(?:recovery-point|log-start|replication|cleaner)-offset-checkpoint{TEMPORARY}"),
        _checkpoint,
        small=True,
    ),
    FileKind("lock", named(r"\.lock"), _lock),
    _metadata("mark of a clean stop", r"\.kafka_cleanshutdown", state_files.read_clean_shutdown),
    _metadata("KRaft election state", rf"quorum-state{TEMPORARY}", state_files.read_quorum_state),
    FileKind("KRaft snapshot", named(r"\d{20}-\d{10}\.checkpoint(?:\.deleted)?"), _kraft_snapshot),
    FileKind("KRaft snapshot, not complete", named(r"\d{20}-\d{10}-\d+\.checkpoint\.part"), _kraft_snapshot),
    FileKind("bootstrap snapshot", named(rf"bootstrap\.checkpoint{TEMPORARY}"), _kraft_snapshot),
    FileKind("remote log segment", named(rf"{REMOTE}\.log"), _log, _is_kafka, is_fast=True),
    FileKind("remote offset index", named(rf"{REMOTE}\.index"), _index),
    FileKind("remote time index", named(rf"{REMOTE}\.timeindex"), _index),
    FileKind("remote transaction index", named(rf"{REMOTE}\.txnindex"), _index),
    FileKind("remote producer snapshot", named(rf"{REMOTE}\.snapshot"), _producers, small=True),
    FileKind("remote leader epochs", named(rf"{REMOTE}\.leader_epoch_checkpoint"), _epochs, small=True),
    FileKind(
        "cached remote index",
        named(r"remote-log-index-cache/\d+_[A-Za-z0-9_-]{22}\.(?:index|timeindex|txnindex)(?:\.deleted)?"),
        _index,
        placed=True,
    ),
)
"""Every file that a broker of Kafka writes into a data directory: §14.1."""

# --- partitions: §14.7 ---

FOLDER: Final = re.compile(
    r"(?P<topic>[A-Za-z0-9._-]+)-(?P<partition>\d+)(?:\.[0-9a-f]{32}-(?P<state>delete|future|stray))?"
)
"""The folder of a partition: `LocalLog.parseTopicPartitionName`."""

REMOTE_FOLDER: Final = re.compile(r"(?P<topic>[A-Za-z0-9._-]+)-(?P<partition>\d+)-(?P<id>[A-Za-z0-9_-]{22})")
"""The folder of a partition in a remote store that keeps objects as `LocalTieredStorage` does."""

SEGMENTS: Final = frozenset({"log segment", "remote log segment"})

STATES: Final = {
    "delete": ", the partition is being deleted",
    "stray": ", stray: the cluster does not know it",
    "future": ", a copy that will replace another directory's",
}

MAX_GAPS: Final = 5
"""Gaps that are listed; the others are counted."""


@frozen
class Segment:
    """A segment of a partition: its file, base offset, first and next offset, epochs, gaps, and damage."""

    name: str
    base: int
    first: int
    after: int
    epochs: tuple[tuple[int, int], ...]
    gaps: tuple[tuple[int, int], ...]
    end_is_damaged: bool


def partition(folder: str, files: Sequence[CheckedFile]) -> PartitionReport | None:
    """Return the report of a folder with the name of a partition and at least one file of Kafka."""
    name = PurePosixPath(folder).name or files[0].file.path.absolute().parent.name
    remote = any(one.kind.what in SEGMENTS and "remote" in one.kind.what for one in files if one.kind)
    found = (REMOTE_FOLDER if remote else FOLDER).fullmatch(name)
    segments = _segments(files)
    if found is None and not segments:
        return None
    state = found.groupdict().get("state") if found else None
    shown = f"{found['topic']}-{found['partition']}" if found else name
    topic = found["topic"] if found else ""
    findings = [*_chain(segments, compacted=_is_compacted(files, shown, topic))]
    if state not in ("delete", "stray"):  # such a folder is not loaded again, and its leader epochs are gone
        findings += _beside(segments, files)
    if remote:
        findings += _missing_objects(files)
    ids = (one.report.facts.get("topic_id") for one in files if one.kind and one.kind.what == "topic id")
    facts: dict[str, Any] = {
        "topic": topic, "segments": len(segments), "state": state or "", "topicId": next(ids, None),
    }  # fmt: skip
    summary = "no segment"
    if segments:
        first, after = segments[0].first, segments[-1].after
        facts |= {"firstOffset": first, "nextOffset": after}
        epochs = [epoch for one in segments for epoch, _ in one.epochs]
        gone = sum(one.file.name.endswith(".log.deleted") for one in files)
        summary = counted(len(segments), "segment", grouped=False)
        summary += f", offsets {first} to {after - 1}" if after > first else ", no record"
        summary += f", leader epochs {min(epochs)} to {max(epochs)}" if epochs else ""
        summary += f", {gone} more marked as deleted" if gone else ""
        summary += STATES.get(state or "", "")
    return PartitionReport(folder, shown, summary, tuple(findings), facts)


def _segments(files: Sequence[CheckedFile]) -> list[Segment]:
    """Return the segments that a broker would load, in the order of their base offsets."""
    found = []
    for one in files:
        if one.kind is None or one.kind.what not in SEGMENTS or not one.file.name.endswith(".log"):
            continue
        facts: Mapping[str, Any] = one.report.facts
        base = facts["base"]
        epochs, gaps = (tuple((first, last) for first, last in facts[name]) for name in ("epochs", "gaps"))
        first, after = (
            base if facts.get(name) is None else facts[name] for name in ("firstOffset", "nextOffset")
        )
        found.append(Segment(one.file.name, base, first, after, epochs, gaps, facts["endIsDamaged"]))
    return sorted(found, key=lambda one: one.base)


def _is_compacted(files: Sequence[CheckedFile], name: str, topic: str) -> bool:
    """Return whether a topic is compacted, as far as the names and the checkpoint of the cleaner show it."""
    if topic in ("__consumer_offsets", "__transaction_state", "__share_group_state"):
        return True
    path = files[0].file.path.absolute().parent.parent / "cleaner-offset-checkpoint"
    data = path.read_bytes() if path.is_file() else b""
    entries = state_files.read(data, OFFSET_FIELDS).entries
    return any(f"{entry.fields[0]}-{entry.fields[1]}" == name for entry in entries)


# --- one segment after another ---


def _chain(segments: Sequence[Segment], *, compacted: bool) -> Iterator[FileFinding]:
    """Yield gaps, overlaps, and epochs that go back, over all segments; damage is a matter of its file."""
    gaps = [gap for one in segments for gap in one.gaps]
    for before, one in pairwise(segments):
        if one.first > before.after and one.after > one.first and not before.end_is_damaged:
            gaps.append((before.after, one.first - 1))
        if one.first < before.after:
            text = f"{one.name} begins at offset {one.first}, but {before.name} ends at {before.after - 1}"
            yield FileFinding(None, f"overlap: {text}")
    if gaps:
        gaps.sort()
        some = (f"{first} to {last}" if last > first else str(first) for first, last in gaps[:MAX_GAPS])
        text = f"{sum(last - first + 1 for first, last in gaps)} offsets are missing: {', '.join(some)}"
        text += f" and {len(gaps) - MAX_GAPS} more ranges" if len(gaps) > MAX_GAPS else ""
        then = "nothing, if the topic is compacted; else look for the files"
        if compacted:
            yield FileFinding(None, f"{text}; the topic is compacted", is_error=False)
        else:
            yield FileFinding(None, f"gap: {text}", then)
    epochs = [(epoch, at, one) for one in segments for epoch, at in one.epochs]
    for (earlier, _, _), (epoch, at, one) in pairwise(epochs):
        if epoch < earlier:
            text = f"leader epoch {epoch} at offset {at} of {one.name} after epoch {earlier}"
            yield FileFinding(None, f"the epoch goes back: {text}")


# --- the files beside the segments ---


def _beside(segments: Sequence[Segment], files: Sequence[CheckedFile]) -> Iterator[FileFinding]:
    """Yield where epochs and producer snapshots do not fit the segments."""
    if not segments:
        return
    end = segments[-1].after
    for one in files:
        if one.kind is None or one.file.name.endswith((".deleted", ".tmp")):
            continue
        if one.kind.what == "leader epochs" and not one.report.errors:
            yield from _epoch_faults(segments, one.report.facts["epochs"], end)
        if one.kind.what == "producer snapshot" and (at := int(one.file.path.name.partition(".")[0])) > end:
            text = f"{one.file.name} is of offset {at}, and the log ends before {end}"
            yield FileFinding(None, text, "nothing: a broker deletes it when it starts", is_error=False)


def _epoch_faults(segments: Sequence[Segment], listed: Any, end: int) -> Iterator[FileFinding]:  # noqa: ANN401 - JSON
    """Yield the epochs of the log that the checkpoint does not have, or has elsewhere: §14.3."""
    epochs = [(epoch, at) for one in segments for epoch, at in one.epochs if epoch >= 0]
    for epoch, at in epochs:
        assigned = [number for number, start in listed if start <= at]
        if not assigned or assigned[-1] != epoch:
            known = f"epoch {assigned[-1]}" if assigned else "no epoch"
            text = f"leader epoch {epoch} at offset {at}, where leader-epoch-checkpoint has {known}"
            yield FileFinding(None, text)
    for number, start in listed:
        if start > end:
            text = (
                f"leader-epoch-checkpoint: epoch {number} begins at offset {start}, after the log's end {end}"
            )
            yield FileFinding(None, text, is_error=False)


def _missing_objects(files: Sequence[CheckedFile]) -> Iterator[FileFinding]:
    """Yield the objects that a remote segment must have and has not."""
    objects: dict[str, set[str]] = {}
    for one in files:
        stem, dot, ending = one.file.path.name.partition(".")
        objects.setdefault(stem, set()).add(dot + ending)
    needed = (".log", ".index", ".timeindex", ".leader_epoch_checkpoint", ".snapshot")  # §14.6
    for stem, endings in objects.items():
        if missing := [part for part in needed if part not in endings]:
            yield FileFinding(None, f"the remote segment {stem} has no {', '.join(missing)}")


# --- the whole directory ---


def across(
    files: Sequence[CheckedFile], partitions: Sequence[PartitionReport]
) -> Iterator[tuple[str, FileFinding]]:
    """Yield where offset checkpoints and topic ids do not fit the partitions."""
    ends = {one.name: one.facts for one in partitions if not one.facts.get("state")}
    for one in files:
        if one.kind and one.kind.what == "offset checkpoint" and not one.file.name.endswith(".tmp"):
            rows = one.report.facts["offsets"]
            assert isinstance(rows, list)
            for topic, number, offset in rows:
                name = f"{topic}-{number}"
                if name not in ends:
                    finding = FileFinding(None, f"{name} has no folder here", is_error=False)
                    yield one.file.name, finding
                elif offset > ends[name].get("nextOffset", offset):
                    text = (
                        f"{name} has offset {offset}, after the end of its log at {ends[name]['nextOffset']}"
                    )
                    yield one.file.name, FileFinding(None, text)
    ids: dict[Any, tuple[str, Any]] = {}
    for part in partitions:
        topic, found = part.facts.get("topic"), part.facts.get("topicId")
        if found and not part.facts.get("state"):
            first, known = ids.setdefault(topic, (part.name, found))
            if known != found:
                text = f"topic id {found}, but {first} of this topic has {known}"
                yield part.folder, FileFinding(None, text)


RULES: Final = DirectoryRules("Kafka", KINDS, partition, across)

"""The kinds of files in a data directory of Kafka, and their checks: kafka.md §14."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from attrs import define, field

from wireproof.data_files import DataFile, FileFinding, FileKind, FileReport, named
from wireproof.kafka import (
    batch,
    checkpoint_files,
    metadata_files,
    producer_snapshot,
    transaction_index,
)
from wireproof.kafka.checkpoint_files import EPOCH_FIELDS, OFFSET_FIELDS
from wireproof.kafka.control_types import CONTROL_TYPES, SNAPSHOT_FOOTER, SNAPSHOT_HEADER
from wireproof.kafka.family.entry_cells import offsets_and_epoch
from wireproof.kafka.family.index_files import SYSTEM, parse_file_name, read_segment
from wireproof.kafka.index_file import REBUILD
from wireproof.kafka.metadata_files import MetadataFile
from wireproof.kafka.segment_headers import SegmentEntry, SegmentHeaders
from wireproof.kafka.size_and_magic import peek_size_and_magic
from wireproof.runner import data_directory
from wireproof.runner.data_directory import log_report
from wireproof.runner.entry_list import ListedEntry, ListedRows
from wireproof.runner.file_survey import survey_file
from wireproof.wire.json_values import Json
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

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
    segment = read_segment(file.path)
    findings = []
    aborted = transaction_index.aborted_transactions(segment).values()
    unlisted = [one for one in aborted if one.first is not None]  # one without records has no entry
    if unlisted and not name.beside(".txnindex").exists():
        text = f"{len(unlisted)} transactions were aborted, and there is no .txnindex"
        findings.append(FileFinding(None, text, REBUILD))
    if segment.heads and segment.heads[0].first < name.base and segment.heads[0].magic > 1:
        text = f"the log begins at offset {segment.heads[0].first}, below the base offset of its name"
        findings.append(FileFinding(0, text))
    offsets = _Offsets()
    survey = survey_file(file.path, format_name=LOG_FORMAT, listen=file.reading(offsets.add))
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

    def add(self, part: ListedEntry | ListedRows) -> None:
        """Add a part of the log; those that are no sound entries have no cells."""
        if isinstance(part, ListedEntry) and part.kind != "frame":
            self.is_damaged = True
        for cells in part.rows.cells if isinstance(part, ListedRows) else filter(None, (part.cells,)):
            first, last, epoch = offsets_and_epoch(cells)
            if self._after is not None and first > self._after and not self.is_damaged:
                self.gaps.append([self._after, first - 1])
            if epoch is not None and epoch != self._epoch:
                self.epochs.append([epoch, first])
                self._epoch = epoch
            self._after, self.is_damaged = last + 1, False

    def facts(self) -> dict[str, Json]:
        """Return the epochs, the gaps, and whether the end is damaged."""
        return {"epochs": self.epochs, "gaps": self.gaps, "endIsDamaged": self.is_damaged}


def _entry_bytes(file: DataFile, head: SegmentEntry) -> bytes:
    with file.path.open("rb") as opened:
        opened.seek(head.position)
        return opened.read(head.size)


def _index(file: DataFile) -> FileReport:
    """Check an index file against the log beside it."""
    found = data_directory.check_index_file(file.path)
    raw = found.index.raw
    tail = f", {raw.tail} not written yet" if raw.tail else ""
    alone = "" if found.log is not None else "; its log is not beside it"
    facts: dict[str, Json] = {"entries": len(raw.rows), "notWritten": raw.tail}
    return FileReport(
        f"{_count(len(raw.rows), 'entry')}{tail}{alone}", found.findings, facts, unknown=raw.odd
    )


def _producers(file: DataFile) -> FileReport:
    """Check a producer snapshot: §14.2."""
    data = file.read()
    found = producer_snapshot.read(data)
    end = int(file.path.name.partition(".")[0].partition("-")[0])
    remote = "-" in file.path.name  # it is named after the first offset of its segment
    checks = () if remote else producer_snapshot.check_producers(found, end)
    opened = sum(one.open_since != producer_snapshot.NONE for one in found.producers)
    text = _count(len(found.producers), "producer") + (f", {opened} with an open transaction" * bool(opened))
    facts: dict[str, Json] = {
        "producers": [
            {
                "producerId": one.producer, "producerEpoch": one.epoch, "lastSequence": one.last_sequence,
                "lastOffset": one.last_offset, "offsetDelta": one.offset_delta, "timestamp": one.timestamp,
                "coordinatorEpoch": one.coordinator_epoch, "currentTxnFirstOffset": one.open_since,
            }
            for one in found.producers
        ]
    }  # fmt: skip
    whole = producer_snapshot.HEADER_SIZE + len(found.producers) * producer_snapshot.ENTRY_SIZE
    return FileReport(text, (*found.findings, *checks), facts, unknown=max(0, len(data) - whole))


def _epochs(file: DataFile) -> FileReport:
    """Check a leader epoch checkpoint: §14.3."""
    found = checkpoint_files.read(file.read(), EPOCH_FIELDS)
    pairs: list[Json] = [list(entry.fields) for entry in found.entries]
    last = found.entries[-EPOCHS_SHOWN:]
    shown = ", ".join("{} from offset {}".format(*entry.fields) for entry in last)
    more = f"{len(pairs) - EPOCHS_SHOWN} earlier, " if len(pairs) > EPOCHS_SHOWN else ""
    findings = (*found.findings, *checkpoint_files.check_epochs(found))
    return FileReport(f"epochs {more}{shown}" if pairs else "no epoch", findings, {"epochs": pairs})


def _checkpoint(file: DataFile) -> FileReport:
    """Check an offset checkpoint: §14.3."""
    found = checkpoint_files.read(file.read(), OFFSET_FIELDS)
    rows: list[Json] = [list(entry.fields) for entry in found.entries]
    findings = (*found.findings, *checkpoint_files.check_offsets(found))
    return FileReport(_count(len(rows), "partition"), findings, {"offsets": rows})


def _shown(found: MetadataFile) -> FileReport:
    text = ", ".join(f"{name} {value}" for name, value in found.values.items() if name != "currentVoters")
    return FileReport(text, found.findings, found.values)


def _lock(file: DataFile) -> FileReport:
    """Check a lock file, which has no bytes: `FileLock` locks the file itself."""
    findings = (FileFinding(0, "a lock file has no bytes"),) if file.size else ()
    return FileReport("empty", findings, unknown=file.size)


def _kraft_snapshot(file: DataFile) -> FileReport:
    """Check a snapshot of KRaft: a log between a header record and a footer record: §14.5."""
    segment = read_segment(file.path)
    offsets = _Offsets()
    survey = survey_file(file.path, format_name=LOG_FORMAT, listen=file.reading(offsets.add))
    return log_report(file, survey, list(_frame_faults(file, segment)), offsets.facts())


def _frame_faults(file: DataFile, segment: SegmentHeaders) -> Iterator[FileFinding]:
    """Yield a finding if the first or the last batch is not the control batch that it must be."""
    if not segment.heads:
        yield FileFinding(0, "a snapshot begins with a control batch, and this has no batch")
        return
    for head, wanted in ((segment.heads[0], SNAPSHOT_HEADER), (segment.heads[-1], SNAPSHOT_FOOTER)):
        if wanted not in _control_types(file, head):
            yield FileFinding(head.position, f"this batch has no {CONTROL_TYPES[wanted]} record")


def _control_types(file: DataFile, head: SegmentEntry) -> list[int]:
    """Return the types of the control records of a batch; none if it is damaged."""
    reader = Reader(_entry_bytes(file, head))
    try:
        prefix = peek_size_and_magic(reader)
        records: Iterable[Any] = batch.read(reader, prefix).records if prefix and prefix.magic > 1 else ()
    except Rejected:
        return []
    return [record.control.type for record in records if record.control is not None]


def _is_kafka(file: DataFile) -> bool:
    return data_directory.proven_system(file.path) in (SYSTEM, "")


def _is_kafka_index(file: DataFile) -> bool:
    return data_directory.check_index_file(file.path).written_by == SYSTEM


def _count(number: int, what: str) -> str:
    plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number} {what if number == 1 else plural}"


KINDS: Final = (
    FileKind("log segment", named(rf"\d{{20}}\.log{STATE}"), _log, _is_kafka, is_fast=True),
    FileKind("offset index", named(rf"\d{{20}}\.index{STATE}"), _index, _is_kafka_index),
    FileKind("time index", named(rf"\d{{20}}\.timeindex{STATE}"), _index, _is_kafka_index),
    FileKind("transaction index", named(rf"\d{{20}}\.txnindex{STATE}"), _index),
    FileKind("producer snapshot", named(rf"\d{{20}}\.snapshot{STATE}"), _producers, small=True),
    FileKind("leader epochs", named(rf"leader-epoch-checkpoint{TEMPORARY}"), _epochs, small=True),
    FileKind(
        "topic id",
        named(rf"partition\.metadata{TEMPORARY}"),
        lambda file: _shown(metadata_files.read_partition_metadata(file.read())),
        small=True,
    ),
    FileKind(
        "ids of cluster and node",
        named(rf"meta\.properties{TEMPORARY}"),
        lambda file: _shown(metadata_files.read_properties(file.read())),
        small=True,
    ),
    FileKind(
        "offset checkpoint",
        named(rf"(?:recovery-point|log-start|replication|cleaner)-offset-checkpoint{TEMPORARY}"),
        _checkpoint,
        small=True,
    ),
    FileKind("lock", named(r"\.lock"), _lock),
    FileKind(
        "mark of a clean stop",
        named(r"\.kafka_cleanshutdown"),
        lambda file: _shown(metadata_files.read_clean_shutdown(file.read())),
        small=True,
    ),
    FileKind(
        "KRaft election state",
        named(rf"quorum-state{TEMPORARY}"),
        lambda file: _shown(metadata_files.read_quorum_state(file.read())),
        small=True,
    ),
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

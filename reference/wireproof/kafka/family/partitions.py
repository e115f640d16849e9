"""The files of a partition of Kafka, and those of a data directory, compared: kafka.md §14.7."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, Final

from attrs import frozen

from wireproof.data_files import CheckedFile, DirectoryRules, FileFinding, PartitionReport
from wireproof.kafka import checkpoint_files
from wireproof.kafka.checkpoint_files import OFFSET_FIELDS
from wireproof.kafka.family.data_files import KINDS

FOLDER: Final = re.compile(
    r"(?P<topic>[A-Za-z0-9._-]+)-(?P<partition>\d+)(?:\.[0-9a-f]{32}-(?P<state>delete|future|stray))?"
)
"""The folder of a partition: `LocalLog.parseTopicPartitionName`."""

REMOTE_FOLDER: Final = re.compile(r"(?P<topic>[A-Za-z0-9._-]+)-(?P<partition>\d+)-(?P<id>[A-Za-z0-9_-]{22})")
"""The folder of a partition in a remote store that keeps objects as `LocalTieredStorage` does."""

SEGMENTS: Final = frozenset({"log segment", "remote log segment"})

COMPACTED_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""The internal topics that are always compacted."""

UNLOADED: Final = frozenset({"delete", "stray"})
"""The states of a folder whose leader epochs a broker has removed, because it does not load it again."""

ENDS: Final = ("firstOffset", "nextOffset")

COMPACTION: Final = "cleaner-offset-checkpoint"

MAX_GAPS: Final = 5
"""Gaps that are listed; the others are counted."""

REMOTE_PARTS: Final = (".log", ".index", ".timeindex", ".leader_epoch_checkpoint", ".snapshot")
"""The objects of every remote segment; a transaction index is optional: §14.6."""


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
    if state not in UNLOADED:
        findings += _beside(segments, files)
    if remote:
        findings += _missing_objects(files)
    facts: dict[str, Any] = {
        "topic": topic, "segments": len(segments), "state": state or "",
        "topicId": _fact(files, "topic id", "topic_id"),
    }  # fmt: skip
    if segments:
        facts |= {"firstOffset": segments[0].first, "nextOffset": segments[-1].after}
    return PartitionReport(folder, shown, _summary(segments, files, state), tuple(findings), facts)


def _segments(files: Sequence[CheckedFile]) -> list[Segment]:
    """Return the segments that a broker would load, in the order of their base offsets."""
    logs = [one for one in files if one.kind and one.kind.what in SEGMENTS]
    found = [_segment(one) for one in logs if one.file.name.endswith(".log")]
    return sorted(found, key=lambda one: one.base)


def _segment(one: CheckedFile) -> Segment:
    facts: Mapping[str, Any] = one.report.facts
    base = facts["base"]
    epochs, gaps = (tuple((first, last) for first, last in facts[name]) for name in ("epochs", "gaps"))
    first, after = (base if facts.get(name) is None else facts[name] for name in ENDS)
    return Segment(one.file.name, base, first, after, epochs, gaps, facts["endIsDamaged"])


def _summary(segments: Sequence[Segment], files: Sequence[CheckedFile], state: str | None) -> str:
    if not segments:
        return "no segment"
    count = f"{len(segments)} segment{'s' * (len(segments) > 1)}"
    end = segments[-1].after
    offsets = f"offsets {segments[0].first} to {end - 1}" if end > segments[0].first else "no record"
    epochs = [epoch for one in segments for epoch, _ in one.epochs]
    shown = f", leader epochs {min(epochs)} to {max(epochs)}" if epochs else ""
    gone = sum(one.file.name.endswith(".log.deleted") for one in files)
    deleted = f", {gone} more marked as deleted" if gone else ""
    states = {"delete": ", the partition is being deleted", "stray": ", stray: the cluster does not know it",
              "future": ", a copy that will replace another directory's"}  # fmt: skip
    return f"{count}, {offsets}{shown}{deleted}{states.get(state or '', '')}"


def _is_compacted(files: Sequence[CheckedFile], name: str, topic: str) -> bool:
    """Return whether a topic is compacted, as far as the names and the checkpoint of the cleaner show it."""
    if topic in COMPACTED_TOPICS:
        return True
    path = files[0].file.path.absolute().parent.parent / COMPACTION
    data = path.read_bytes() if path.is_file() else b""
    entries = checkpoint_files.read(data, OFFSET_FIELDS).entries
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
    yield from _gap_findings(sorted(gaps), compacted=compacted)
    epochs = [(epoch, at, one) for one in segments for epoch, at in one.epochs]
    for (earlier, _, _), (epoch, at, one) in pairwise(epochs):
        if epoch < earlier:
            text = f"leader epoch {epoch} at offset {at} of {one.name} after epoch {earlier}"
            yield FileFinding(None, f"the epoch goes back: {text}")


def _ranges(gaps: Sequence[tuple[int, int]]) -> str:
    """Return how many offsets are missing, and the first ranges of them."""
    shown = ", ".join(f"{first} to {last}" if last > first else str(first) for first, last in gaps[:MAX_GAPS])
    more = f" and {len(gaps) - MAX_GAPS} more ranges" if len(gaps) > MAX_GAPS else ""
    missing = sum(last - first + 1 for first, last in gaps)
    return f"{missing} offsets are missing: {shown}{more}"


def _gap_findings(gaps: Sequence[tuple[int, int]], *, compacted: bool) -> Iterator[FileFinding]:
    if not gaps:
        return
    text = _ranges(gaps)
    if compacted:
        yield FileFinding(None, f"{text}; the topic is compacted", is_error=False)
    else:
        yield FileFinding(None, f"gap: {text}", "nothing, if the topic is compacted; else look for the files")


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
    for stem, endings in objects.items():
        if missing := [part for part in REMOTE_PARTS if part not in endings]:
            yield FileFinding(None, f"the remote segment {stem} has no {', '.join(missing)}")


def _fact(files: Sequence[CheckedFile], what: str, name: str) -> Any:  # noqa: ANN401 - JSON
    reports = (one.report for one in files if one.kind and one.kind.what == what)
    return next((report.facts.get(name) for report in reports), None)


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
            yield from ((one.file.name, fault) for fault in _offset_faults(rows, ends))
    yield from _id_faults(partitions)


def _offset_faults(rows: Iterable[Any], ends: Mapping[str, Mapping[str, Any]]) -> Iterator[FileFinding]:
    for topic, number, offset in rows:
        name = f"{topic}-{number}"
        if name not in ends:
            yield FileFinding(None, f"{name} has no folder here", is_error=False)
        elif offset > ends[name].get("nextOffset", offset):
            text = f"{name} has offset {offset}, after the end of its log at {ends[name]['nextOffset']}"
            yield FileFinding(None, text)


def _id_faults(partitions: Sequence[PartitionReport]) -> Iterator[tuple[str, FileFinding]]:
    """Yield the partitions whose topic id is not that of the topic's first partition."""
    ids: dict[Any, tuple[str, Any]] = {}
    for one in partitions:
        topic, found = one.facts.get("topic"), one.facts.get("topicId")
        if one.facts.get("state") or not found:
            continue
        first, known = ids.setdefault(topic, (one.name, found))
        if known != found:
            yield one.folder, FileFinding(None, f"topic id {found}, but {first} of this topic has {known}")


RULES: Final = DirectoryRules("Kafka", KINDS, partition, across)

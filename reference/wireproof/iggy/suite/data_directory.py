"""The files of the data directory of an Iggy server, and their partitions: iggy.md §7.1."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

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
from wireproof.formats import FORMATS, Format
from wireproof.iggy import server_files
from wireproof.iggy.suite.index_files import SYSTEM, log_format
from wireproof.inspect import data_directory
from wireproof.inspect.data_directory import log_report
from wireproof.inspect.file_survey import survey_file
from wireproof.wire.text import counted

PARTITION: Final = re.compile(r"(?:.*/)?streams/(\d+)/topics/(\d+)/partitions/(\d+)")

SEGMENT: Final = "segment"


def _format(file: DataFile) -> Format | None:
    """Return the format that the first records of a file show; None for no segment of Iggy."""
    with file.path.open("rb") as opened:
        return log_format(opened.read(data_directory.HEAD_BYTES))


def _log(file: DataFile) -> FileReport:
    fmt, base = _format(file), int(file.path.name.partition(".")[0])
    if fmt is None and not file.size:
        return FileReport("no record", facts={"base": base})
    row = fmt if fmt is not None else next(known for known in FORMATS.values() if known.name == "iggy.log")
    survey = survey_file(file.path, format_name=row.format_id, listen=file.reading())
    found = log_report(file, survey, (), {"base": base, "revision": row.revision})
    facts: dict[str, Any] = dict(found.facts)
    first, last = facts.get("firstOffset"), facts.get("lastOffset")
    findings, offsets = found.findings, ""
    if first is not None:
        offsets = f", offsets {first} to {last}"
        if int(first) != base:
            text = f"the segment begins at offset {first}, and its name says {base}"
            findings = (*findings, FileFinding(0, text))
    summary = f"{counted(facts['entries'], 'record', grouped=False)} of Iggy {row.revision}{offsets}"
    return FileReport(summary, findings, facts, found.unsound)


def _index(file: DataFile) -> FileReport:
    """Check an index file against the segment beside it."""
    if not file.size:
        return FileReport("no entry")
    found = data_directory.check_index_file(file.path)
    alone = "" if found.log is not None else "; its segment is not beside it"
    entries = counted(len(found.index.entries), "entry", "entries", grouped=False)
    summary = f"{entries} as {found.system} writes them{alone}"
    return FileReport(summary, found.findings, {"entries": len(found.index.entries)})


_IN_PARTITION: Final = r"partitions/\d+/"

KINDS: Final = (
    FileKind(SEGMENT, named(rf"{_IN_PARTITION}\d{{20}}\.log"), _log, placed=True),
    FileKind("index", named(rf"{_IN_PARTITION}\d{{20}}\.(?:index|timeindex)"), _index, placed=True),
    FileKind(SEGMENT, named(r"\d{20}\.log"), _log, lambda file: _format(file) is not None),
    FileKind(
        "index",
        named(r"\d{20}\.(?:index|timeindex)"),
        _index,
        lambda file: data_directory.check_index_file(file.path).written_by == SYSTEM,
    ),
    *(
        FileKind(what, named(pattern), whole(read), placed="/" in pattern, small=True)
        for what, pattern, read in (
            ("offset of a consumer", r"offsets/consumers/\d+", server_files.read_consumer_offset),
            ("offset of a consumer group", r"offsets/groups/\d+", server_files.read_consumer_offset),
            ("server version", r"state/info", server_files.read_server_info),
            ("state log", r"state/log", server_files.read_state_log),
            ("superblock", r"superblock\.[ab](?:\.tmp)?", server_files.read_superblock),
            ("purge generation", r"purge\.gen", server_files.read_purge_generation),
            ("metadata journal", r"metadata/journal\.wal", server_files.read_journal),
            ("metadata snapshot", r"metadata/snapshot\.bin(?:\.tmp)?", server_files.read_metadata_snapshot),
        )
    ),
    *(
        FileKind(what, named(pattern), lambda _: FileReport("text, not checked"), placed=True)
        for what, pattern in (
            ("settings of the last start", r"runtime/current_config\.toml"),
            ("log of the server", r"logs/iggy-server[^/]*\.log[^/]*"),
        )
    ),
)
"""The files of an Iggy server that sources show: iggy.md §7.1."""


def partition(folder: str, files: Sequence[CheckedFile]) -> PartitionReport | None:
    """Return the report of a folder with segments: gaps, overlaps and offsets that go back."""
    logs = [file for file in files if file.kind and file.kind.what == SEGMENT]
    if not logs:
        return None
    place = files[0].file.path.absolute().parent.as_posix()
    found = PARTITION.fullmatch(place)
    name = "stream {}, topic {}, partition {}".format(*found.groups()) if found else place.rpartition("/")[2]
    ordered = sorted(logs, key=lambda log: log.file.path.name)
    full: list[dict[str, Any]] = [
        dict(log.report.facts) for log in ordered if log.report.facts.get("lastOffset") is not None
    ]
    summary = counted(len(logs), "segment", grouped=False)
    facts: dict[str, Any] = {"segments": len(logs)}
    if full:
        first, last = full[0]["firstOffset"], full[-1]["lastOffset"]
        facts |= {"firstOffset": first, "lastOffset": last}
        summary += f", offsets {first} to {last}"
    findings = []
    for before, one in pairwise(full):
        after, first = int(before["lastOffset"]) + 1, int(one["firstOffset"])
        file = f"{one['base']:020}.log"
        if first > after:
            text = f"gap: offsets {after} to {first - 1} are missing before {file}"
            findings.append(FileFinding(None, text))
        elif first < after:
            text = f"{file} begins at offset {first}, but the segment before it ends at {after - 1}"
            findings.append(FileFinding(None, f"overlap: {text}"))
    return PartitionReport(folder, name, summary, tuple(findings), facts)


def across(files: Sequence[CheckedFile], _: Sequence[PartitionReport]) -> Iterator[tuple[str, FileFinding]]:
    """Yield the offsets of consumers that are after the last record of their partition."""
    ends: dict[Any, int] = {}  # the last offset of a folder
    known = [(one, one.kind.what, one.file.path.absolute(), one.report.facts) for one in files if one.kind]
    for _checked, what, path, facts in known:
        if what == SEGMENT and (last := facts.get("lastOffset")) is not None:
            ends[path.parent] = max(ends.get(path.parent, -1), int(str(last)))
    for checked, what, path, facts in known:
        if what.startswith("offset of a consumer") and not checked.report.errors:
            last, offset = ends.get(path.parents[2]), int(str(facts["offset"]))
            if last is not None and offset > last:
                text = f"offset {offset}, and the last record of the partition is {last}"
                yield checked.file.name, FileFinding(0, text)


RULES: Final = DirectoryRules(SYSTEM, KINDS, partition, across)

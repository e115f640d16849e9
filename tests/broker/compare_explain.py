"""Compares what `explain` prints of data directories with Kafka's own tool: `python compare_explain.py DIR…`.

`explain DIR` must name every byte. Then every log (`.log`, `.log.deleted`, KRaft's `.checkpoint`), batch by
batch and record by record, and every index file, entry by entry, is compared with `DumpLogSegments`, field by
field; so are the records of Kafka's own topics with the decoder of their topic, and producer snapshots. Keys
and values that are no text are compared by their size: the tool prints question marks. The exit code is 1 if
anything differs.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]

import dump  # noqa: E402 - a script of tests/broker
import explain_lines  # noqa: E402 - likewise
import ground  # noqa: E402 - likewise
import snapshots  # noqa: E402 - likewise
from attrs import define, field  # noqa: E402 - likewise

from tests.broker import compare_payloads  # noqa: E402 - likewise
from wireproof.kafka.payloads import is_internal_topic  # noqa: E402 - likewise
from wireproof.kafka.payloads.tables import payload_tree  # noqa: E402 - likewise

SHOWN: Final = 20
"""Differences that are printed."""

LOGS: Final = re.compile(r"(\d{20})(?:-\d{10})?\.(?:log|checkpoint)(?:\.deleted)?|bootstrap\.checkpoint")

INDEXES: Final = re.compile(r"\d{20}\.(?:index|timeindex|txnindex)")

INDEX_FIELDS: Final = {
    ".index": {"offset": "offset", "position": "position"},
    ".timeindex": {"timestamp": "timestamp", "offset": "offset"},
    ".txnindex": {
        "version": "version",
        "producerId": "producer",
        "firstOffset": "first",
        "lastOffset": "last",
        "lastStableOffset": "stable",
    },
}
"""The fields of an entry as the tool prints them, and the members that `explain --json` has for them."""

_PAIR = re.compile(r"(\w+): (-?\d+)")
_RECORD = re.compile(
    r"\| (offset: .*?(?:headerKeys: \[[^\]]*\]|crc: \d+))"
    r"(?: key: (?P<key>.*?))?(?: payload: (?P<payload>.*))?",
    re.DOTALL,
)
_KRAFT = re.compile(r"(\| offset: .*headerKeys: \[\]) (\w+):? (\{.*\})$")


@define
class Counts:
    """What was compared, and the differences."""

    directories: int = 0
    bytes: int = 0
    named: int = 0
    logs: int = 0
    batches: int = 0
    records: int = 0
    indexes: int = 0
    entries: int = 0
    payloads: int = 0
    fields: int = 0
    no_text: int = 0
    differences: list[str] = field(factory=list)

    def compare(self, where: str, ours: dump.Line, theirs: dump.Line) -> None:
        """Compare the fields of a line."""
        self.fields += len(theirs)
        self.differences += [
            f"{where} {name}: explain {ours.get(name)}, DumpLogSegments {theirs.get(name)}"
            for name in {**ours, **theirs}
            if ours.get(name) != theirs.get(name)
        ]


def compare(folder: Path, counts: Counts) -> None:
    """Compare a data directory."""
    _compare_totals(folder, counts)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    with TemporaryDirectory() as name:
        _compare_logs(_named_logs(files, Path(name)), counts)
    _compare_indexes([path for path in files if INDEXES.fullmatch(path.name)], counts)
    for path in files:
        if path.suffix in (".log", ".checkpoint") and is_internal_topic(path.parent.name.rpartition("-")[0]):
            _compare_payloads(path, counts)
    _compare_snapshots([path for path in files if re.fullmatch(r"\d{20}\.snapshot", path.name)], counts)


def _compare_totals(folder: Path, counts: Counts) -> None:
    """Take the totals of `explain DIR`; every finding is a difference."""
    command = [sys.executable, "-m", "wireproof", "explain", "--json", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    *events, totals = map(json.loads, done.stdout.splitlines())
    counts.directories += 1
    counts.bytes += totals["size"]
    counts.named += totals["named"]
    counts.differences += [f"{folder}: not named: {one}" for one in totals["unknown"]]
    counts.differences += [
        f"{one['name']}: {finding['message']}"
        for one in events
        for finding in one["findings"]
        if finding["is_error"] and not _is_torn(one, finding)
    ]


def _is_torn(one: explain_lines.Tree, finding: explain_lines.Tree) -> bool:
    """Return whether a log ends within an entry, as one does whose broker was killed."""
    return bool(one["type"] == "file" and finding["message"].startswith("the file ends within an entry"))


def _named_logs(files: Sequence[Path], room: Path) -> dict[Path, Path]:
    """Return the logs by names that the tool takes: each in a folder of its own partition."""
    found = {}
    for number, path in enumerate(one for one in files if LOGS.fullmatch(one.name)):
        link = room / str(number) / path.parent.name / path.name.removesuffix(".deleted")
        link.parent.mkdir(parents=True)
        link.symlink_to(path.resolve())
        found[link] = path
    return found


# --- logs ---


def _compare_logs(logs: dict[Path, Path], counts: Counts) -> None:
    printed = ground.dumped(list(logs), "--deep-iteration", "--print-data-log")
    for link, trees in zip(logs, explain_lines.explained(list(logs)), strict=True):
        counts.logs += 1
        ours = list(explain_lines.lines(trees))
        theirs = [*tool_lines(printed[link])]
        fields = _fields(link) if explain_lines.fields_needed(trees) else ()
        checksums = explain_lines.inner_checksums(fields)
        kraft = explain_lines.kraft_values(fields)
        _compare_lines(str(logs[link]), ours, theirs, counts)
        _compare_inner(str(logs[link]), trees, theirs, checksums, kraft, counts)


def _fields(link: Path) -> list[explain_lines.Tree]:
    return next(explain_lines.explained([link], "--fields"))


_BATCH_LINES: Final = ("baseOffset: ", "offset: ")
_OTHER_LINES: Final = ("Log starting offset: ", "Snapshot end offset: ")


def tool_lines(lines: Sequence[str]) -> Iterator[dump.Line]:
    """Yield the fields of each line; a line that begins like none belongs to the value before it."""
    joined: list[str] = []
    for line in lines:
        if line.startswith((*_BATCH_LINES, *_OTHER_LINES, "| offset: ")) or not joined:
            joined.append(line)
        else:
            joined[-1] += f"\n{line}"
    for text in joined:
        if text.startswith(_BATCH_LINES):
            yield dict(dump.PAIR.findall(text))
        elif found := _KRAFT.fullmatch(text):
            values = list(explain_lines.leaves(json.loads(found[3])))
            yield dict(dump.PAIR.findall(found[1])) | {"kraft": json.dumps(values)}
        elif found := _RECORD.fullmatch(text):
            texts = {name: part for name, part in found.groupdict().items() if part is not None}
            yield dict(dump.PAIR.findall(found[1])) | texts
        elif text.startswith("| "):
            yield dict(dump.PAIR.findall(text))


def _compare_lines(
    name: str, ours: Sequence[tuple[str, dump.Line]], theirs: Sequence[dump.Line], counts: Counts
) -> None:
    if len(ours) != len(theirs):
        counts.differences.append(f"{name}: {len(ours)} lines, DumpLogSegments has {len(theirs)}")
    for number, ((what, left), right) in enumerate(zip(ours, theirs, strict=False)):
        counts.batches += what in ("batch", "message")
        counts.records += what == "record"
        line = {key: text for key, text in right.items() if key != "kraft"}
        if what == "record":
            line.pop("crc", None)  # of an inner message: `_compare_inner`
            for key in ("key", "payload"):
                counts.no_text += key in line and key not in left
                line = {one: text for one, text in line.items() if one != key or key in left}
        counts.compare(f"{name} line {number}", left, line)


def _compare_inner(
    name: str,
    trees: Sequence[explain_lines.Tree],
    theirs: Sequence[dump.Line],
    checksums: Iterator[str],
    kraft: Iterator[list[str]],
    counts: Counts,
) -> None:
    """Compare the checksums of the messages of v0 and v1, and the fields of KRaft's control records."""
    entry: explain_lines.Tree = {}
    for tree, line in zip(trees, theirs, strict=False):
        if tree["type"] == "entry":
            entry = tree
        elif "crc" in line:
            own = str(entry["crc"]) if entry["codec"] == "none" else next(checksums, "none")
            counts.compare(f"{name} offset {tree['offset']}", {"crc": own}, {"crc": line["crc"]})
        elif "kraft" in line:
            found = json.dumps(next(kraft, []))
            counts.compare(f"{name} offset {tree['offset']}", {"kraft": found}, {"kraft": line["kraft"]})


# --- the files beside logs ---


def _compare_indexes(files: Sequence[Path], counts: Counts) -> None:
    if not files:
        return
    printed = ground.dumped(files)
    for path, trees in zip(files, explain_lines.explained(files), strict=True):
        names = INDEX_FIELDS[path.suffix]
        ours = [{name: str(tree[member]) for name, member in names.items()} for tree in trees]
        theirs = [dict(_PAIR.findall(line)) for line in printed[path] if _PAIR.match(line)]
        if not ours and len(theirs) == 1 and _is_first(path, theirs[0]):
            theirs = []  # the tool stops at zeros, which are not written yet, from the second entry on
        counts.indexes += 1
        counts.entries += len(ours)
        for number, (left, right) in enumerate(zip_longest(ours, theirs, fillvalue={})):
            counts.compare(f"{path} entry {number}", left, right)


def _is_first(path: Path, line: dump.Line) -> bool:
    """Return whether the tool read zeros as the entry of the base offset."""
    base, others = int(path.name.partition(".")[0]), {"position", "timestamp"}
    return int(line["offset"]) == base and all(line[name] == "0" for name in others & set(line))


def _compare_snapshots(files: Sequence[Path], counts: Counts) -> None:
    lines = snapshots.printed(files) if files else {}
    for path in files:
        counts.differences += snapshots.differences(path, lines.get(str(path), []))
        counts.fields += sum(map(len, lines.get(str(path), [])))


def _compare_payloads(path: Path, counts: Counts) -> None:
    """Compare the records of a topic of Kafka with its decoder, and what `explain` prints with the same."""
    topic = path.parent.name.rpartition("-")[0]
    theirs = compare_payloads.printed(path, topic)
    shown = {
        tree["offset"]: tree.get("meaning")
        for tree in next(explain_lines.explained([path]))
        if tree["type"] == "record" and tree["control"] is None
    }
    for offset, payload in compare_payloads.decoded(path, topic):
        counts.payloads += 1
        key, value = compare_payloads.in_words_of_the_tool(payload)
        tool_key, tool_value = theirs.pop(offset, ("none", "none"))
        meaning = json.loads(json.dumps(payload_tree(payload)))
        counts.compare(
            f"{path} offset {offset}",
            {"key": json.dumps(key), "value": json.dumps(value), "shown": json.dumps(shown.get(offset))},
            {"key": json.dumps(tool_key), "value": json.dumps(tool_value), "shown": json.dumps(meaning)},
        )
    counts.differences += [f"{path} offset {offset}: only in DumpLogSegments" for offset in theirs]


def summary(counts: Counts) -> Iterator[str]:
    """Yield what was compared, and the first differences."""
    yield f"{counts.directories} directories, {counts.bytes} bytes, {counts.named} of them named"
    yield (
        f"{counts.logs} logs, {counts.batches} batches and messages, {counts.records} records, "
        f"{counts.indexes} index files with {counts.entries} entries, {counts.payloads} payloads"
    )
    yield (
        f"{counts.fields} fields of DumpLogSegments, {len(counts.differences)} different; "
        f"{counts.no_text} keys and values are no text"
    )
    yield from (f"  {one}" for one in counts.differences[:SHOWN])


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    counts = Counts()
    for folder in parser.parse_args().folders:
        compare(folder, counts)
    sys.stdout.writelines(f"{line}\n" for line in summary(counts))
    return 1 if counts.differences or counts.named != counts.bytes or not counts.batches else 0


if __name__ == "__main__":
    sys.exit(main())

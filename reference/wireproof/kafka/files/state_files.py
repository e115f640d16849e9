"""The text files of a data directory of Kafka: checkpoints and metadata: kafka.md §14.3 to §14.5."""

import re
from base64 import urlsafe_b64decode
from binascii import Error
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from attrs import frozen

from wireproof.data_files import FileFinding, FileReport
from wireproof.strict_parsing import parse_json
from wireproof.wire.json_values import Json

# --- checkpoints: §14.3 ---
#
# `leader-epoch-checkpoint` of a partition has an epoch and its first offset in a line. The offset
# checkpoints of a data directory have a topic, a partition and an offset.

EPOCH_FIELDS: Final = ("epoch", "startOffset")
OFFSET_FIELDS: Final = ("topic", "partition", "offset")

BITS: Final = {"epoch": 32, "partition": 32, "startOffset": 64, "offset": 64}
"""The size of each number in memory: `Integer.parseInt` and `Long.parseLong` refuse larger ones.

A topic is no number.
"""


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
    if lines and int(lines[0][1]) != 0:
        text = f"version {lines[0][1]}: Kafka knows only version 0"
        return Checkpoint((), (FileFinding(0, text),))
    entries: list[CheckpointEntry] = []
    for at, text in lines[2:]:
        parts = re.split(r"\s+", text)
        pairs = list(zip(names, parts, strict=False))
        wrong = [(name, part) for name, part in pairs if name in BITS and not _fits(part, BITS[name])]
        if len(parts) != len(names):
            fault = f"{text!r} has {len(parts)} fields, and an entry has {len(names)}: {' '.join(names)}"
            findings.append(FileFinding(at, fault))
        elif wrong:
            name, part = wrong[0]
            findings.append(FileFinding(at, f"{name} is {part!r}, not a number of {BITS[name]} bits"))
        else:
            fields = tuple(int(part) if name in BITS else part for name, part in pairs)
            entries.append(CheckpointEntry(at, fields))
    if len(lines) > 1 and int(lines[1][1]) != len(lines) - 2:
        text = f"{lines[1][1]} entries are announced, and {len(lines) - 2} lines follow"
        findings.append(FileFinding(lines[1][0], text))
    return Checkpoint(tuple(entries), tuple(findings))


def _fits(text: str, bits: int) -> bool:
    """Return whether Java reads a text as an integer of so many bits."""
    return bool(re.fullmatch("[+-]?[0-9]{1,20}", text)) and -(1 << bits - 1) <= int(text) < 1 << bits - 1


def check_epochs(found: Checkpoint) -> Iterator[FileFinding]:
    """Check the entries of a leader epoch checkpoint: `LeaderEpochFileCache` keeps both numbers rising."""
    rows = [(entry.at, *map(int, entry.fields)) for entry in found.entries]
    for at, epoch, start in rows:
        if epoch < 0 or start < 0:
            yield FileFinding(at, f"epoch {epoch} begins at offset {start}: both are 0 or more")
    for (_, earlier, begin), (at, epoch, start) in pairwise(rows):
        if epoch <= earlier:
            yield FileFinding(at, f"epoch {epoch} is not above {earlier}, the one before it")
        if start <= begin:
            text = f"epoch {epoch} begins at offset {start}, not after {begin}, where epoch {earlier} begins"
            yield FileFinding(at, text)


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


# --- metadata ---
#
# `partition.metadata` has the topic id, `meta.properties` the ids of cluster, node and directory, `quorum-
# state` the state of a KRaft election, and `.kafka_cleanshutdown` the epoch of a clean stop.

QUORUM_FIELDS: Final = {
    0: {"clusterId": str, "leaderId": int, "leaderEpoch": int, "votedId": int, "appliedOffset": int,
        "currentVoters": list},
    1: {"leaderId": int, "leaderEpoch": int, "votedId": int, "votedDirectoryId": str},
}  # fmt: skip
"""The fields of `quorum-state` by version, beside `data_version`."""

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,10}")


def _report(values: Mapping[str, Json], findings: Iterable[FileFinding] = ()) -> FileReport:
    """Return the report of a file with these values, and the faults of its text."""
    text = ", ".join(f"{name} {value}" for name, value in values.items() if name != "currentVoters")
    return FileReport(text, tuple(findings), values)


def uuid_bytes(text: str) -> bytes | None:
    """Return the 16 bytes of an id as Kafka writes it, in base64 for URLs without padding; else None."""
    try:
        found = urlsafe_b64decode(text + "=" * (-len(text) % 4)) if text.isascii() else b""
    except (Error, ValueError):
        return None
    return found if len(found) == 16 and len(text) == 22 else None


def read_partition_metadata(data: bytes) -> FileReport:
    """Read `partition.metadata`: a version of 0 or more, then the topic id, which is not zero."""
    lines = list(text_lines(data))
    values: dict[str, Json] = {}
    faults = []
    for number, name in enumerate(("version", "topic_id")):
        at, text = lines[number] if number < len(lines) else (len(data), "")
        key, colon, value = text.partition(":")
        if not colon or not value[:1].isspace():
            faults.append(FileFinding(at, f"line {number + 1} is {text!r}, not `{name}: …`"))
            continue
        values[name] = stated = value.strip()
        if key != name:
            faults.append(FileFinding(at, f"{key!r} is there instead of {name}", is_error=False))
        topic = uuid_bytes(stated)
        if number == 0 and not (_INTEGER.fullmatch(stated) and int(stated) >= 0):
            faults.append(FileFinding(at, f"version {stated!r} is not 0 or more"))
        if number == 1 and topic is None:
            faults.append(FileFinding(at, f"topic_id {stated!r} is no id of 16 bytes in base64"))
        if number == 1 and topic == bytes(16):
            faults.append(FileFinding(at, "topic_id is zero, which no topic has"))
    if len(lines) > 2:
        faults.append(FileFinding(lines[2][0], "lines after the topic id are not read", is_error=False))
    return _report(values, faults)


def read_properties(data: bytes) -> FileReport:
    """Read `meta.properties`, which `java.util.Properties` writes: `name=value` lines and comments."""
    values: dict[str, Json] = {}
    faults = []
    for at, text in text_lines(data):
        if not text.strip() or text.lstrip()[0] in "#!":
            continue
        name, sign, value = text.partition("=")
        if not sign:
            faults.append(FileFinding(at, f"{text!r} is no `name=value`"))
        elif name.strip() in values:
            faults.append(FileFinding(at, f"{name.strip()} is there twice"))
        values[name.strip()] = value.strip().replace("\\", "")
    return _report(values, (*faults, *_meta_faults(values)))


def _meta_faults(values: Mapping[str, Json]) -> list[FileFinding]:
    """Return the faults of the values, as `MetaProperties.Builder` finds them."""
    version = str(values.get("version", "0"))
    node = {0: "broker.id", 1: "node.id"}.get(int(version)) if _INTEGER.fullmatch(version) else None
    if node is None:
        return [FileFinding(None, f"version {version}: Kafka knows versions 0 and 1")]
    needed = () if version == "0" else ("cluster.id", node)
    faults = [FileFinding(None, f"{name} is missing") for name in needed if name not in values]
    if node in values and not _INTEGER.fullmatch(str(values[node])):
        faults.append(FileFinding(None, f"{node} is {values[node]!r}, not a number"))
    directory = values.get("directory.id")
    if directory is not None and uuid_bytes(str(directory)) is None:
        faults.append(FileFinding(None, f"directory.id {directory!r} is no id of 16 bytes in base64"))
    return faults


def read_quorum_state(data: bytes) -> FileReport:
    """Read `quorum-state`: one line with a JSON object, whose `data_version` says which fields it has."""
    found = _json_object(data.split(b"\n", 1)[0])
    if isinstance(found, str):
        return _report({}, (FileFinding(0, found),))
    version = found.get("data_version")
    fields = QUORUM_FIELDS.get(version) if isinstance(version, int) else None
    if fields is None:
        text = f"data_version {version}: Kafka knows versions 0 and 1"
        return _report(found, (FileFinding(0, text),))
    faults = []
    for name, kind in fields.items():
        value = found.get(name)
        if not isinstance(value, kind) and not (value is None and name == "currentVoters"):
            faults.append(FileFinding(0, f"{name} is {value!r}"))
    extra = found.keys() - fields.keys() - {"data_version"}
    faults += [FileFinding(0, f"{name} is no field of this version") for name in sorted(extra)]
    return _report(found, faults)


def read_clean_shutdown(data: bytes) -> FileReport:
    """Read `.kafka_cleanshutdown`: empty before Kafka 3.7, later a JSON object with the broker epoch."""
    if not data:
        return _report({})
    found = _json_object(data)
    if isinstance(found, str):
        return _report({}, (FileFinding(0, found),))
    names = [name for name in ("version", "brokerEpoch") if not isinstance(found.get(name), int)]
    return _report(found, (FileFinding(0, f"{name} is {found.get(name)!r}, not a number") for name in names))


def _json_object(data: bytes) -> dict[str, Json] | str:
    """Return the object that a text in JSON is, or the fault of the text."""
    try:
        found = parse_json(data)
    except ValueError as error:
        return f"this is no JSON: {error}"
    return found if isinstance(found, dict) else "this is JSON, but no object"

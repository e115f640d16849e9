"""`explain DIR`: every file is named and checked, and the files of a partition are compared."""

import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import iggy_segments
import kafka_bytes
import pytest
from folders import SUPPORT
from work_counter import growth

from wireproof.cli.explain.directory import explain_directory
from wireproof.inspect.data_directory import (
    CrossFinding,
    DirectoryTotals,
    FolderReport,
    directory_rules,
    read_directory,
)
from wireproof.inspect.lost_records import bounds_of
from wireproof.kafka.suite.index_files import headers_of
from wireproof.wire.byte_source import BytesSource

ID = "MtrD63xeQ2STCZQF3Qe6Bg"
OTHER_ID = "1ICi7wijREW0QSEJa0fMjw"
IGGY = Path("streams/1/topics/2/partitions/3")


def batch(base: int, epoch: int = 0, count: int = 1, **fields: int) -> bytes:
    """A batch; no checksum covers its base offset and its leader epoch."""
    records = b"".join(kafka_bytes.record(f"0000{2 * number:02x}01026b00") for number in range(count))
    data = kafka_bytes.batch(records, count, base=base, **fields)
    return data[:12] + struct.pack(">i", epoch) + data[16:]


def segment(folder: Path, base: int, data: bytes, ending: str = ".log") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{base:020}{ending}"
    path.write_bytes(data)
    return path


def partition(root: Path, name: str = "t-0", topic_id: str = ID) -> Path:
    """Two segments of three batches, with leader epochs 0 and 1, and the files beside them."""
    folder = root / name
    segment(folder, 0, b"".join(batch(offset) for offset in range(3)))
    segment(folder, 3, b"".join(batch(offset, 1) for offset in range(3, 6)))
    (folder / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n1 3\n")
    (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {topic_id}")
    return folder


def checkpoint(root: Path, name: str, *lines: str) -> None:
    (root / f"{name}-offset-checkpoint").write_text("\n".join(["0", str(len(lines)), *lines]) + "\n")


def read(root: Path) -> tuple[DirectoryTotals, dict[str, str], list[str]]:
    """Return totals, kinds by name of the file, and all findings as lines: `wrong` or `note`, place, text."""
    totals = DirectoryTotals()
    kinds: dict[str, str] = {}
    lines: list[str] = []
    for event in read_directory(root, totals):
        match event:
            case FolderReport(files=files, partition=found):
                kinds |= {one.file.name: one.kind.what if one.kind else "" for one in files}
                pairs = [(one.file.name, finding) for one in files for finding in one.report.findings]
                pairs += [(found.name, finding) for finding in found.findings] if found else []
            case CrossFinding(name=name, finding=finding):
                pairs = [(name, finding)]
        lines += [
            f"{'wrong' if finding.is_error else 'note'} {name}: {finding.message}" for name, finding in pairs
        ]
    return totals, kinds, lines


# --- Kafka ---


def test_a_sound_directory_of_kafka_is_named_whole_and_has_no_finding(tmp_path: Path) -> None:
    partition(tmp_path)
    checkpoint(tmp_path, "recovery-point", "t 0 6")
    checkpoint(tmp_path, "replication", "t 0 6")
    checkpoint(tmp_path, "log-start")
    (tmp_path / "meta.properties").write_text(
        f"node.id=1\nversion=1\ncluster.id=c\ndirectory.id={OTHER_ID}\n"
    )
    (tmp_path / ".lock").touch()
    (tmp_path / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":1}')
    totals, kinds, lines = read(tmp_path)
    assert lines == []
    assert "" not in kinds.values()
    assert totals.is_sound
    assert (totals.partitions, totals.files) == (1, 10)
    size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert totals.named == totals.size == size


def test_segments_with_indexes_that_kafka_wrote_are_sound(tmp_path: Path) -> None:
    for name in ("closed", "legacy", "compacted"):
        shutil.copytree(SUPPORT / "segments" / name, tmp_path / f"{name}-0")
    checkpoint(tmp_path, "cleaner", "compacted 0 1")
    totals, kinds, lines = read(tmp_path)
    assert [line for line in lines if "the topic is compacted" not in line] == []
    assert totals.is_sound
    assert set(kinds.values()) == {
        "offset checkpoint",
        "log segment",
        "offset index",
        "time index",
        "transaction index",
    }


def test_a_segment_that_begins_with_a_compressed_wrapper_leaves_no_gap(tmp_path: Path) -> None:
    """The header of a wrapper has the offset of its last message only: kafka.md §2.2."""
    folder = tmp_path / "t-0"
    shutil.copytree(SUPPORT / "segments" / "legacy", folder)
    data = (folder / f"{1000:020}.log").read_bytes()
    heads = headers_of(BytesSource(data)).heads
    wrapper = next(n for n, head in enumerate(heads) if n and head.last > heads[n - 1].last + 1)
    at, base = heads[wrapper].position, heads[wrapper - 1].last + 1
    for path in folder.iterdir():
        path.unlink()
    segment(folder, 1000, data[:at])
    segment(folder, base, data[at:])
    totals, _, lines = read(tmp_path)
    assert lines == []
    assert totals.is_sound


@pytest.mark.parametrize("base", [0, 6])
def test_an_empty_segment_begins_where_its_name_says(base: int, tmp_path: Path) -> None:
    """After a start the active segment has no record; all others may be in a remote store."""
    if base:
        partition(tmp_path)
    segment(tmp_path / "t-0", base, b"")
    checkpoint(tmp_path, "replication", f"t 0 {base}")
    segment(tmp_path / "t-0", base, struct.pack(">hIi", 1, 0x48674BC7, 0), ".snapshot")
    totals, _, lines = read(tmp_path)
    assert lines == []
    assert totals.is_sound


@pytest.mark.parametrize(
    ("base", "offsets", "epoch", "said"),
    [
        (4, (4, 5), 1, "wrong t-0: gap: 1 offsets are missing: 3"),
        (3, (4, 6), 1, "wrong t-0: gap: 2 offsets are missing: 3, 5"),
        (2, (2, 3), 1, "wrong t-0: overlap: t-0/00000000000000000002.log begins at offset 2, but"),
        (3, (3, 4), -2, "wrong t-0: the epoch goes back: leader epoch -2 at offset 3"),
    ],
)
def test_gaps_overlaps_and_epochs_that_go_back_between_segments_are_named(
    base: int, offsets: tuple[int, ...], epoch: int, said: str, tmp_path: Path
) -> None:
    segment(tmp_path / "t-0", 0, b"".join(batch(offset) for offset in range(3)))
    segment(tmp_path / "t-0", base, b"".join(batch(offset, epoch) for offset in offsets))
    _, _, lines = read(tmp_path)
    assert any(line.startswith(said) for line in lines), lines


def test_offsets_that_go_back_in_a_segment_are_named_with_their_place(tmp_path: Path) -> None:
    path = segment(tmp_path / "t-0", 0, batch(0) + batch(2) + batch(1))
    at = path.stat().st_size * 2 // 3
    _, _, lines = read(tmp_path)
    found = [line for line in lines if "offsets-not-monotonic" in line]
    assert found
    assert f"bytes {at} to " in found[0]


@pytest.mark.parametrize("name", ["t-0", "__consumer_offsets-0"])
def test_gaps_of_a_compacted_topic_are_a_note(name: str, tmp_path: Path) -> None:
    segment(tmp_path / name, 0, batch(0) + batch(4))
    if name == "t-0":
        checkpoint(tmp_path, "cleaner", "t 0 4")
    totals, _, lines = read(tmp_path)
    assert lines == [f"note {name}: 3 offsets are missing: 1 to 3; the topic is compacted"]
    assert totals.is_sound


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0\n1\n0 0\n", "wrong t-0: leader epoch 1 at offset 3, where leader-epoch-checkpoint has epoch 0"),
        ("0\n0\n", "wrong t-0: leader epoch 0 at offset 0, where leader-epoch-checkpoint has no epoch"),
        (
            "0\n3\n0 0\n1 3\n2 9\n",
            "note t-0: leader-epoch-checkpoint: epoch 2 begins at offset 9, after the log's end 6",
        ),
    ],
)
def test_leader_epochs_are_compared_with_the_log(text: str, said: str, tmp_path: Path) -> None:
    (partition(tmp_path) / "leader-epoch-checkpoint").write_text(text)
    _, _, lines = read(tmp_path)
    assert said in lines


@pytest.mark.parametrize("state", ["delete", "stray"])
def test_a_folder_that_is_no_longer_loaded_needs_no_epochs(state: str, tmp_path: Path) -> None:
    folder = partition(tmp_path, f"t-0.{'0f' * 16}-{state}")
    (folder / "leader-epoch-checkpoint").write_text("0\n0\n")
    totals, _, lines = read(tmp_path)
    assert lines == []
    assert totals.partitions == 1


@pytest.mark.parametrize("name", ["recovery-point", "replication", "cleaner", "log-start"])
def test_an_offset_checkpoint_after_the_end_of_the_log_is_wrong(name: str, tmp_path: Path) -> None:
    partition(tmp_path)
    checkpoint(tmp_path, name, "t 0 7", "gone 3 1")
    _, _, lines = read(tmp_path)
    file = f"{name}-offset-checkpoint"
    assert lines == [
        f"wrong {file}: t-0 has offset 7, after the end of its log at 6",
        f"note {file}: gone-3 has no folder here",
    ]


def test_the_partitions_of_a_topic_have_one_topic_id(tmp_path: Path) -> None:
    partition(tmp_path)
    partition(tmp_path, "t-1", OTHER_ID)
    _, _, lines = read(tmp_path)
    assert lines == [f"wrong t-1: topic id {OTHER_ID}, but t-0 of this topic has {ID}"]


def test_a_flipped_bit_a_cut_entry_and_allocated_zeros_are_told_apart(tmp_path: Path) -> None:
    whole = batch(0) + batch(1)
    damaged = bytearray(batch(2))
    damaged[-1] ^= 1
    segment(tmp_path / "bit-0", 0, whole + bytes(damaged) + batch(3))
    segment(tmp_path / "cut-0", 0, whole + batch(2)[:-5])
    segment(tmp_path / "zeros-0", 0, whole + bytes(1000))
    totals, _, lines = read(tmp_path)
    assert lines[0].startswith(f"wrong bit-0/{0:020}.log: bytes {len(whole)} to ")
    assert "crc-mismatch" in lines[0]
    assert lines[1] == (
        f"wrong cut-0/{0:020}.log: the file ends within an entry, {len(batch(2)) - 5} of {len(batch(2))} "
        "bytes of it"
    )
    assert lines[2] == f"note zeros-0/{0:020}.log: 1000 bytes are allocated and not written yet"
    assert totals.unsound == 2 * len(batch(2)) - 5
    assert totals.named == totals.size


def test_aborted_transactions_without_an_index_are_named(tmp_path: Path) -> None:
    shutil.copytree(SUPPORT / "segments" / "closed", tmp_path / "t-0")
    (tmp_path / "t-0" / "00000000000000001000.txnindex").unlink()
    _, _, lines = read(tmp_path)
    assert lines == [
        "wrong t-0/00000000000000001000.log: 3 transactions were aborted, and there is no .txnindex"
    ]


def test_an_index_that_misleads_is_named_with_its_place(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SUPPORT / "segments" / "closed", tmp_path / "t-0"))
    path = folder / "00000000000000001000.index"
    data = bytearray(path.read_bytes())
    struct.pack_into(">i", data, 4, 202)
    path.write_bytes(data)
    totals, _, lines = read(tmp_path)
    assert f"wrong t-0/{path.name}: no entry of the log begins at position 202" in lines
    assert not totals.is_sound


def test_files_that_are_being_deleted_or_swapped_are_named_and_are_no_segments(tmp_path: Path) -> None:
    folder = partition(tmp_path)
    for ending in (".log.deleted", ".log.cleaned", ".log.swap"):
        segment(folder, 1, batch(1), ending)
    segment(folder, 2, b"", ".snapshot.deleted").write_bytes(struct.pack(">hIi", 1, 0x48674BC7, 0))
    totals, kinds, lines = read(tmp_path)
    assert lines == []
    assert kinds["t-0/00000000000000000001.log.swap"] == "log segment"
    assert kinds["t-0/00000000000000000002.snapshot.deleted"] == "producer snapshot"
    assert totals.is_sound


def test_a_snapshot_of_kraft_begins_and_ends_with_a_control_batch(tmp_path: Path) -> None:
    begin, records, end = KRAFT
    name = "00000000000000000010-0000000001.checkpoint"
    for topic, data in (("whole", begin + records + end), ("torn", begin + records), ("late", records + end)):
        folder = tmp_path / f"{topic}-0"
        folder.mkdir()
        (folder / name).write_bytes(data)
    _, kinds, lines = read(tmp_path)
    assert set(kinds.values()) == {"KRaft snapshot"}
    assert lines == [
        f"wrong late-0/{name}: this batch has no SNAPSHOT_HEADER record",
        f"wrong torn-0/{name}: this batch has no SNAPSHOT_FOOTER record",
    ]


KRAFT = tuple(
    bytes.fromhex(text)
    for text in (
        (
            "00000000000000000000009a00000000028e5fe99d002000000002000001a2085e7f0f000001a2085e7f0fffffffffffffff"
            "ffffffffffffff000000032a0000000800000003160000000001a2085e7efe00001e00000208000000050a00000001000082"
            "0100000408000000066e00000200000001d480a2ef08a34445b44121096b47cc8f020b434f4e54524f4c4c45520a3132372e"
            "302e302e31c3e7000000000100000000"
        ),
        (
            "0000000000000003000000f100000000021e80080f000000000005000001a2085e7f32000001a2085e7f32ffffffffffffff"
            "ffffffffffffff000000063a000000012e010c00116d657461646174612e76657273696f6e002100005a000002014e010c00"
            "21656c696769626c652e6c65616465722e7265706c696361732e76657273696f6e00010000340000040128010c000e67726f"
            "75702e76657273696f6e00010000340000060128010c000e73686172652e76657273696f6e0002000038000008012c010c00"
            "1073747265616d732e76657273696f6e000100004000000a0134010c00147472616e73616374696f6e2e76657273696f6e00"
            "020000"
        ),
        (
            "00000000000000090000003f000000000237f57907002000000000000001a2085e7f35000001a2085e7f35ffffffffffffff"
            "ffffffffffffff000000011a00000008000000040600000000"
        ),
    )
)
"""The three batches of a snapshot that `StorageTool format` of Kafka 4.4 wrote."""


def test_the_objects_of_a_remote_segment_are_checked_together(tmp_path: Path) -> None:
    folder = tmp_path / f"t-0-{ID}"
    stem = f"{1000:020}-{OTHER_ID}"
    folder.mkdir()
    for ending in (".log", ".index", ".timeindex", ".txnindex"):
        shutil.copy(SUPPORT / "segments" / "closed" / f"{1000:020}{ending}", folder / f"{stem}{ending}")
    (folder / f"{stem}.leader_epoch_checkpoint").write_text("0\n1\n0 1000\n")
    totals, kinds, lines = read(tmp_path)
    assert lines == [f"wrong t-0: the remote segment {stem} has no .snapshot"]
    assert kinds[f"t-0-{ID}/{stem}.log"] == "remote log segment"
    assert totals.named == totals.size


# --- Iggy ---


@pytest.mark.parametrize("revision", ["0.0.30", "0.0.40", "0.2.7", "0.7", "0.8", "0.9", "0.11"])
def test_a_partition_of_iggy_is_named_and_sound(revision: str, tmp_path: Path) -> None:
    folder = tmp_path / IGGY
    data = iggy_segments.segment(revision, 20)
    segment(folder, 0, data)
    segment(folder, 0, iggy_segments.index(revision, data), ".index")
    (folder / "offsets" / "consumers").mkdir(parents=True)
    (folder / "offsets" / "consumers" / "1").write_bytes((5).to_bytes(8, "little"))
    totals, kinds, lines = read(tmp_path)
    assert lines == []
    assert sorted(kinds.values()) == ["index", "offset of a consumer", "segment"]
    assert totals.is_sound


def test_a_segment_of_iggy_is_known_by_its_records_outside_of_a_data_directory(tmp_path: Path) -> None:
    data = iggy_segments.segment("0.7", 20)
    segment(tmp_path / "copied", 0, data)
    segment(tmp_path / "copied", 0, iggy_segments.index("0.7", data), ".index")
    totals, kinds, lines = read(tmp_path)
    assert (sorted(kinds.values()), lines) == (["index", "segment"], [])
    assert totals.is_sound


def test_an_error_in_segment_index_and_offset_of_iggy_is_named(tmp_path: Path) -> None:
    folder = tmp_path / IGGY
    data = bytearray(iggy_segments.segment("0.8", 20))
    index = bytearray(iggy_segments.index("0.8", bytes(data)))
    index[4] ^= 1
    segment(folder, 0, index, ".index")
    (begin, end) = iggy_segments.places("0.8", bytes(data))[7]
    data[end - 1] ^= 1
    segment(folder, 0, data)
    (folder / "offsets" / "groups").mkdir(parents=True)
    (folder / "offsets" / "groups" / "2").write_bytes((99).to_bytes(8, "little"))
    _, _, lines = read(tmp_path)
    place = IGGY.as_posix()
    assert any(line.startswith(f"wrong {place}/{0:020}.index: ") for line in lines)
    assert any(line.startswith(f"wrong {place}/{0:020}.log: bytes {begin} to {end}: ") for line in lines)
    assert f"wrong {place}/offsets/groups/2: offset 99, and the last record of the partition is 19" in lines


def test_a_gap_between_segments_of_iggy_is_named(tmp_path: Path) -> None:
    folder = tmp_path / IGGY
    data = iggy_segments.segment("0.7", 20)
    places = iggy_segments.places("0.7", data)
    segment(folder, 0, data[: places[9][1]])
    segment(folder, 12, data[places[12][0] :])
    _, _, lines = read(tmp_path)
    assert lines == [
        f"wrong stream 1, topic 2, partition 3: gap: offsets 10 to 11 are missing before {12:020}.log"
    ]


# --- any directory ---


def test_what_cannot_be_read_or_is_not_known_costs_a_line(tmp_path: Path) -> None:
    partition(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    os.mkfifo(tmp_path / "t-0" / "00000000000000000009.log")
    (tmp_path / "t-0" / "00000000000000000008.log").symlink_to(tmp_path / "nowhere")
    totals, kinds, lines = read(tmp_path)
    assert sorted(lines) == [
        "wrong t-0/00000000000000000008.log: no regular file: a link",
        "wrong t-0/00000000000000000009.log: no regular file: a pipe",
    ]
    assert kinds["notes.txt"] == ""
    assert ("notes.txt", 4) in totals.unknown
    assert totals.size - totals.named == 4
    assert not totals.is_sound


def test_the_lines_are_a_tree_with_totals_and_exit_codes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    partition(tmp_path)
    assert explain_directory(tmp_path, as_json=False) == 0
    out = capsys.readouterr().out.splitlines()
    assert "t-0/" in out
    assert any("log segment: 3 entries, offsets 0 to 2" in line for line in out)
    assert "  partition t-0: 2 segments, offsets 0 to 5, leader epochs 0 to 1" in out
    assert out[-1].endswith("bytes named (100 %), 0 damaged")
    (tmp_path / "x\x1b[31m").write_text("y")
    assert explain_directory(tmp_path, as_json=False) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[-1].startswith("not known: x")
    assert "\x1b" not in "".join(out)


def test_the_next_segment_is_found_without_a_look_at_all_others(tmp_path: Path) -> None:
    def looking(count: int) -> Callable[[], object]:
        paths = [segment(tmp_path / str(count), base, b"") for base in range(count)]
        assert [bounds_of(path) for path in paths[-2:]] == [(count - 2, count - 1), (count - 1, None)]
        return lambda: [bounds_of(path) for path in paths]

    assert growth(looking, 50) < 1.1


def test_the_rules_of_every_family_come_through_its_hook() -> None:
    assert [rules.system for rules in directory_rules()] == ["Kafka", "Iggy"]

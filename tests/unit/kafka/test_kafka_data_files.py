"""The files beside a log of Kafka: bytes that a broker of Kafka 4.4 wrote, and each of them damaged."""

import struct
from collections.abc import Callable

import google_crc32c
import pytest
from each import each

from wireproof.data_files import FileFinding, FileReport
from wireproof.kafka.files import producer_snapshot, state_files
from wireproof.kafka.files.state_files import EPOCH_FIELDS, OFFSET_FIELDS

SNAPSHOT = bytes.fromhex(
    "0001246e333e00000002"
    "0000000000000063000000000004000000000000000900000004000001977421b6c3ffffffffffffffffffffffff"
    "00000000000000640000000000040000000000"
    "00000e00000004000001977421baabffffffff000000000000000a"
)
"""`00000000000000000015.snapshot` of a topic whose second transaction was open: kafka.md §14.2."""

END = 15
ENTRY = 46


def resealed(data: bytes) -> bytes:
    return data[:2] + struct.pack(">I", google_crc32c.value(data[6:])) + data[6:]


def messages(findings: tuple[FileFinding, ...] | list[FileFinding]) -> list[str]:
    return [one.message for one in findings if one.is_error]


# --- producer snapshots ---


def test_the_producers_of_a_snapshot_are_those_that_dump_log_segments_prints() -> None:
    found = producer_snapshot.read(SNAPSHOT)
    assert found.findings == ()
    first, second = found.producers
    assert (first.producer_id, first.producer_epoch, first.last_sequence, first.last_offset) == (99, 0, 4, 9)
    assert (first.offset_delta, first.timestamp, first.coordinator_epoch) == (4, 1_750_000_056_003, -1)
    assert (first.current_txn_first_offset, second.current_txn_first_offset) == (-1, 10)
    assert (second.producer_id, second.last_offset) == (100, 14)
    assert list(producer_snapshot.check_producers(found, END)) == []


@each("bit", [16, 47, 80, 160, 8 * 101 + 7])
def test_a_flipped_bit_of_a_snapshot_fails_its_checksum(bit: int) -> None:
    data = bytearray(SNAPSHOT)
    data[bit // 8] ^= 1 << bit % 8
    assert any("crc: " in one for one in messages(producer_snapshot.read(bytes(data)).findings))


@each(
    "data, at, said",
    [
        (b"", 0, "the file ends in its header: 0 of 10 bytes"),
        (SNAPSHOT[:9], 9, "the file ends in its header: 9 of 10 bytes"),
        (b"\0\2" + SNAPSHOT[2:], 0, "version 2: Kafka knows only version 1"),
        (resealed(SNAPSHOT[:-1]), 6, "2 producers need 102 bytes, and the file has 101"),
        (resealed(SNAPSHOT[:6] + b"\xff" * 4 + SNAPSHOT[10:]), 6, "-1 producers need -36 bytes"),
        (resealed(SNAPSHOT[:6] + b"\x7f\xff\xff\xff" + SNAPSHOT[10:]), 6, "2147483647 producers need"),
    ],
)
def test_a_snapshot_of_a_wrong_size_or_version_is_reported_with_its_place(
    data: bytes, at: int, said: str
) -> None:
    (one,) = producer_snapshot.read(data).findings
    assert (one.at, one.is_error) == (at, True)
    assert one.message.startswith(said)


def test_bytes_after_the_last_producer_are_a_note_because_brokers_do_not_read_them() -> None:
    (one,) = producer_snapshot.read(resealed(SNAPSHOT + b"\0\0")).findings
    assert (one.at, one.is_error) == (len(SNAPSHOT), False)


def test_a_producer_is_checked_against_the_offset_in_the_name_and_the_other_producers() -> None:
    twice = resealed(SNAPSHOT[: 10 + ENTRY] + SNAPSHOT[10 : 10 + ENTRY])
    found = producer_snapshot.read(twice)
    assert messages(list(producer_snapshot.check_producers(found, END))) == ["producer 99 is there twice"]
    late = messages(list(producer_snapshot.check_producers(producer_snapshot.read(SNAPSHOT), 14)))
    assert late == ["producer 100 has offset 14, but the snapshot ends before 14"]


# --- checkpoints ---


def test_a_leader_epoch_checkpoint_has_epochs_and_their_first_offsets() -> None:
    found = state_files.read(b"0\n3\n1 0\n2 93\n3 95\n", EPOCH_FIELDS)
    assert [entry.fields for entry in found.entries] == [(1, 0), (2, 93), (3, 95)]
    assert [entry.at for entry in found.entries] == [4, 8, 13]
    assert (*found.findings, *state_files.check_epochs(found)) == ()


@pytest.mark.parametrize("data", [b"", b"0\n", b"0\n0\n"])
def test_a_checkpoint_may_be_empty(data: bytes) -> None:
    assert state_files.read(data, EPOCH_FIELDS) == state_files.Checkpoint((), ())


@each(
    "text, at, said",
    [
        ("x\n0\n", 0, "the version is 'x', not a number"),
        ("1\n0\n", 0, "version 1: Kafka knows only version 0"),
        ("0\n2\n1 0\n", 2, "2 entries are announced, and 1 lines follow"),
        ("0\n1\n1\n", 4, "'1' has 1 fields, and an entry has 2: epoch startOffset"),
        ("0\n1\n1 2 3\n", 4, "'1 2 3' has 3 fields"),
        ("0\n1\n2147483648 0\n", 4, "epoch is '2147483648', not a number of 32 bits"),
        ("0\n1\n1 9223372036854775808\n", 4, "startOffset is '9223372036854775808', not a number of 64"),
        ("0\n2\n2 0\n1 5\n", 8, "epoch 1 is not above 2, the one before it"),
        ("0\n2\n1 5\n2 5\n", 8, "epoch 2 begins at offset 5, not after 5, where epoch 1 begins"),
        ("0\n1\n-1 5\n", 4, "epoch -1 begins at offset 5: both are 0 or more"),
    ],
)
def test_a_damaged_leader_epoch_checkpoint_is_reported_with_its_line(text: str, at: int, said: str) -> None:
    found = state_files.read(text.encode(), EPOCH_FIELDS)
    (one,) = (*found.findings, *state_files.check_epochs(found))
    assert one.at == at
    assert one.message.startswith(said)


def test_an_offset_checkpoint_has_topics_partitions_and_offsets() -> None:
    found = state_files.read(b"0\n2\nrolled 0 6000\nrolled 1 4000\n", OFFSET_FIELDS)
    assert [entry.fields for entry in found.entries] == [("rolled", 0, 6000), ("rolled", 1, 4000)]
    assert (*found.findings, *state_files.check_offsets(found)) == ()


@pytest.mark.parametrize(
    ("line", "said"),
    [("rolled 0 -1", "rolled-0 has offset -1"), ("rolled 1 7", "rolled-1 is there twice")],
)
def test_a_wrong_entry_of_an_offset_checkpoint_is_reported(line: str, said: str) -> None:
    found = state_files.read(f"0\n2\nrolled 1 6\n{line}\n".encode(), OFFSET_FIELDS)
    (one,) = state_files.check_offsets(found)
    assert (one.at, one.message) == (15, said)


# --- names and states ---

QUORUM = (
    '{"leaderId":1,"leaderEpoch":3,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'
)
META = (
    "#\n#Mon Nov 23 12:25:40 UTC 2026\n"
    "node.id=1\ndirectory.id=1ICi7wijREW0QSEJa0fMjw\nversion=1\ncluster.id=c\n"
)

Read = Callable[[bytes], FileReport]


@each(
    "read, text, values",
    [
        (
            state_files.read_partition_metadata,
            "version: 0\ntopic_id: MtrD63xeQ2STCZQF3Qe6Bg",
            {"version": "0", "topic_id": "MtrD63xeQ2STCZQF3Qe6Bg"},
        ),
        (
            state_files.read_properties,
            META,
            {"node.id": "1", "directory.id": "1ICi7wijREW0QSEJa0fMjw", "version": "1", "cluster.id": "c"},
        ),
        (state_files.read_properties, "broker.id=7\nversion=0\n", {"broker.id": "7", "version": "0"}),
        (
            state_files.read_quorum_state,
            QUORUM,
            {"leaderId": 1, "leaderEpoch": 3, "votedId": -1, "votedDirectoryId": "A" * 22, "data_version": 1},
        ),
        (
            state_files.read_clean_shutdown,
            '{"version":0,"brokerEpoch":118}',
            {"version": 0, "brokerEpoch": 118},
        ),
        (state_files.read_clean_shutdown, "", {}),
    ],
)
def test_what_a_broker_wrote_is_read_without_a_finding(
    read: Read, text: str, values: dict[str, object]
) -> None:
    found = read(text.encode())
    assert (found.facts, found.findings) == (values, ())


@each(
    "read, text, said",
    [
        (state_files.read_partition_metadata, "", "line 1 is '', not `version: …`"),
        (
            state_files.read_partition_metadata,
            "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
            "topic_id is zero, which no topic has",
        ),
        (state_files.read_partition_metadata, "version: 0\ntopic_id: abc", "topic_id 'abc' is no id"),
        (state_files.read_partition_metadata, "version: -1\ntopic_id: " + "B" * 21 + "A", "version '-1'"),
        (state_files.read_properties, "version=2\n", "version 2: Kafka knows versions 0 and 1"),
        (state_files.read_properties, "version=1\nnode.id=1\n", "cluster.id is missing"),
        (state_files.read_properties, "version=1\ncluster.id=c\n", "node.id is missing"),
        (state_files.read_properties, META + "node.id=1\n", "node.id is there twice"),
        (state_files.read_properties, "version=0\ndirectory.id=x\n", "directory.id 'x' is no id"),
        (state_files.read_quorum_state, "{", "this is no JSON"),
        (state_files.read_quorum_state, "[]", "this is JSON, but no object"),
        (state_files.read_quorum_state, "{}", "data_version None: Kafka knows versions 0 and 1"),
        (state_files.read_quorum_state, QUORUM.replace("3", '"3"'), "leaderEpoch is '3'"),
        (state_files.read_quorum_state, QUORUM.replace("votedId", "votedid"), "votedId is None"),
        (state_files.read_clean_shutdown, '{"version":0}', "brokerEpoch is None, not a number"),
    ],
)
def test_a_damaged_text_is_reported(read: Read, text: str, said: str) -> None:
    found = messages(read(text.encode()).findings)
    assert found
    assert found[0].startswith(said)

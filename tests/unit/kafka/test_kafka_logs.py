"""Kafka's logs: scans, values, and the files beside a log that a broker of Kafka 4.4 wrote."""

import gzip
import itertools
import re
import struct
import tracemalloc
from collections.abc import Callable, Iterable
from random import Random

import cramjam
import google_crc32c
import logs
import pytest
from each import each
from kafka_bytes import (
    LOG,
    PLAIN,
    SNAPSHOT,
    V0,
    V1,
    V2,
    accepted,
    batch,
    message,
    record,
    refused,
    remarks,
    wrapper,
)
from work_counter import steps

from wireproof import formats
from wireproof.cases.outcome import Refused
from wireproof.cases.reference_answers import decode_answer
from wireproof.data_files import FileFinding, FileReport
from wireproof.kafka import control_record, scan
from wireproof.kafka.files import producer_snapshot, state_files
from wireproof.kafka.files.state_files import EPOCH_FIELDS, OFFSET_FIELDS
from wireproof.wire.compression import snappy
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item

# --- every byte goes to a frame, to garbage or to the tail: architecture.md#verdicts ---


GOOD = batch()
OLD = message(1, offset=1)


def items(chunks: Iterable[bytes], **options: object) -> list[Item]:
    return list(formats.scan(LOG, chunks, formats.Options(**options)))  # type: ignore[arg-type] # by name


def shape(chunks: Iterable[bytes], **options: object) -> list[tuple[str, int, int, str | None]]:
    return [(item.kind, item.at, item.length, item.cls) for item in items(chunks, **options)]


def test_the_largest_size_is_an_option() -> None:
    assert shape([GOOD + OLD], max_message=len(OLD) - 12) == [
        ("garbage", 0, 70, "limit-exceeded"),
        ("frame", 70, len(OLD), None),
    ]


def test_a_stream_without_end_is_scanned_as_it_comes() -> None:
    endless = itertools.chain.from_iterable(itertools.repeat([GOOD[:30], GOOD[30:] + bytes(30)]))
    found = list(itertools.islice(formats.scan(LOG, endless, formats.Options()), 6))
    assert [(item.kind, item.length) for item in found] == [("frame", 70), ("garbage", 30)] * 3


# --- the search for entries inside the bytes that a damaged size claims ---


EVERY_SIZE = re.compile(
    rb"(?<=\0\0\0[\x0e-\xff].{4}|\0\0[^\0].{5}|\0[^\0].{6}|[\x01-\x7f].{7})[\0-\2]", re.DOTALL
)


def length(data: bytes) -> int:
    return scan.damaged_length(data, len(data), DEFAULT_OPTIONS)


@each("highest", [0, 1, 5, 255, 256, 257, 300, 511, 512, 700, 0x0400, 0x1234, 0x7FFF, 0xFFFF])
def test_the_pattern_finds_exactly_the_sizes_up_to_its_limit(highest: int) -> None:
    rng = Random(highest)
    near = [
        *(highest + step for step in (-257, -256, -1, 0, 1, 256)),
        *(rng.randrange(1 << 15) for _ in range(60)),
    ]
    sizes = [max(one, 0) << 16 | rng.randrange(1 << 16) for one in near] + [0, 13, 14, 255, 256, 65535]
    for size in (one % (1 << 32) for one in sizes):
        data = b"........" + size.to_bytes(4) + b"\xff...\1"
        found = scan.size_and_magic(highest).search(data, 16) is not None
        wanted = EVERY_SIZE.search(data, 16) is not None and size >> 16 <= highest
        assert found == wanted, hex(size)


def test_an_entry_in_noise_is_found_where_a_damaged_size_swallowed_it() -> None:
    rng = Random(3)
    for before in (90, 5_000, 70_000, 200_000):
        damaged = (0).to_bytes(8) + (1 << 20).to_bytes(4) + rng.randbytes(4) + b"\2" + rng.randbytes(before)
        entries = logs.batch(rng.randbytes(300), 10) + logs.batch(b"after", 11)
        assert length(damaged + entries) == len(damaged)


@pytest.mark.parametrize("byte", [b"\1", b"\2"])
def test_bytes_that_may_be_a_size_everywhere_take_few_steps(byte: bytes) -> None:
    data = byte * (1 << 20)
    assert length(data) == 0
    assert steps(lambda: length(data)) < len(data) // 8


def test_entries_that_claim_more_than_there_is_do_not_use_up_the_search() -> None:
    claims = b"".join(batch()[:8] + size.to_bytes(4) + batch()[12:] for size in [1 << 25, 900_000] * 100)
    found = shape([GOOD + bytes(20) + claims + GOOD])
    assert found == [
        ("frame", 0, 70, None),
        ("garbage", 70, 20 + len(claims), "bad-length"),
        ("frame", 90 + len(claims), 70, None),
    ]


# --- hostile bytes cost no more work or memory than their length ---


HEADER = "0000 00 026b 0276"


def test_lengths_are_compared_with_the_available_bytes_before_anything_is_allocated() -> None:
    top = "feffffff0f"
    rows = [
        batch(b"\xfe\xff\xff\xff\x0f" + PLAIN),
        batch(record(f"000000 {top} 6b 0276 00")),
        batch(record(f"{HEADER} {top}")),
        batch(gzip.compress(b"\xfe\xff\xff\xff\x0f"), attributes=1),
        batch(b"", (1 << 31) - 1),
    ]
    tracemalloc.start()
    try:
        for data in rows:
            assert refused(V2, data).cls in ("length-past-end", "count-mismatch")
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_a_scan_holds_one_entry_and_one_chunk() -> None:
    chunk = bytes(1 << 16)
    tracemalloc.start()
    try:
        stream = (chunk for _ in range(40))
        (item,) = formats.scan(LOG, stream, formats.Options())
        assert (item.kind, item.length) == ("garbage", 40 << 16)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


# --- writing, and control values: kafka.md §1.8 to §1.10, §2.2 ---


def tree(row: formats.Format, data: bytes) -> dict[str, Json]:
    value = to_json(accepted(row, data).value)
    assert isinstance(value, dict)
    return value


BATCH = tree(V2, batch())
WRAPPER = tree(V1, wrapper(1, message(1, offset=11), offset=11))
OLD_TREE = tree(V0, message(0))


@each(
    "row, base, change",
    [
        (V2, BATCH, {"magic": "1"}),
        (V2, BATCH, {"records": None}),
        (V0, OLD_TREE, {"headers": []}),
        (V1, WRAPPER, {"messages": []}),
        (V1, WRAPPER, {"value": "00"}),
        (V1, WRAPPER, {"attributes": "9", "timestamp": "1"}),
    ],
)
def test_a_value_that_cannot_be_written_is_refused(
    row: formats.Format, base: dict[str, Json], change: dict[str, Json]
) -> None:
    assert formats.decode(row, formats.encode(row, base)).value
    with pytest.raises(Rejected) as caught:
        formats.encode(row, base | change)
    assert caught.value.cls == "invalid-value"


@each(
    "kind, value, is_read",
    [
        (4, "0000 8080808000", True),
        (4, "0000 8080808010", True),  # the bits above 32 are dropped
        (4, "0000 808080808000", False),
        (4, "0000 80808080808080808000", False),
        (4, "0000 8080808008", False),  # a negative count
        (4, "0000 02 05 01 61 03 01 62", True),
        (4, "0000 01 ffffffff0f 01 61", True),  # a tag has no sign
        (4, "0000 01 00 ffffffff0f 61", False),
        (2, "0000 00000007 00 01 00", False),  # its lists may not be null
        (2, "0000 00000007 01 00 00", False),
        (2, "0000 00000007 8180808010 01 00", True),
        (2, "0000 00000007 01 01 00 aabb", True),
    ],
)
def test_varints_and_tagged_fields_of_control_values_are_read_as_kafkas_classes_read_them(
    kind: int, value: str, *, is_read: bool
) -> None:
    # The answers are those of SnapshotFooterRecord and LeaderChangeMessage of kafka-clients 4.4.0.
    key, data = kind.to_bytes(4, "big"), bytes.fromhex(value)
    reader = Reader(key + data)
    found = control_record.parse(reader, key, 0, data, len(key))
    assert (found.version is not None) == is_read
    assert ("control-value" in {remark.cls for remark in reader.remarks}) == (not is_read)


# --- other answers of remarks, which golden cases do not compare ---


def test_dropped_bits_name_the_value_that_keeps_them() -> None:
    found = accepted(V2, batch(record("0000 8080808010 026b 0276 00")))
    assert found.value.records[0].offset_delta == 0
    (remark,) = found.remarks
    assert [(other.name, other.path, other.value) for other in remark.others] == [
        ("kept-bits", "records[0].offsetDelta", str(1 << 31)),
        ("kept-bits", "records[0].offset", str(1 << 31)),
    ]


def test_dropped_bits_in_a_log_name_the_next_offset_that_goes_with_them() -> None:
    (remark,) = accepted(LOG, batch(record("0000 8080808010 026b 0276 00"))).remarks
    last = remark.others[-1]
    assert (last.name, last.path, last.value) == ("after-last-record", "nextOffset", str((1 << 31) + 1))


RAW, FRAMED = bytes(cramjam.snappy.compress_raw(PLAIN)), snappy.compress(PLAIN)


@each("data, found", [(batch(RAW, attributes=2), ["snappy-unframed"]), (batch(FRAMED, attributes=2), [])])
def test_only_a_producer_gets_a_remark_for_raw_snappy(data: bytes, found: list[str]) -> None:
    answer = decode_answer(V2, data, Options(profile="produce"))
    assert [remark.cls for remark in answer.remarks] == found
    assert remarks(V2, data) == []


def test_a_header_key_that_is_no_utf8_keeps_its_bytes_and_names_the_replacement() -> None:
    found = accepted(V2, batch(record(f"{HEADER}02 02ff 0278")))
    assert found.value.records[0].headers == ((b"\xff", b"x"),)
    assert found.remarks[0].others[0].value == "\ufffd".encode().hex()


@each("topic", [{"compression.type": "zip"}, {"max.message.bytes": "-1"}, {"cleanup.policy": "none"}])
def test_a_topic_that_cannot_be_is_refused_in_one_line(topic: dict[str, str]) -> None:
    options = Options(profile="produce", topic=topic)
    found = decode_answer(formats.get("kafka.log", "mixed"), batch(record(f"{HEADER} 00")), options).outcome
    assert isinstance(found, Refused)
    assert (found.cls, found.path) == ("invalid-value", "options.topic")
    ((name, text),) = topic.items()
    assert found.text == f"a topic cannot have {name}={text}"


# --- the files beside a log ---


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
    ("line", "said"), [("rolled 0 -1", "rolled-0 has offset -1"), ("rolled 1 7", "rolled-1 is there twice")]
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

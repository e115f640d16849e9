"""What a client gets at each offset, and what is known of it."""

import pytest
from each import each

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from contextlib import suppress
from typing import get_args

from goldens import load

from wireproof.cases.case import Case, Data
from wireproof.kafka import log
from wireproof.kafka.values import RecordBatch
from wireproof.live.loopback_broker.append_rules import AppendRefused, ErrorCode
from wireproof.live.loopback_broker.regroup_records import split_log
from wireproof.live.loopback_broker.served_log import END, Manner, ServedLog, Serving, abort_of
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.reader import Reader


def case(name: str) -> Case:
    return load().by_id[f"kafka.log/mixed/{name}"]


def data_of(name: str) -> bytes:
    found = case(name).input
    assert isinstance(found, Data)
    return found.data


THREE = data_of("entries/three")
SIZES = [len(entry.data) for entry in Serving(THREE).log.entries]
LAST = Serving(THREE).log.entries[-1].last


def served(data: bytes = THREE, **settings: object) -> ServedLog:
    return ServedLog(Serving(data, **settings), lambda *_: None)  # type: ignore[arg-type] # settings of a test


def answer(partition: ServedLog, offset: int, limit: int = 1) -> bytes:
    partition.note_fetch(offset, limit)
    partition.check_range(offset)
    return partition.read_from(offset, limit)


def record_at_end(data: bytes) -> tuple[int, bytes | None]:
    (batch,) = log.decode(Reader(data), DEFAULT_OPTIONS).batches
    assert isinstance(batch, RecordBatch)
    return batch.records[0].offset, batch.records[0].value


def test_whole_has_all_bytes_in_the_first_answer_whatever_the_offset() -> None:
    assert answer(served(manner="whole"), LAST) == THREE


def test_after_the_last_entry_there_is_one_more_record() -> None:
    partition = served()
    answer(partition, 0)
    assert record_at_end(answer(partition, LAST + 1)) == (LAST + 1, END)
    assert partition.end_at == LAST + 1
    assert answer(partition, LAST + 2) == b""


def test_an_offset_within_the_log_gets_the_entries_from_there_on() -> None:
    partition = served(manner="whole")
    answer(partition, 0)
    assert answer(partition, Serving(THREE).log.entries[1].last) == THREE[SIZES[0] :]


def test_pieces_are_the_first_entry_and_then_all_the_others() -> None:
    partition = served()
    entries = partition.serving.log.entries
    found = [answer(partition, offset) for offset in (0, 0, entries[0].last + 1, entries[1].last + 1)]
    assert found == [entries[0].data] * 2 + [THREE[SIZES[0] :], entries[2].data]


@each("manner", sorted(set(get_args(Manner)) - {"whole"}))
def test_no_answer_begins_before_the_entry_that_holds_the_offset(manner: Manner) -> None:
    name = "delivered/from-inside-committed"
    start = case(name).options.fetch_offset
    assert start is not None
    partition = served(data_of(name), start=start, manner=manner)
    with suppress(AppendRefused):
        answer(partition, start)
    found = answer(partition, start)
    assert split_log(found).entries[0].first == 3


@pytest.mark.parametrize(
    "name", ["entries/offsets-decreasing", "entries/overlap-by-one", "entries/wrapper-overlaps-first"]
)
def test_a_log_whose_offsets_do_not_grow_is_served_whole(name: str) -> None:
    assert answer(served(data_of(name)), 0) == data_of(name)


def test_a_cut_answer_ends_in_the_middle_of_the_next_entry() -> None:
    assert answer(served(manner="cut"), 0) == THREE[: SIZES[0] + SIZES[1] // 2]


def test_a_client_that_raises_its_limit_gets_the_cut_entry_whole() -> None:
    """As Sarama does after an entry without records, and a cut one."""
    partition = served(manner="cut")
    cut = answer(partition, 0)
    assert answer(partition, 0) == cut
    assert answer(partition, 0, limit=2) == THREE


def test_a_cut_tail_is_served_once() -> None:
    tail = THREE[: SIZES[0] + 20]
    partition = served(tail)
    assert answer(partition, 0) == tail
    assert record_at_end(answer(partition, partition.serving.log.entries[0].last + 1))[1] == END


def test_bytes_that_are_no_entry_are_served_again_and_again() -> None:
    damaged = data_of("damaged/zeros-12")
    partition = served(damaged)
    after = partition.serving.log.entries[-1].last + 1
    answer(partition, 0)
    assert [answer(partition, after), answer(partition, after)] == [bytes(12)] * 2
    assert partition.repeated == 1


def test_the_error_comes_first_and_once() -> None:
    partition = served(manner="error")
    with pytest.raises(AppendRefused) as refused:
        answer(partition, 0)
    assert (refused.value.code, partition.refuses) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, True)
    assert answer(partition, 0) == THREE[: SIZES[0]]
    assert not partition.refuses


def test_repeated_counts_the_same_offset_in_a_row() -> None:
    partition = served()
    counts = []
    for offset in (0, 0, 0, 1, 0):
        answer(partition, offset)
        counts.append(partition.repeated)
    assert counts == [0, 1, 2, 0, 0]


def test_a_greater_limit_of_bytes_is_something_new() -> None:
    partition = served()
    counts = []
    for limit in (1, 1, 1, 2, 2, 4, 1, 4):
        answer(partition, 0, limit)
        counts.append(partition.repeated)
    assert counts == [0, 1, 2, 0, 1, 0, 1, 2]


def test_waiting_for_records_after_the_last_one_is_no_repetition() -> None:
    partition = served()
    for offset in (0, LAST + 1, LAST + 2, LAST + 2, LAST + 2):
        answer(partition, offset)
    assert partition.repeated == 0


def test_aborted_transactions_are_named_where_their_records_are() -> None:
    one = case("delivered/two-aborts-interleaved")
    partition = served(
        data_of("delivered/two-aborts-interleaved"), aborted=one.options.aborted, manner="pieces"
    )
    entries = partition.serving.log.entries
    answer(partition, 0)
    first = min(start for _, start in one.options.aborted)
    assert [row.first for row in partition.aborted_for(0, 0, committed=True)] == [first]
    answer(partition, entries[-1].last)
    ended = [row for row in partition.serving.aborted_rows if row.last < entries[-1].last]
    named = partition.aborted_for(0, 0, committed=False)
    assert ended
    assert not set(ended) & set(named)


def test_only_an_abort_marker_ends_an_aborted_transaction() -> None:
    entries = Serving(data_of("delivered/commit-keeps-the-set")).log.entries
    assert {abort_of(entry.data) for entry in entries} == {None}
    assert abort_of(b"no entry at all") is None

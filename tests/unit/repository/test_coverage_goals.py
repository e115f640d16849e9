"""The states themselves: each format has enough of them, and none holds of everything or nothing."""

from each import each

from tests.coverage_goals import STATES, reached, states_of
from wireproof import formats
from wireproof.cases.mutate import seed
from wireproof.formats import FORMATS, Format

ROWS = list(FORMATS.values())


@each("row", ROWS, ids=lambda row: row.format_id)
def test_every_row_has_ten_states_and_the_record_batch_the_twenty_two_that_were_measured_before(
    row: Format,
) -> None:
    assert len(states_of(row)) >= (22 if row.format_id == "kafka.batch/v2" else 10)


def test_the_names_of_a_row_differ() -> None:
    for name, states in STATES.items():
        assert len({state.name for state in states}) == len(states), name


def test_every_list_of_states_is_of_a_row() -> None:
    known = {name for row in ROWS for name in (row.format_id, row.name)}
    assert set(STATES) <= known


@each("row", ROWS, ids=lambda row: row.format_id)
def test_no_least_encoding_and_no_noise_is_in_many_states(row: Format) -> None:
    for data in (seed(row), b"\xff" * 64):
        assert len(reached(states_of(row), formats.decode_with_trace(row, data))) <= 3


def test_a_batch_is_in_the_states_that_its_bytes_say() -> None:
    # kafka.md §1.10: base sequence 2147483646 and last offset delta 2 end at sequence 0.
    row = FORMATS["kafka.batch/v2"]
    value = {
        "baseOffset": "0", "partitionLeaderEpoch": "-1", "magic": "2", "attributes": "4",
        "lastOffsetDelta": "2",
        "baseTimestamp": "0", "maxTimestamp": "0", "producerId": "1", "producerEpoch": "0",
        "baseSequence": "2147483646",
        "records": [{"attributes": "0", "timestampDelta": "0", "offsetDelta": "0", "key": None, "value": "",
                     "headers": [["68", None]], "offset": "0", "timestamp": "0", "control": None}],
    }  # fmt: skip
    found = {
        state.name
        for state in reached(states_of(row), formats.decode_with_trace(row, formats.encode(row, value)))
    }
    expected = {"sequence wrap", "zstd with records", "zstd with a header", "header value null", "null key"}
    assert expected <= found
    assert not found & {"LogAppendTime", "duplicate offsets", "control with a typed record", "empty batch"}

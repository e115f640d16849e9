"""Which format unknown bytes are, for `explain`."""

import random

import pytest
from each import each
from goldens import load

from wireproof.cases.case import Accept, Data, Reject
from wireproof.formats import FORMATS
from wireproof.inspect.detect_format import rank_formats

SMALL = 2000


def shares(kind: type) -> float:
    """Of the golden inputs of a kind, the share that is known for its own system."""
    own = []
    for case in load().cases:
        if case.op != "decode" or not isinstance(case.input, Data) or not isinstance(case.expect, kind):
            continue
        if 16 < len(case.input.data) <= SMALL:
            best = rank_formats(case.input.data, options=case.options)[0]
            own.append(best.row.name.partition(".")[0] == case.format.partition(".")[0])
    assert len(own) > 100
    return sum(own) / len(own)


@pytest.mark.sweeps
def test_sound_bytes_are_known() -> None:
    assert shares(Accept) > 0.95


@pytest.mark.sweeps
def test_damaged_bytes_are_mostly_known() -> None:
    assert shares(Reject) > 0.9


def test_a_batch_with_a_wrong_checksum_is_still_a_batch() -> None:
    case = load().by_id["kafka.batch/v2/crc/zero"]
    assert isinstance(case.input, Data)
    best = rank_formats(case.input.data)[0]
    assert best.row.name.startswith("kafka.")
    assert best.layout.rejected is not None
    assert best.layout.rejected.cls == "crc-mismatch"


def test_every_row_answers_any_bytes() -> None:
    noise = random.Random(7)
    for size in (0, 1, 7, 60, 300):
        assert len(rank_formats(noise.randbytes(size))) == len(FORMATS)


def test_the_rows_that_are_asked_for_are_the_only_ones_tried() -> None:
    rows = [FORMATS["kafka.batch/v0"], FORMATS["kafka.batch/v1"]]
    assert {fit.row.format_id for fit in rank_formats(b"", rows)} == {"kafka.batch/v0", "kafka.batch/v1"}


@each(
    "name, whole",
    [
        ("iggy.send/0.0.30/messages/two", ["0.0.30"]),
        ("iggy.send/0.7/messages/two", ["0.7", "0.8"]),
        ("iggy.send/0.11/messages/two", ["0.11", "0.11.1-edge"]),
        ("iggy.poll/0.0.30/messages/worked", ["0.0.30"]),
        ("iggy.poll/0.7/messages/worked", ["0.7"]),
        ("iggy.poll/0.11/messages/two", ["0.11"]),
        ("iggy.poll/0.11.1-edge/messages/producer", ["0.11.1-edge"]),
        ("iggy.poll-request/0.0.92/request/worked", ["0.0.92"]),
    ],
)
def test_the_revisions_that_a_captured_body_fits_are_distinguished(name: str, whole: list[str]) -> None:
    """All its bytes, and nothing to remark: iggy.md §1."""
    case = load().by_id[name]
    assert isinstance(case.input, Data)
    found = rank_formats(case.input.data)
    sure = [
        fit.row.format_id
        for fit in found
        if fit.layout.decoded is not None
        and fit.layout.decoded.consumed == len(case.input.data)
        and not fit.layout.decoded.remarks
    ]
    assert sure == [f"{case.format}/{revision}" for revision in whole]
    assert found[0].row.format_id == sure[0]

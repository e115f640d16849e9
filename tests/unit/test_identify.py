"""Which format unknown bytes are, for `explain`."""

import random

from wireproof.cases.case import Accept, Data, Reject
from wireproof.cases.fixtures import load
from wireproof.cases.identify import fits
from wireproof.formats import FORMATS

SMALL = 2000


def shares(kind: type) -> float:
    """Of the golden inputs of a kind, the share that is known for its own system."""
    own = []
    for case in load().cases:
        if case.op != "decode" or not isinstance(case.input, Data) or not isinstance(case.expect, kind):
            continue
        if 16 < len(case.input.data) <= SMALL:
            best = fits(case.input.data, options=case.options)[0]
            own.append(best.row.name.partition(".")[0] == case.format.partition(".")[0])
    assert len(own) > 100
    return sum(own) / len(own)


def test_sound_bytes_are_known() -> None:
    assert shares(Accept) > 0.95


def test_damaged_bytes_are_mostly_known() -> None:
    assert shares(Reject) > 0.9


def test_a_batch_with_a_wrong_checksum_is_still_a_batch() -> None:
    case = load().by_id["kafka.batch/v2/crc/zero"]
    assert isinstance(case.input, Data)
    best = fits(case.input.data)[0]
    assert best.row.name.startswith("kafka.")
    assert best.layout.rejected is not None
    assert best.layout.rejected.cls == "crc-mismatch"


def test_every_row_answers_any_bytes() -> None:
    noise = random.Random(7)
    for size in (0, 1, 7, 60, 300):
        assert len(fits(noise.randbytes(size))) == len(FORMATS)


def test_the_rows_that_are_asked_for_are_the_only_ones_tried() -> None:
    rows = [FORMATS["kafka.batch/v0"], FORMATS["kafka.batch/v1"]]
    assert {fit.row.joined for fit in fits(b"", rows)} == {"kafka.batch/v0", "kafka.batch/v1"}

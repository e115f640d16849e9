"""Libraries of compression are witnesses of the frames of cases, and of nothing else."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from each import each
from goldens import load

from tests.authoring.kafka.entry_bytes import (
    TWO,
    batch,
    gzip,
    lz4,
    snappy_block,
    xerial,
    zstd,
)
from wireproof.cases.case import Accept, Case, Data, Reject

pytest.importorskip("lz4")
libraries = pytest.importorskip("tests.authoring.frames.libraries")
from tests.authoring.frames import entries, witnesses  # noqa: E402 - they need the libraries

PACKED = {
    "gzip": (1, gzip(TWO)),
    "snappy": (2, xerial(snappy_block(TWO[:5]), snappy_block(TWO[5:]))),
    "lz4": (3, lz4(TWO)),
    "zstd": (4, zstd(TWO, checksum=True)),
}
VALUES = [["61", "31"], ["62", "32"]]


def case_of(data: bytes, expect: Any, **more: Any) -> Case:
    return Case("kafka.batch/v2/lz4/x", "kafka.batch", "v2", Data(data), expect, **more)


def value(*keys: str) -> Any:
    return {
        "magic": "2",
        "records": [{"key": key, "value": row[1]} for key, row in zip(keys, VALUES, strict=True)],
    }


@each("codec, change", product(PACKED, ["cut", "more", "empty"]))
def test_a_region_that_is_no_whole_frame_is_refused(codec: str, change: str) -> None:
    frame = PACKED[codec][1]
    damaged = {"cut": frame[:-1], "more": frame + b"\x01\x02", "empty": b""}[change]
    with pytest.raises(libraries.RefusedError):
        libraries.UNPACK[codec](damaged)


@dataclass(frozen=True)
class Row:
    expect: Any
    good: bool | None
    bad: bool | None


@each(
    "row",
    [
        Row(Accept(value("61", "62")), good=True, bad=False),
        Row(Accept(value("61", "63")), good=False, bad=False),
        Row(Reject("decompress-failed"), good=False, bad=True),
        Row(Reject("count-mismatch"), good=None, bad=None),
    ],
)
def test_a_library_agrees_with_keys_and_values_or_with_the_refusal_of_the_frame(row: Row) -> None:
    answers = []
    for frame in (lz4(TWO), lz4(TWO, hc=0)):
        data = batch(frame, 2, attributes=3)
        region = entries.region_of(data)
        assert region
        answers.append(witnesses.agrees(case_of(data, row.expect), region))
    assert answers == [row.good, row.bad]


def test_every_codec_has_witnessed_cases_of_both_kinds() -> None:
    by_id = load().by_id
    for (name, _), ids in witnesses.agreeing(load().cases).items():
        kinds = {type(by_id[one].expect) for one in ids}
        assert kinds == {Accept, Reject}, name

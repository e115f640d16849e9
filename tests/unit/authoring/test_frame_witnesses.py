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
    message,
    record,
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


@each("codec", PACKED)
def test_a_frame_of_each_codec_is_found_and_read(codec: str) -> None:
    number, frame = PACKED[codec]
    region = entries.region_of(batch(frame, 2, attributes=number))
    assert region == (2, codec, frame, 2)
    assert entries.keys_and_values(region, libraries.UNPACK[codec](frame)) == VALUES


@pytest.mark.parametrize("magic", [0, 1])
def test_the_messages_of_a_wrapper_are_found_and_read(magic: int) -> None:
    inner = message(magic, b"k", None) + message(magic, None, b"v")
    region = entries.region_of(message(magic, None, gzip(inner), attributes=1))
    assert region
    assert entries.keys_and_values(region, libraries.gzip(region.data)) == [["6b", None], [None, "76"]]


@each("data", [b"", batch(record(), 1), batch(TWO, 2, attributes=5), message(0, b"", b"")])
def test_nothing_is_found_where_nothing_is_compressed(data: bytes) -> None:
    assert entries.region_of(data) is None


@each("codec, change", product(PACKED, ["cut", "more", "empty"]))
def test_a_region_that_is_no_whole_frame_is_refused(codec: str, change: str) -> None:
    frame = PACKED[codec][1]
    damaged = {"cut": frame[:-1], "more": frame + b"\x01\x02", "empty": b""}[change]
    with pytest.raises(libraries.RefusedError):
        libraries.UNPACK[codec](damaged)


def test_a_frame_that_grows_over_the_limit_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "LIMIT", 100)
    with pytest.raises(libraries.UnjudgedError):
        libraries.gzip(gzip(bytes(101)))
    with pytest.raises(libraries.UnjudgedError):
        libraries.snappy(snappy_block(bytes(101)))


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


def test_what_is_no_plain_list_of_records_is_not_about_the_frame() -> None:
    data = batch(gzip(TWO), 1, attributes=1)
    region = entries.region_of(data)
    assert region
    assert witnesses.agrees(case_of(data, Accept(value("61", "62"))), region) is None


def test_the_cases_of_each_library_are_named_with_its_version() -> None:
    data = Data(batch(zstd(TWO), 2, attributes=4))
    good = case_of(data.data, Accept(value("61", "62")))
    produced = case_of(data.data, Accept(value("61", "62")), profile="produce")
    found = witnesses.agreeing([good, produced])
    assert found[libraries.NAMES["zstd"]] == [good.id]
    assert sum(map(len, found.values())) == 1


def test_every_codec_has_witnessed_cases_of_both_kinds() -> None:
    by_id = load().by_id
    for (name, _), ids in witnesses.agreeing(load().cases).items():
        kinds = {type(by_id[one].expect) for one in ids}
        assert kinds == {Accept, Reject}, name

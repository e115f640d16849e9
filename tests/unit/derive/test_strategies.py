"""The public strategies: what their arguments ask for, what is drawn, and what they print."""

from functools import cache
from typing import Any

import pytest
from each import each
from one_of_a_kind import each_format
from property_profile import given
from toy_format import ROWS

from wireproof import formats
from wireproof.derive.mutate.draws import EDGE_SIZES
from wireproof.derive.mutate.encodings import written
from wireproof.derive.strategies import Wanted, codecs_of, seeded_drawer, values_of
from wireproof.formats import FORMATS, UnknownFormat
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, LOG_APPEND_TIME, TRANSACTIONAL
from wireproof.kafka.values import Message, RecordBatch
from wireproof.strategies import encoded, nearly_valid, value_classes, values
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected

V2 = FORMATS["kafka.batch/v2"]
FIELDS_OF_CONTROL = (
    "leader_id", "voters", "granting_voters", "last_contained_log_timestamp", "kraft_version",
)  # fmt: skip


def drawn(strategy: Any, count: int = 200) -> list[Any]:
    draw = seeded_drawer(strategy)
    return [value for number in range(count) for value in draw(str(number))]


# --- arguments ---


def test_only_the_named_codecs_are_drawn() -> None:
    found = {
        batch.attributes & CODEC_MASK for batch in drawn(values("kafka.batch", "v2", codecs=("none", "zstd")))
    }
    assert found == {0, 4}
    for name, codec in (("none", 0), ("gzip", 1), ("snappy", 2), ("lz4", 3)):
        messages = drawn(values("kafka.batch", "v1", codecs=name))
        assert {message.attributes & CODEC_MASK for message in messages} == {codec}
    logs = drawn(values("kafka.log", "mixed", codecs="zstd", max_records=3), 100)
    found = {(entry.magic, entry.attributes & CODEC_MASK) for log in logs for entry in log.batches}
    assert found == {(0, 0), (1, 0), (2, 4)}, "messages have no zstd"


def test_each_class_of_entry_is_drawn_alike() -> None:
    """A class of more branches was drawn more often: five of seven entries were batches."""
    logs = drawn(values("kafka.log", "mixed", max_records=3), 300)
    entries = [entry for log in logs for entry in log.batches]
    share = sum(isinstance(entry, Message) for entry in entries) / len(entries)
    assert 0.4 < share < 0.65
    assert {entry.magic for entry in entries} == {0, 1, 2}
    assert sum(entry.magic == 0 for entry in entries) > len(entries) // 10


def test_a_producer_draws_what_a_broker_accepts() -> None:
    for batch in drawn(values("kafka.batch", "v2", profile="produce"), 100):
        data = formats.encode(V2, formats.to_json(batch))
        assert formats.decode(V2, data, Options(profile="produce")).value == batch


def test_no_list_is_longer_than_max_records() -> None:
    batches = drawn(values("kafka.batch", "v2", max_records=2))
    assert {len(batch.records) for batch in batches} == {0, 1, 2}
    sizes = {len(batch.records) for batch in drawn(values("kafka.batch", "v2", max_records=8192), 400)}
    assert {63, 64, 129, 8192} <= sizes


@each(
    "more, text",
    [
        ({"codecs": ("brotli",)}, "codec 'brotli': kafka.batch/v2 has none, gzip, snappy, lz4, zstd"),
        ({"codecs": ()}, "no codecs: kafka.batch/v2 has none, gzip, snappy, lz4, zstd"),
        ({"profile": "writer"}, "profile 'writer': there are reader and produce"),
        ({"max_records": -1}, "max_records -1: a list has at least 0 elements"),
    ],
)
def test_an_argument_that_means_nothing_is_refused_in_one_line(more: dict[str, Any], text: str) -> None:
    for strategy in (values, encoded, nearly_valid):
        with pytest.raises(ValueError, match=text):
            strategy("kafka.batch", "v2", **more)
    with pytest.raises(UnknownFormat, match=r"kafka\.batch"):
        values("kafka.bach", "v2")


def test_a_format_without_compression_has_the_codec_none() -> None:
    assert codecs_of(FORMATS["iggy.identifier/0.0.30"]) == codecs_of(ROWS[0]) == ("none",)
    assert drawn(values("iggy.identifier", "0.0.30", codecs="none"), 5)


# --- what is drawn ---


@cache
def batches() -> list[RecordBatch]:
    return drawn(values("kafka.batch", "v2"), 2000)


def test_lists_and_bytes_have_each_edge_size() -> None:
    records = [record for batch in batches() for record in batch.records]
    sizes = {
        "records": {len(batch.records) for batch in batches()},
        "headers": {len(record.headers) for record in records},
        "values": {len(record.value) for record in records if record.value is not None},
        "names of headers": {len(name) for record in records for name, _ in record.headers},
    }
    assert all({*EDGE_SIZES[:-1]} <= found for found in sizes.values())
    assert EDGE_SIZES[-1] in sizes["values"] & sizes["names of headers"]


def test_each_bit_of_the_attributes_is_set_with_each_codec() -> None:
    found = {
        (batch.attributes & CODEC_MASK, bit)
        for batch in batches()
        for bit in range(3, 16)
        if batch.attributes >> bit & 1
    }
    assert found == {(codec, bit) for codec in range(5) for bit in range(3, 16)}


def test_pairs_of_flags_codecs_and_nulls_are_drawn() -> None:
    found = {
        (batch.attributes & CODEC_MASK, flag, record.value is None)
        for batch in batches()
        for record in batch.records
        for flag in (LOG_APPEND_TIME, TRANSACTIONAL)
        if batch.attributes & flag
    }
    assert len(found) == 5 * 2 * 2


def test_control_batches_have_every_type_with_a_value_that_is_read() -> None:
    """kafka.md §1.9: a value that is none of its type has no version after decoding, and no fields."""
    read: dict[int, set[str]] = {}
    for batch in drawn(values("kafka.batch", "v2"), 1500):
        if not (batch.attributes & CONTROL and batch.records):
            continue
        try:
            control = formats.decode(V2, written(V2, batch)).value.records[0].control
        except Rejected:
            continue
        read.setdefault(control.type, set()).update(
            name for name in FIELDS_OF_CONTROL if getattr(control, name)
        )
    wanted = {
        2: {"leader_id", "voters", "granting_voters"},
        3: {"last_contained_log_timestamp"},
        4: set(),
        5: {"kraft_version"},
        6: {"voters"},
    }
    assert {kind: read.get(kind) for kind in wanted} == wanted


def test_some_values_agree_and_some_do_not() -> None:
    clean = sum(not formats.decode(V2, written(V2, batch)).remarks for batch in batches()[:400])
    assert 40 < clean < 360


# --- what is printed ---


@pytest.mark.parametrize("format_id", each_format(FORMATS))
def test_what_is_printed_of_a_value_can_be_pasted(format_id: str) -> None:
    fmt = FORMATS[format_id]
    names = value_classes(fmt.name, fmt.revision)
    for value in drawn(values_of(Wanted(fmt)), 12):
        assert eval(repr(value), dict(names)) == value


@given(encoded("kafka.batch", "v1"))
def test_an_encoding_is_that_of_its_value(drawn: Any) -> None:
    assert isinstance(drawn.value, Message)
    assert formats.decode(FORMATS["kafka.batch/v1"], drawn.data).value == drawn.value


def test_edits_name_the_field_and_the_new_bytes() -> None:
    found = drawn(nearly_valid("kafka.batch", "v2"))
    lines = [line for one in found for line in one.edits]
    assert all(one.edits for one in found)
    assert any(line.startswith("baseOffset 0..8 -> ") for line in lines)
    assert "checksums are not fixed up" in lines
    assert any(_refused(one.data) for one in found)


def _refused(data: bytes) -> bool:
    try:
        formats.decode(V2, data)
    except Rejected:
        return True
    return False

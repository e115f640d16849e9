"""The mock broker does what Apache Kafka does: the same answers, and the same batches stored."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from machine import needs

from tests.live.brokers.table import BROKERS
from tests.live.comparison import SETTINGS, Answer, Outcome, listed_offsets, outcomes, record_sets
from tests.live.mock_broker.server import running
from wireproof.live.loopback_broker.append_rules import ErrorCode

pytestmark = [pytest.mark.brokers, needs("java", "mvn", "[peers]")]

REFUSED = Outcome("UNKNOWN_SERVER_ERROR", None, (), 0, ())

CODECS = ("gzip", "snappy", "lz4", "zstd")


def kafka_fails() -> set[str]:
    """Appends of which Kafka's code fails, where the mock does what its comments and documents promise.

    Offset deltas with a gap, in the codec that the topic keeps: LogValidator reads such records without keys
    and values (`skipKeyValueIterator`) and then writes them again: `PartialDefaultRecord.key` throws.
    A producer id without an epoch in a topic with another codec: MemoryRecordsBuilder refuses to write it.
    """
    codecs = {name: settings.get("compression.type", "producer") for name, settings in SETTINGS.items()}
    gaps = {
        f"{name}: {codec}-gap"
        for name, kept in codecs.items()
        for codec in CODECS
        if kept in ("producer", codec) and name != TOO_SMALL
    }
    return gaps | {
        f"{name}: kafka.batch/v2/produce/no-epoch" for name, kept in codecs.items() if kept in CODECS
    }


TOO_SMALL = "small"
"""The topic that refuses such batches for their size."""


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with BROKERS["kafka-4.4"].running(Path(tmp_path_factory.mktemp("kafka")), 0) as address:
        yield address


@pytest.fixture(scope="module")
def both(kafka: str) -> tuple[Mapping[str, Outcome], ...]:
    sets = record_sets()
    with running() as address:
        return dict(outcomes(kafka, sets)), dict(outcomes(address, sets))


def test_they_differ_only_where_kafka_fails(both: tuple[Mapping[str, Outcome], ...]) -> None:
    real, mock = both
    assert {name for name in real if real[name] != mock[name]} == kafka_fails()


def test_kafka_fails_without_storing_anything(both: tuple[Mapping[str, Outcome], ...]) -> None:
    real, _ = both
    assert {real[name] for name in kafka_fails()} == {REFUSED}


def test_the_comparison_has_appends_of_every_kind(both: tuple[Mapping[str, Outcome], ...]) -> None:
    codes = {outcome.code for outcome in both[0].values()}
    assert codes >= {"NONE", "INVALID_RECORD", "INVALID_TIMESTAMP", "MESSAGE_TOO_LARGE"}


def test_they_list_the_same_offsets_for_times(kafka: str) -> None:
    real = dict(listed_offsets(kafka))
    with running() as address:
        mock: Mapping[str, Answer] = dict(listed_offsets(address))
    assert {
        key: (real.get(key), mock.get(key)) for key in real | mock if real.get(key) != mock.get(key)
    } == {}
    assert {code for code, *_ in real.values()} == {ErrorCode.NONE, ErrorCode.UNSUPPORTED_VERSION}
    offsets = {offset for _, _, offset, _ in real.values()}
    assert offsets == set(range(-1, 12)) - {9}, "record 9 has the time of record 8"

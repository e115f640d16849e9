"""The mock broker does what Apache Kafka does: the same answers, and the same batches stored."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from machine import needs

from tests.live.brokers.table import BROKERS
from tests.live.comparison import Outcome, outcomes
from tests.live.mock_broker.server import running
from tests.live.record_sets import SETTINGS, record_sets

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
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Mapping[str, Outcome], ...]]:
    sets, folder = record_sets(), tmp_path_factory.mktemp("kafka")
    with BROKERS["kafka-4.4"].running(Path(folder), 0) as address:
        real = dict(outcomes(address, sets))
    with running() as address:
        yield real, dict(outcomes(address, sets))


def test_they_differ_only_where_kafka_fails(both: tuple[Mapping[str, Outcome], ...]) -> None:
    real, mock = both
    assert {name for name in real if real[name] != mock[name]} == kafka_fails()


def test_kafka_fails_without_storing_anything(both: tuple[Mapping[str, Outcome], ...]) -> None:
    real, _ = both
    assert {real[name] for name in kafka_fails()} == {REFUSED}


def test_the_comparison_has_appends_of_every_kind(both: tuple[Mapping[str, Outcome], ...]) -> None:
    codes = {outcome.code for outcome in both[0].values()}
    assert codes >= {"NONE", "INVALID_RECORD", "INVALID_TIMESTAMP", "MESSAGE_TOO_LARGE"}

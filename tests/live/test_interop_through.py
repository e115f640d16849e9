"""A broker as the path between producers and consumers: `interop --through`, on the mock broker."""

import re
from collections.abc import Mapping

import pytest
from command_line import Done
from kafka.admin import KafkaAdminClient

from tests.live.judging import wireproof
from tests.live.mock_broker.server import running

pytestmark = pytest.mark.live

ROWS = ("--format", "kafka.batch/v2", "--count", "8", "--seed", "2")

FAULTS: Mapping[str, str] = {
    "stores-wrong-crc": r"got     refuse crc-mismatch at 17 crc.*\n(.*\n)*  like    \d+ more like it",
    "drops-headers": r"got     records\[0\]\.headers\.length = .*\n(.*\n)*  like    \d+ more like it",
    "refuses-leader-epoch": r"title   stores what kafka-python wrote\n(.*\n)*.*CORRUPT_MESSAGE",
    "drops-data": r"got     nothing stored",
}
"""A fault of the broker, and what is reported of it."""


def ended(*words: str) -> Done:
    done = wireproof(*words)
    return Done(done.returncode, done.stdout, done.stderr)


def through(address: str) -> Done:
    return ended("interop", "kafka-python", "--through", f"kafka-broker:{address}", *ROWS)


def test_what_is_written_is_stored_by_the_broker_and_read_from_there() -> None:
    with running() as address:
        done = through(address)
        admin = KafkaAdminClient(bootstrap_servers=address)
        left = admin.list_topics()
        admin.close()
    assert done.code == 0, done.out + done.err
    counts = re.search(r"\): (\d+) of (\d+) messages stored", done.out)
    assert counts is not None
    assert 0 < int(counts[1]) <= int(counts[2])
    assert f"{counts[1]} inputs, {2 * int(counts[1])} readings" in done.out
    assert left == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broker_that_changes_or_refuses_messages_fails_and_the_line_replays_it(fault: str) -> None:
    with running(fault) as address:
        done = through(address)
        assert done.code == 1, done.out + done.err
        assert re.search(FAULTS[fault], done.out), done.out
        line = re.search(r"^  replay  wireproof (replay .*)$", done.out, re.MULTILINE)
        assert line is not None
        again = ended(*line[1].split())
    assert again.code == 1, again.out
    assert "fail" in again.out


def test_a_server_that_does_not_answer_is_one_line() -> None:
    done = through("127.0.0.1:1")
    assert done.code == 4
    assert "nothing answers at 127.0.0.1:1" in done.one_line()


def test_formats_that_the_server_does_not_carry_are_no_exchange() -> None:
    with running() as address:
        done = ended(
            "interop", "reference", "heka-py", "--through", f"kafka-broker:{address}", "--format", "heka.*"
        )
    assert done.code == 2
    assert "there is no format" in done.err


def test_an_adapter_that_is_no_server_is_refused() -> None:
    done = ended("interop", "reference", "--through", "kafka-python")
    assert done.code == 2
    assert "is no server that carries messages; known: kafka-broker:HOST:PORT" in done.one_line()

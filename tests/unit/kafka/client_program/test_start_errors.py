"""A program that cannot be judged: one line says what it did, and what to do next."""

import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from wireproof.adapters.errors import AdapterStartError
from wireproof.live.kafka_client import consume_case, produce_case
from wireproof.live.kafka_client.claims import hello_of_client
from wireproof.live.kafka_client.program import ClientOptions, Side

CONSUMES = "kafka-client does not consume a plain record: "
PRODUCES = "kafka-client does not produce a plain record: "

CONSUMER = """
    import json, sys
    from kafka import KafkaConsumer, TopicPartition
    _, command, address, topic, isolation, offset = sys.argv
    assert command == "consume"
    consumer = KafkaConsumer(bootstrap_servers=address, isolation_level=isolation)
    consumer.assign([TopicPartition(topic, 0)])
    consumer.seek(TopicPartition(topic, 0), int(offset))
    for one in consumer:
        print(json.dumps({"offset": str(one.offset), "value": one.value.hex()}), flush=FLUSH)
"""


@pytest.fixture(autouse=True)
def _short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consume_case, "START_SECONDS", 10.0)
    monkeypatch.setattr(consume_case, "QUIET_SECONDS", 0.7)
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


def reason(*words: str, side: Side = "consume") -> str:
    """Return the line for a program."""
    with pytest.raises(AdapterStartError) as error:
        hello_of_client(ClientOptions(side=side), words, 1)
    text = str(error.value)
    assert "\n" not in text
    return text


def program(tmp_path: Path, code: str) -> tuple[str, str]:
    """Return the words of a program in Python."""
    path = tmp_path / "client.py"
    path.write_text(textwrap.dedent(code))
    return sys.executable, str(path)


def test_a_command_that_does_not_exist_is_named_with_the_folder_where_it_was_started() -> None:
    text = reason("no-such-program-x")
    assert text.startswith(f"{CONSUMES}no-such-program-x cannot be started: No such file or directory; ")
    assert text.endswith(f"correct the command; it is started in {Path.cwd()}")


def test_a_program_that_ends_without_a_word_is_to_be_started_by_hand(tmp_path: Path) -> None:
    words = program(tmp_path, "import sys; sys.exit(3)")
    text = reason(*words)
    assert text.startswith(f"{CONSUMES}the program ended with exit code 3 and wrote nothing to stderr; ")
    assert f"by hand: {sys.executable} {words[1]} consume 127.0.0.1:9092 TOPIC read_uncommitted 0" in text


def test_a_program_that_dies_is_told_with_its_signal(tmp_path: Path) -> None:
    text = reason(*program(tmp_path, "import os; os.kill(os.getpid(), 9)"))
    assert text.startswith(f"{CONSUMES}the program was ended by SIGKILL and wrote nothing to stderr; ")


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        ("INFO started", "not JSON: INFO started"),
        (
            '{"offset": 0, "value": "76"}',
            'offset: must be a decimal number in a string: {"offset": 0, "value"',
        ),
        ('{"offset": "0", "value": "v"}', 'value: must be hex or null: {"offset": "0", "value": "v"}'),
        ('{"offset": "0", "val": "76"}', "unknown field val: "),
        ('{"offset": "0"}', "a record must show more than its offset"),
    ],
)
def test_a_line_that_is_no_line_is_quoted(printed: str, why: str, tmp_path: Path) -> None:
    text = reason(*program(tmp_path, f"print({printed!r}, flush=True); import time; time.sleep(30)"))
    assert text.startswith(f"{CONSUMES}not a line of a client program: {why}")
    assert text.endswith("; print only the lines of clients.md on stdout, and log to stderr")


def test_a_program_that_never_fetches_is_told_once_what_it_must_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consume_case, "START_SECONDS", 0.5)
    starts = tmp_path / "starts"
    code = f"open({str(starts)!r}, 'a').write('x'); import time; time.sleep(30)"
    text = reason(*program(tmp_path, code))
    assert text.startswith(f"{CONSUMES}0 records, then nothing new; it never fetched; ")
    assert text.endswith("it must connect to ADDRESS and read partition 0 of TOPIC from OFFSET on")
    assert starts.read_text() == "x"


@pytest.mark.live
def test_a_program_that_prints_nothing_of_what_it_fetched_is_told_to_flush(tmp_path: Path) -> None:
    text = reason(*program(tmp_path, CONSUMER.replace("FLUSH", "False")))
    assert text.endswith(
        "it fetched the whole log and printed nothing: print each record, and flush each line"
    )


@pytest.mark.live
def test_a_program_that_does_not_produce_is_told_how_its_consumer_is_judged_alone(tmp_path: Path) -> None:
    text = reason(*program(tmp_path, CONSUMER.replace("FLUSH", "True")), side="both")
    assert text.startswith(f"{PRODUCES}the program ended with exit code 1: ")
    assert text.endswith("; side=consume judges the consumer alone")


def test_a_producer_that_answers_nothing_is_one_line_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(produce_case, "SECONDS", 0.3)
    text = reason(*program(tmp_path, "import sys; sys.stdin.read()"), side="produce")
    assert text.startswith(f"{PRODUCES}0 of 1 records are answered after ")
    assert text.endswith("produce 127.0.0.1:9092 TOPIC none plain")

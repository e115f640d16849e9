"""A client program: its options, its lines, its end, and what is concluded from them."""

import json
import sys
import time
from collections.abc import Iterable
from queue import Queue

import attrs
import pytest
from each import each
from machine import needs

from wireproof.adapters.errors import UnknownAdapter
from wireproof.adapters.registry.registry import resolve
from wireproof.cases.outcome import Outcome, Stalled
from wireproof.live.kafka_client.consume_case import MOST_FETCHES, Consumption, Event, Fetched
from wireproof.live.kafka_client.program import (
    ClientOptions,
    ClientProgram,
    Delivered,
    Ended,
    Failed,
    LineRead,
    StoredRecord,
    listed_options,
    parse_line,
    parse_spec,
)
from wireproof.live.loopback_broker.regroup_records import SeenRecord
from wireproof.live.loopback_broker.served_log import END, ServedLog, Serving, end_batch

# --- The name of a client program: options, then the command ---


def test_a_command_alone_has_the_newest_fetch_and_whole_logs() -> None:
    options, words = parse_spec("kafka-client:node client.js 'a b'")
    assert words == ("node", "client.js", "a b")
    assert options == ClientOptions(fetch=17, serve="pieces", start="consume", side="both", lost="nothing")


def test_options_are_words_before_the_command() -> None:
    options, words = parse_spec("kafka-client:fetch=11 serve=pieces side=consume ./client x=1")
    assert words == ("./client", "x=1")
    assert options == ClientOptions(fetch=11, serve="pieces", side="consume")


def test_the_worker_gets_the_options_back() -> None:
    options = ClientOptions(name="x", fetch=4, serve="leader", start="subscribe", lost="answers")
    assert ClientOptions.of_json(options.json()) == options


def test_every_option_but_the_name_is_listed() -> None:
    assert {one.name for one in listed_options()} == {*attrs.fields_dict(ClientOptions)} - {"name"}
    assert resolve("kafka-client:./client").options == listed_options()


@each(
    "spec, text",
    [
        ("kafka-client:", "a command is missing"),
        ("kafka-client:fetch=11", "a command is missing"),
        ("kafka-client:fetch=3 x", "fetch: must be from 4 to 17, not 3"),
        ("kafka-client:fetch=newest x", "fetch: must be a number, not newest"),
        ("kafka-client:serve=slow x", "serve: must be one of pieces, whole, cut, error, leader, not slow"),
        ("kafka-client:speed=9 x", "no option speed: there are name, fetch, serve, start, side, lost"),
        ("kafka-client:'x", "No closing quotation"),
    ],
)
def test_another_form_is_an_error_that_says_what_there_is(spec: str, text: str) -> None:
    with pytest.raises(UnknownAdapter) as error:
        resolve(spec)
    assert text in str(error.value)


# --- A client program that runs: its lines, its end, and how it is ended ---


def events_of(code: str, written: bytes = b"") -> list[LineRead | Ended]:
    events: Queue[LineRead | Ended] = Queue()
    with ClientProgram([sys.executable, "-c", code], events) as program:
        program.write(written)
        program.close_stdin()
        found = [events.get(timeout=30)]
        while not isinstance(found[-1], Ended):
            found.append(events.get(timeout=30))
    return found


def test_its_lines_come_in_order_and_then_its_end() -> None:
    found = events_of("import sys; [print(line.strip().upper()) for line in sys.stdin]", b"a\nb\n")
    assert found == [LineRead(b"A\n"), LineRead(b"B\n"), Ended(0, "")]


def test_the_end_has_the_exit_code_and_the_last_lines_of_stderr() -> None:
    (end,) = events_of("import sys; [print(n, file=sys.stderr) for n in range(30)]; sys.exit(7)")
    assert end == Ended(7, " | ".join(map(str, range(10, 30))))


def test_the_end_has_the_lines_of_stderr_from_a_panic_on() -> None:
    lines = ["before", "panic: count", *map(str, range(30))]
    (end,) = events_of(f"import sys; [print(line, file=sys.stderr) for line in {lines}]; sys.exit(2)")
    assert end == Ended(2, " | ".join(["panic: count", *map(str, range(19))]))


@needs("false")
def test_a_program_that_ends_at_once_has_an_end() -> None:
    for _ in range(20):
        events: Queue[LineRead | Ended] = Queue()
        with ClientProgram(["false"], events):
            assert events.get(timeout=30) == Ended(1, "")


def test_a_program_that_ignores_sigterm_is_killed_with_its_children() -> None:
    code = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        "print(child.pid, flush=True); time.sleep(60)"
    )
    events: Queue[LineRead | Ended] = Queue()
    begin = time.monotonic()
    with ClientProgram([sys.executable, "-c", code], events):
        assert isinstance(events.get(timeout=30), LineRead)
    end = events.get(timeout=30)
    assert isinstance(end, Ended)
    assert end.code == -9
    assert time.monotonic() - begin < 30


def test_a_command_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        ClientProgram(["no-such-program-x"], Queue())


# --- The lines of a client program ---


ROW = {
    "offset": "5",
    "timestamp": "1700000000000",
    "timestampType": "LogAppendTime",
    "key": None,
    "value": "00ff",
    "headers": [["name", "01"], ["name", None]],
}


def line(row: object) -> bytes:
    return json.dumps(row).encode() + b"\n"


def test_a_record_has_all_fields() -> None:
    headers = ((b"name", b"\x01"), (b"name", None))
    record = SeenRecord(5, 1_700_000_000_000, None, b"\x00\xff", headers, "log-append")
    assert parse_line(line(ROW)) == Delivered(record, frozenset(ROW))


def test_a_field_that_is_left_out_is_not_shown() -> None:
    found = parse_line(line({"offset": "5", "value": "76"}))
    assert found == Delivered(SeenRecord(5, -1, None, b"v"), frozenset({"offset", "value"}))


def test_a_time_beyond_64_bits_is_the_librarys_fault_and_not_the_programs() -> None:
    found = parse_line(line(ROW | {"timestamp": "585684126040278263808"}))
    assert isinstance(found, Delivered)
    assert found.record.timestamp == 585_684_126_040_278_263_808


def test_no_timestamp_type_is_that_of_v0() -> None:
    found = parse_line(line(ROW | {"timestampType": None}))
    assert isinstance(found, Delivered)
    assert found.record.timestamp_type == "none"


def test_an_error_and_an_answer_to_a_producer() -> None:
    assert parse_line(line({"error": "bad CRC"})) == Failed("bad CRC")
    assert parse_line(line({"offset": "7"})) == StoredRecord(7)


@each(
    "text",
    [
        b"",
        b"INFO started\n",
        b"[1]\n",
        line(ROW | {"offset": 5}),
        line(ROW | {"offset": "five"}),
        line(ROW | {"offset": None}),
        line(ROW | {"timestampType": "create"}),
        line(ROW | {"value": "0"}),
        line(ROW | {"value": 5}),
        line(ROW | {"headers": {"a": "00"}}),
        line(ROW | {"headers": [["a"]]}),
        line(ROW | {"partition": "0"}),
        b"[" * 100_000,
    ],
)
def test_anything_else_breaks_the_contract(text: bytes) -> None:
    with pytest.raises((ValueError, RecursionError)):
        parse_line(text)


# --- What is concluded from the Fetches and the lines of a client program ---


ONE_RECORD = end_batch(0)


def consumed(offsets: Iterable[int], values: Iterable[bytes]) -> Outcome | None:
    """Return what a program is found to do that fetches at these offsets, then delivers these values."""
    events: Queue[Event] = Queue()
    served = ServedLog(Serving(ONE_RECORD), lambda *fetched: events.put(Fetched(*fetched)))
    for offset in offsets:
        served.note_fetch(offset, 1 << 20)
    for offset, value in enumerate(values):
        events.put(LineRead(json.dumps({"offset": str(offset), "value": value.hex()}).encode()))
    return Consumption(served, events).run()


def test_a_program_may_deliver_after_any_number_of_fetches_at_the_end() -> None:
    assert consumed([0, 1, *(2 for _ in range(MOST_FETCHES))], [END, END]) is None


def test_a_program_that_never_gets_to_the_end_has_stalled() -> None:
    assert isinstance(consumed(range(-MOST_FETCHES, 0), []), Stalled)

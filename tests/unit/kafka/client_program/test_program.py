"""A client program that runs: its lines, its end, and how it is ended."""

import sys
import time
from queue import Queue

import pytest
from machine import needs

from wireproof.kafka.family.client_program.program import ClientProgram, Ended, LineRead


def events_of(code: str, written: bytes = b"") -> list[LineRead | Ended]:
    events: Queue[LineRead | Ended] = Queue()
    with ClientProgram([sys.executable, "-c", code], events.put) as program:
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
        with ClientProgram(["false"], events.put):
            assert events.get(timeout=30) == Ended(1, "")


def test_a_program_that_ignores_sigterm_is_killed_with_its_children() -> None:
    code = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        "print(child.pid, flush=True); time.sleep(60)"
    )
    events: Queue[LineRead | Ended] = Queue()
    begin = time.monotonic()
    with ClientProgram([sys.executable, "-c", code], events.put):
        assert isinstance(events.get(timeout=30), LineRead)
    end = events.get(timeout=30)
    assert isinstance(end, Ended)
    assert end.code == -9
    assert time.monotonic() - begin < 30


def test_a_command_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        ClientProgram(["no-such-program-x"], lambda _: None)

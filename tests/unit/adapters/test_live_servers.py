"""Adapters that are running servers: what is checked before the start, and what runs after the end."""

import sys
import time
from pathlib import Path

import pytest
from attrs import evolve

from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.message_framing import Lines
from wireproof.adapters.process.controller import Process, Program
from wireproof.adapters.registry import live_servers
from wireproof.adapters.registry.registered import Entry
from wireproof.adapters.registry.registry import open_adapter

HELLO = "import sys; sys.stdin.readline(); print('{\"hello\": %s}', flush=True); sys.stdin.read()"
FINE = '{"protocol": 1, "name": "x", "version": "1"}'


def program(hello: str, ended: list[str]) -> Program:
    def clean_up(waits: bool) -> None:
        ended.append(f"cleanup {waits}")

    return Program("x", (sys.executable, "-c", HELLO % hello), Lines, cleanup=clean_up)


def test_the_cleanup_runs_once_after_the_process() -> None:
    ended: list[str] = []
    process = Process(program(FINE, ended))
    assert ended == []
    process.close()
    process.close()
    assert ended == ["cleanup True"]


def test_a_missing_module_is_one_line_with_the_command_that_installs_it() -> None:
    entry = evolve(live_servers.entry_of_server("kafka-broker:localhost:1"), modules=("no_such_module_x",))
    with pytest.raises(AdapterStartError, match=r"needs further packages: pip install .*\[broker\]"):
        live_servers.check_modules(entry)


def test_what_a_cleanup_could_not_remove_is_one_line_on_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    text = "import sys; sys.stderr.write('noise\\ntopics left: a (error 29)\\n')"
    live_servers.clean_up(Entry("kafka-broker:h:1", cleanup=(sys.executable, "-c", text)))
    assert capfd.readouterr().err == "wireproof: kafka-broker:h:1: topics left: a (error 29)\n"


def test_what_is_still_removed_when_nobody_waits_is_one_line_with_its_prefix(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A second Ctrl-C: the process that removes things goes on."""
    done = tmp_path / "done"
    program = f"import pathlib, time; time.sleep(1); pathlib.Path({str(done)!r}).touch()"
    entry = Entry("kafka-broker:h:1", cleanup=(sys.executable, "-c", program, "1a", "clean"))
    live_servers.clean_up(entry, waits=False)
    assert not done.exists()
    line = "what is named wireproof-1a-… is still being removed; `wireproof adapters clean kafka-broker:h:1`"
    assert capfd.readouterr().err == f"wireproof: kafka-broker:h:1: {line} shows what stays\n"
    deadline = time.monotonic() + 30
    while not done.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert done.exists()


def test_the_cleanup_runs_also_if_the_end_of_the_process_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[str] = []
    process = Process(program(FINE, ended))

    close = process._stderr_pipe.close

    def interrupted() -> None:
        close()
        raise KeyboardInterrupt

    monkeypatch.setattr(process._stderr_pipe, "close", interrupted)
    with pytest.raises(KeyboardInterrupt):
        process.close()
    assert ended == ["cleanup False"]


def test_names_of_other_things_are_of_no_run() -> None:
    one, other = "0123456789abcdef", "f" * 16
    names = [
        f"wireproof-{one}-1",
        f"wireproof-{one}-2",
        f"wireproof-{other}-1",
        "wireproof-",
        "wireproof-1-1",
    ]
    assert live_servers.runs_of(names) == {one: 2, other: 1}
    assert live_servers.left_by_others("kafka-broker:h:1", names[3:], "topics") == ()
    (note,) = live_servers.left_by_others("kafka-broker:h:1", names, "topics")
    assert note.startswith(
        f"3 topics of other runs are there, named wireproof-{one}-…, wireproof-{other}-…: "
    )


def test_a_port_without_a_listener_is_one_line() -> None:
    pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")
    with pytest.raises(AdapterStartError, match=r"nothing answers at 127\.0\.0\.1:1: "):
        open_adapter("kafka-broker:127.0.0.1:1")

"""Adapters that are running servers: what is checked before the start, and what runs after the end."""

import sys
from pathlib import Path

import pytest
from attrs import evolve

from wireproof.adapters import live_servers
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.message_framing import Lines
from wireproof.adapters.process_controller import Process, Program
from wireproof.adapters.registry import open_adapter
from wireproof.adapters.registry_entry import Entry

HELLO = "import sys; sys.stdin.readline(); print('{\"hello\": %s}', flush=True); sys.stdin.read()"
FINE = '{"protocol": 1, "name": "x", "version": "1"}'
NO_START = '{"error": "nothing answers"}'


def program(hello: str, ended: list[str]) -> Program:
    return Program("x", (sys.executable, "-c", HELLO % hello), Lines, cleanup=lambda: ended.append("cleanup"))


def test_the_cleanup_runs_once_after_the_process() -> None:
    ended: list[str] = []
    process = Process(program(FINE, ended))
    assert ended == []
    process.close()
    process.close()
    assert ended == ["cleanup"]


def test_a_process_that_did_not_start_left_nothing() -> None:
    ended: list[str] = []
    with pytest.raises(AdapterStartError, match=r"nothing answers"):
        Process(program(NO_START, ended))
    assert ended == []


def test_a_missing_module_is_one_line_with_the_command_that_installs_it() -> None:
    entry = evolve(live_servers.entry_of_server("kafka-broker:localhost:1"), modules=("no_such_module_x",))
    with pytest.raises(AdapterStartError, match=r"needs further packages: pip install .*\[broker\]"):
        live_servers.check_modules(entry)


def test_what_a_cleanup_could_not_remove_is_one_line_on_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    text = "import sys; sys.stderr.write('noise\\ntopics left: a (error 29)\\n')"
    live_servers.clean_up(Entry("kafka-broker:h:1", cleanup=(sys.executable, "-c", text)))
    assert capfd.readouterr().err == "wireproof: kafka-broker:h:1: topics left: a (error 29)\n"


def test_an_adapter_without_cleanup_runs_nothing(tmp_path: Path) -> None:
    live_servers.clean_up(Entry("x", command=("nothing",)))
    assert list(tmp_path.iterdir()) == []


def test_a_port_without_a_listener_is_one_line() -> None:
    pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")
    with pytest.raises(AdapterStartError, match=r"nothing answers at 127\.0\.0\.1:1: "):
        open_adapter("kafka-broker:127.0.0.1:1")

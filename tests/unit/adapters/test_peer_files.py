"""The `adapter.toml` of each peer: the rows that it gives, what is refused, and when it is read."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import Command
from each import each
from peer_adapters import write_peer

from wireproof.adapters.errors import AdapterFileError, UnknownAdapter
from wireproof.adapters.registry import peers
from wireproof.adapters.registry.registry import BUILTIN, names, resolve

PATHS = peers.files()


@each("name", PATHS)
def test_each_file_gives_an_adapter_whose_parts_are_there(name: str) -> None:
    entry = peers.read(PATHS[name])
    assert (entry.name, entry.formats) == (name, (PATHS[name].parent.parent.name,))
    assert sum(map(bool, (entry.object, entry.command, entry.absent))) == 1
    if entry.object:
        assert (Path(entry.search_path[0]) / f"{entry.object.partition(':')[0]}.py").is_file()
    if entry.prepare:
        assert Path(entry.prepare.source).is_dir()
        for part in entry.prepare.shared:
            assert (peers.peers_folder() / peers.SHARED / part).is_dir()
    uses_build = any("{build}" in text for text in (*entry.command, *entry.environment.values()))
    assert uses_build == (entry.prepare is not None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of a peer, the only one that there is."""
    monkeypatch.setattr(peers, "peers_folder", lambda: tmp_path)
    return tmp_path / "kafka" / "toy"


BUILD = {"steps": ["make all"]}


@each(
    "keys, fault",
    [
        ({"command": "x", "nme": "y"}, "the table has no field 'nme'"),
        ({"command": 7}, "command must be a string, got 7"),
        ({"command": "x", "requires": "kio"}, "requires must be a list, got 'kio'"),
        ({"command": "x", "requires": [7]}, "requires[0] must be a string, got 7"),
        (
            {"command": "x", "language": "cobol"},
            "language must be one of c, csharp, go, java, node, python, rust, got 'cobol'",
        ),
        ({"command": "x", "environment": {"A": 1}}, "environment['A'] must be a string, got 1"),
        ({"command": "x", "build": {}}, "build.steps is missing"),
        ({"command": "x", "build": {"steps": "make"}}, "build.steps must be a list, got 'make'"),
        ({"command": "x", "build": {"steps": ["a 'b"]}}, "build.steps: No closing quotation"),
        ({"command": "x", "python": "a.py:b"}, "must have exactly one of command, python and absent"),
        ({}, "must have exactly one of command, python and absent"),
        ({"python": "a:b"}, "python: must be FILE.py:NAME"),
        ({"python": "a.py:b"}, "python: no such file"),
        ({"command": "x", "driver": "other", "build": BUILD}, "driver: must have no [build] beside it"),
        ({"command": "x", "driver": "other"}, "other/adapter.toml: "),
    ],
)
def test_a_fault_is_one_line_that_names_file_and_field(
    folder: Path, keys: dict[str, Any], fault: str
) -> None:
    path = write_peer(folder, **keys)
    with pytest.raises(AdapterFileError) as caught:
        peers.read(path)
    assert fault in str(caught.value)
    assert str(caught.value).startswith(str(folder.parent))
    assert "\n" not in str(caught.value)


def test_a_broken_file_fails_the_suite_and_only_those_who_ask_for_it(
    folder: Path, wireproof: Command
) -> None:
    write_peer(folder, command=7)
    done = wireproof("adapters", "probe", "toy")
    assert done.code == 5
    assert "toy/adapter.toml: command must be a string, got 7" in done.one_line()
    assert wireproof("adapters").code == 5
    assert resolve("reference") == BUILTIN["reference"]()
    assert "toy" in names()


def test_an_object_is_imported_from_the_folder_of_its_file(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder.parent / "shared_file_of_a_test.py").write_text("VALUE = 7\n", encoding="utf-8")
    entry = peers.read(write_peer(folder, python="../shared_file_of_a_test.py:VALUE"))
    assert entry.object == "shared_file_of_a_test:VALUE"
    assert entry.search_path == (str(folder.parent.resolve()), str(folder.parents[1] / "_shared" / "python"))


def test_a_client_program_is_started_by_the_worker_of_its_system(folder: Path) -> None:
    entry = peers.read(write_peer(folder, command="{build}/client 'a b'", client=True, build=BUILD))
    assert entry.name == "toy"
    assert entry.command[:3] == (sys.executable, "-m", "wireproof.live.kafka_client.worker")
    assert entry.command[4:] == ("{build}/client", "a b")
    assert json.loads(entry.command[3])["name"] == "toy"
    assert entry.prepare is not None
    assert entry.case_seconds > 0


def test_its_options_follow_its_name(folder: Path) -> None:
    write_peer(folder, command="./client", client=True)
    options = json.loads(resolve("toy:fetch=11,serve=pieces").command[3])
    assert (options["fetch"], options["serve"], options["name"]) == (11, "pieces", "toy")


@pytest.mark.parametrize(
    ("spec", "text"), [("toy:fetch=3", "fetch: must be from 4 to 17"), ("toy:speed=1", "no option speed")]
)
def test_a_wrong_option_of_it_is_one_line(spec: str, text: str, folder: Path) -> None:
    write_peer(folder, command="./client", client=True)
    with pytest.raises(UnknownAdapter, match=text):
        resolve(spec)


def test_an_adapter_that_is_no_client_program_has_no_options(folder: Path) -> None:
    write_peer(folder, command="./driver")
    with pytest.raises(UnknownAdapter, match="toy has no options: only client programs have"):
        resolve("toy:fetch=11")

"""Adapters that are running servers: their names, their starts and ends; and who is ready."""

import sys
import time
from pathlib import Path

import pytest
from attrs import evolve
from command_line import Command
from each import each
from folders import SUPPORT
from machine import needs
from peer_adapters import write_peer

from wireproof.adapters.errors import AdapterStartError, UnknownAdapter
from wireproof.adapters.message_framing import Lines
from wireproof.adapters.process.controller import Process, Program
from wireproof.adapters.registry import live_servers, peers, registry
from wireproof.adapters.registry.driver_build import built
from wireproof.adapters.registry.live_servers import ServerAddress
from wireproof.adapters.registry.readiness import Ready, ready
from wireproof.adapters.registry.registered import Build, Entry
from wireproof.adapters.registry.registry import open_adapter
from wireproof.install_hint import install_command


@each(
    "rest, address, text",
    [
        ("h:8090", ServerAddress("h", 8090), "h:8090"),
        ("localhost:1", ServerAddress("localhost", 1), "localhost:1"),
        ("[::1]:8090", ServerAddress("::1", 8090), "[::1]:8090"),
        ("h:8090:a/b:c", ServerAddress("h", 8090, "a/b:c"), "h:8090"),
        ("h:1:a b/client.properties", ServerAddress("h", 1, "a b/client.properties"), "h:1"),
        ("http://h:3000", ServerAddress("h", 3000, scheme="http"), "h:3000"),
        ("http://[::1]:3000:f", ServerAddress("::1", 3000, "f", "http"), "[::1]:3000"),
    ],
)
def test_a_name_has_a_host_a_port_and_what_else_there_is(
    rest: str, address: ServerAddress, text: str
) -> None:
    found = ServerAddress.of(f"kind:{rest}", ("http",))
    assert found == address
    assert str(found) == text


@each("rest", ["", "h", "h:", "h:0", "h:65536", "h:x", "::1:8090", "h:80:", "http://h:80"])
def test_another_form_is_an_error_that_shows_the_form(rest: str) -> None:
    with pytest.raises(UnknownAdapter, match=r"is written kind:HOST:PORT or kind:HOST:PORT:FILE$"):
        ServerAddress.of(f"kind:{rest}")


# --- servers ---


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


# --- which adapters are ready ---


STEP = (sys.executable, "-c", "import shutil; shutil.copy('driver.py', 'built.py')")
STEP_TEXT = """{python} -c "import shutil; shutil.copy('driver.py', 'built.py')\""""

TOY = Entry(
    "toy",
    "a driver",
    command=(sys.executable, "-S", "-E", "{build}/built.py", "obeys-bytes"),
    prepare=Build("toys/toy", (STEP,)),
)


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    source = tmp_path / "peers" / "toys" / "toy"
    source.mkdir(parents=True)
    (source / "driver.py").write_bytes((SUPPORT / "faulty_adapter.py").read_bytes())
    monkeypatch.setattr(peers, "peers_folder", lambda: source.parents[1])
    monkeypatch.setenv("WIREPROOF_CACHE", str(tmp_path / "cache"))
    command = "{python} -S -E {build}/built.py obeys-bytes"
    write_peer(source, description="a driver", command=command, build={"steps": [STEP_TEXT]})
    return source


def test_what_its_binding_imports_is_named_by_the_extra_that_brings_it() -> None:
    row = Entry("x", object="wireproof.adapters.reference:Reference", extra="peers", requires=("no_such",))
    assert ready(row) == Ready("not here", fix=install_command("peers"))


def test_of_a_dotted_name_the_inner_module_is_looked_for() -> None:
    assert ready(Entry("x", requires=("json.decoder",))).state == "ready"
    assert ready(Entry("x", requires=("json.no_such",))).fix == "json.no_such cannot be imported"
    assert ready(Entry("x", requires=("no_such.decoder",))).state == "not here"


@pytest.mark.usefixtures("driver")
@each(
    "row, fix",
    [
        (Entry("x", command=("no-such-tool", "-x")), "needs no-such-tool on the PATH"),
        (Entry("x", object="a:b", interpreter="no-such-python"), "needs no-such-python on the PATH"),
        (
            Entry(
                "x", command=("no-java",), prepare=Build("toys/toy", (("no-mvn",), ("{build}/a",), ("./b",)))
            ),
            "needs no-java and no-mvn on the PATH",
        ),
        (
            Entry("x", command=("{build}/x",), prepare=Build("toys/toy", (STEP,))),
            "wireproof adapters prepare x",
        ),
    ],
)
def test_the_one_thing_that_is_missing_is_named(row: Entry, fix: str) -> None:
    assert ready(row).fix == fix


@pytest.mark.usefixtures("driver")
def test_a_tool_of_the_build_is_wanted_no_more_once_it_is_built() -> None:
    assert TOY.prepare is not None
    built("toy", TOY.prepare)
    row = Entry("toy", command=TOY.command, prepare=Build("toys/toy", (STEP,)))
    assert ready(row).state == "ready"


def test_the_driver_of_another_checkout_is_one_line() -> None:
    stands = ready(Entry("x", command=("a",), prepare=Build("no-such-driver", ())))
    assert stands.state == "not here"
    assert "its driver is not there" in stands.fix


@pytest.mark.usefixtures("driver")
def test_prepare_builds_once_says_how_long_and_keeps_the_version(wireproof: Command) -> None:
    toy = next(line for line in wireproof("adapters").out.splitlines() if line.startswith("toy "))
    assert toy.split()[1:3] == ["not", "built"]
    assert toy.endswith("-> wireproof adapters prepare toy")
    done = wireproof("adapters", "prepare", "toy")
    assert done.code == 0
    name, version, *_, seconds, unit = done.out.split()
    assert (name, unit) == ("toy", "s")
    assert float(seconds) < 60
    listed = next(line for line in wireproof("adapters").out.splitlines() if line.startswith("toy"))
    assert listed.split()[:3] == ["toy", "ready", version.rstrip(":")]
    assert "already built" in wireproof("adapters", "prepare", "--all").out


def test_prepare_names_what_is_missing_and_all_leaves_it_out(wireproof: Command, driver: Path) -> None:
    write_peer(driver.with_name("lacking"), command="no-such-tool", build={"steps": []})
    done = wireproof("adapters", "prepare", "lacking")
    assert done.code == 4
    assert done.err == "lacking: left out: needs no-such-tool on the PATH\n"
    every = wireproof("adapters", "prepare", "--all")
    assert every.code == 0
    assert "lacking: left out" in every.out
    assert "toy " in every.out
    write_peer(driver.with_name("failing"), command="{build}/x", build={"steps": ["{python} -c 1/0"]})
    broken = wireproof("adapters", "prepare", "--all")
    assert broken.code == 4
    assert "ZeroDivisionError" in broken.err.splitlines()[-1]


@needs("[peers]")
def test_prepare_wants_names_or_all(wireproof: Command) -> None:
    assert wireproof("adapters", "prepare").code == 2
    assert wireproof("adapters", "prepare", "--all", "kio").code == 2
    assert "nothing to build" in wireproof("adapters", "prepare", "kio").out


def test_an_adapter_that_no_registry_carries_says_so_and_is_not_started() -> None:
    entry = registry.resolve("iggy-node")
    assert ready(entry) == Ready("not here", fix=entry.absent)
    with pytest.raises(AdapterStartError, match="iggy-node cannot be plugged in: its package"):
        registry.open_adapter("iggy-node")

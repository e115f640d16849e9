import sys
from pathlib import Path

import pytest
from command_line import Command
from each import each
from folders import SUPPORT
from machine import needs
from peer_adapters import write_peer

from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.registry import peers, registry
from wireproof.adapters.registry.driver_build import built
from wireproof.adapters.registry.readiness import Ready, ready
from wireproof.adapters.registry.registered import Build, Entry
from wireproof.install_hint import install_command

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

"""Peers: their `adapter.toml`, the builds of their drivers, other releases of their libraries."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Command
from each import each
from folders import SUPPORT
from peer_adapters import write_peer

from wireproof.adapters.errors import AdapterError, AdapterFileError, AdapterStartError, UnknownAdapter
from wireproof.adapters.registry import driver_build, peers
from wireproof.adapters.registry.driver_build import (
    ManifestError,
    StepError,
    pin_manifest,
    releases,
    renamed_steps,
)
from wireproof.adapters.registry.registered import Build, FormerName, PeerLibrary, Pin, Rename, Variant
from wireproof.adapters.registry.registry import BUILTIN, names, open_adapter, resolve

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
    done = wireproof("adapters", "probe", "toy", code=5)
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


# --- builds ---


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    source = tmp_path / "peers" / "toys" / "toy-driver"
    source.mkdir(parents=True)
    (source / "driver.py").write_bytes((SUPPORT / "faulty_adapter.py").read_bytes())
    monkeypatch.setattr(peers, "peers_folder", lambda: source.parents[1])
    monkeypatch.setenv("WIREPROOF_CACHE", str(tmp_path / "cache"))
    return source


STEP = (
    sys.executable,
    "-c",
    "import shutil; shutil.copy('driver.py', 'built.py'); open('log', 'a').write('x')",
)


def test_a_driver_is_built_once_for_each_version_of_its_source(driver: Path) -> None:
    steps = [f'{{python}} -c "{STEP[-1]}"']
    write_peer(driver, command="{python} -S -E {build}/built.py obeys-bytes", build={"steps": steps})
    row = resolve("toy-driver")
    for _ in range(2):
        controller = open_adapter("toy-driver")
        assert controller.hello.name == "faulty"
        controller.close()
    assert row.prepare
    folder = driver_build.built("toy-driver", row.prepare)
    assert (folder / "log").read_text() == "x"
    (driver / "more.txt").write_text("a change")
    assert driver_build.built("toy-driver", row.prepare) != folder


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize(
    ("made", "text"),
    [
        (
            Build("toys/toy-driver", ((sys.executable, "-c", "import sys; sys.exit('no compiler')"),)),
            "no compiler",
        ),
        (Build("toys/toy-driver", (("no-such-compiler",),)), "cannot run `no-such-compiler`"),
        (Build("absent", ()), "its driver is not there"),
    ],
)
def test_a_build_that_fails_is_one_line_and_is_tried_again(made: Build, text: str) -> None:
    for _ in range(2):
        with pytest.raises(AdapterStartError) as caught:
            driver_build.built("toy", made)
        assert text in str(caught.value)


# --- `NAME@VERSION`; no test here asks a registry ---


GO = PeerLibrary("go", "example.org/new/lib", (FormerName("example.org/old/lib", "2.0.0"),))


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "peers" / "toys" / "toy"
    folder.mkdir(parents=True)
    monkeypatch.setattr(peers, "peers_folder", lambda: folder.parents[1])
    monkeypatch.setenv("WIREPROOF_CACHE", str(tmp_path / "cache"))
    return folder


# --- names ---


def test_a_version_in_the_name_chooses_a_release_of_the_library(toy: Path) -> None:
    write_peer(
        toy, command="{build}/toy", build={"steps": ["true"]}, library={"ecosystem": "go", "name": "a/b"}
    )
    entry = resolve("toy@1.2.3")
    assert entry.name == "toy@1.2.3"
    assert entry.prepare.pin == Pin(PeerLibrary("go", "a/b"), "1.2.3")
    assert resolve("toy").prepare != entry.prepare


def test_the_worker_of_a_python_library_prefers_the_release_that_was_installed_for_it(toy: Path) -> None:
    toy.mkdir(exist_ok=True)
    (toy / "toy.py").write_text("adapter = None\n")
    write_peer(toy, python="toy.py:adapter", extra="peers", requires=["toy_library", "json"],
               library={"ecosystem": "pypi", "name": "toy"})  # fmt: skip
    entry = resolve("toy@1.2.3")
    assert entry.packages == "{build}/lib"
    assert entry.requires == ("json",), "the library itself comes with the build"
    assert entry.prepare.source == toy
    with pytest.raises(AdapterStartError, match="needs a process of its own"):
        open_adapter("toy@1.2.3", in_process=True)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("toy@1.0", r"toy@1\.0: .*adapter\.toml has no table \[library\]"),
        ("reference@1.0", "reference is no peer"),
        ("nobody@1.0", r"unknown adapter nobody@1\.0: "),
    ],
)
def test_a_version_that_cannot_be_chosen_is_one_line(toy: Path, spec: str, text: str) -> None:
    write_peer(toy, command="toy")
    with pytest.raises(UnknownAdapter, match=text):
        resolve(spec)


@each("version", ["", "x", "1.0 2.0", "../../1", "1;rm"])
def test_what_is_no_version_is_refused_before_anything_is_built(toy: Path, version: str) -> None:
    write_peer(toy, command="toy", library={"ecosystem": "go", "name": "a/b"})
    with pytest.raises(UnknownAdapter, match="a version begins with a digit"):
        resolve(f"toy@{version}")


# --- manifests ---

MANIFESTS = [
    (
        "go.mod",
        PeerLibrary("go", "a.org/lib"),
        "module m\n\ngo 1.26.0\n\nrequire (\n\ta.org/lib v1.9.0\n\tb.org/x v1.0.0\n)\n",
        "module m\ngo 1.26.0\nrequire a.org/lib v1.2.3\n",
    ),
    (
        "Cargo.toml",
        PeerLibrary("cargo", "some-lib"),
        '[dependencies]\nserde = "1"\nsome-lib = { path = "x", version = "=9.0", features = ["a"] }\n',
        '[dependencies]\nserde = "1"\nsome-lib = { path = "x", version = "=1.2.3", features = ["a"] }\n',
    ),
    (
        "Cargo.toml",
        PeerLibrary("cargo", "lib"),
        'lib = "=9.0"\nlib-2 = "7"\n',
        'lib = "=1.2.3"\nlib-2 = "7"\n',
    ),
    (
        "pom.xml",
        PeerLibrary("maven", "g:a"),
        "<properties>\n  <library.version>9</library.version>\n</properties>\n",
        "<properties>\n  <library.version>1.2.3</library.version>\n</properties>\n",
    ),
    ("requirements.txt", PeerLibrary("pypi", "lib"), "lib==9.0\nother==2.0\n", "other==2.0\nlib==1.2.3\n"),
]


@pytest.mark.parametrize(("name", "library", "before", "after"), MANIFESTS)
def test_the_manifest_names_the_release_exactly(
    tmp_path: Path, name: str, library: PeerLibrary, before: str, after: str
) -> None:
    (tmp_path / name).write_text(before)
    pin_manifest(tmp_path, Pin(library, "1.2.3"))
    assert (tmp_path / name).read_text() == after


def test_npm_writes_the_lock_file_of_the_release_anew(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"dependencies": {"lib": "9.0.0", "plug-in": "1.0.0"}}))
    (tmp_path / "package-lock.json").write_text("{}")
    pin_manifest(tmp_path, Pin(PeerLibrary("npm", "lib"), "1.2.3"))
    table = json.loads((tmp_path / "package.json").read_text())
    assert table == {"dependencies": {"lib": "1.2.3", "plug-in": "1.0.0"}}
    assert not (tmp_path / "package-lock.json").exists()


@pytest.mark.parametrize(
    ("name", "ecosystem"),
    [("go.mod", "go"), ("Cargo.toml", "cargo"), ("package.json", "npm"), ("pom.xml", "maven")],
)
def test_a_manifest_that_does_not_name_the_library_is_an_error(
    tmp_path: Path, name: str, ecosystem: str
) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(ManifestError):
        pin_manifest(tmp_path, Pin(PeerLibrary(ecosystem, "lib"), "1.0"))  # type: ignore[arg-type] - a parameter


def test_a_release_with_another_name_gets_it_in_sources_and_steps(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module m\nrequire example.org/new/lib v2.1.0\n")
    (tmp_path / "main.go").write_text('import "example.org/new/lib"\n')
    pin_manifest(tmp_path, Pin(GO, "1.9.0"))
    assert (tmp_path / "main.go").read_text() == 'import "example.org/old/lib"\n'
    assert (tmp_path / "go.mod").read_text() == "module m\nrequire example.org/old/lib v1.9.0\n"
    steps = (("cp", "peer.go", "vendor/example.org/new/lib/peer.go"),)
    assert renamed_steps(steps, Pin(GO, "1.9.0")) == (
        ("cp", "peer.go", "vendor/example.org/old/lib/peer.go"),
    )
    assert renamed_steps(steps, Pin(GO, "2.0.0")) == steps


def test_an_old_release_gets_the_files_and_names_that_fit_it(tmp_path: Path) -> None:
    library = PeerLibrary(
        "maven",
        "g:a",
        renames=(Rename("4.0", "pkg.internal.", "pkg."),),
        variants=(Variant("3.0", "_before-3.0"), Variant("2.0", "_before-2.0")),
    )
    (tmp_path / "pom.xml").write_text("<library.version>9</library.version>\n")
    for folder, text in (("", "new"), ("_before-3.0", "old"), ("_before-2.0", "oldest")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "shim.txt").write_text(text)
    shims = {"4.0": "new", "3.1": "new", "2.5": "old", "1.0": "oldest"}
    for version, shim in shims.items():
        name = "pkg.internal.A" if version == "4.0" else "pkg.A"
        (tmp_path / "A.java").write_text("import pkg.internal.A;")
        (tmp_path / "shim.txt").write_text("new")
        pin_manifest(tmp_path, Pin(library, version))
        assert (tmp_path / "shim.txt").read_text() == shim
        assert (tmp_path / "A.java").read_text() == f"import {name};"


# --- builds ---


def _build(script: str, version: str) -> Build:
    return Build("toys/toy", ((sys.executable, "-c", script),), pin=Pin(PeerLibrary("maven", "g:a"), version))


def test_each_release_has_a_build_of_its_own(toy: Path) -> None:
    (toy / "pom.xml").write_text("<library.version>9</library.version>\n")
    script = "import shutil; shutil.copy('pom.xml', 'built')"
    one = driver_build.built("toy@1.0", _build(script, "1.0"))
    two = driver_build.built("toy@2.0", _build(script, "2.0"))
    assert one != two
    assert one.name.startswith("toys-toy@1.0-")
    assert [(folder / "built").read_text() for folder in (one, two)] == [
        "<library.version>1.0</library.version>\n",
        "<library.version>2.0</library.version>\n",
    ]
    assert (toy / "pom.xml").read_text() == "<library.version>9</library.version>\n"


def test_a_release_that_does_not_exist_is_one_line_with_near_ones(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (toy / "pom.xml").write_text("<library.version>9</library.version>\n")
    monkeypatch.setattr(driver_build, "releases", lambda _: ("1.0", "1.2", "1.3", "2.0", "2.1"))
    with pytest.raises(AdapterStartError) as caught:
        driver_build.built("toy@1.9", _build("import sys; sys.exit('cannot find g:a:1.9 anywhere')", "1.9"))
    assert str(caught.value) == "toy@1.9: g:a has no release 1.9; near ones: 1.2, 1.3, 2.0, 2.1"


@pytest.mark.parametrize("listed", [lambda _: ("1.9",), None])
def test_a_release_that_the_driver_does_not_fit_is_one_line_with_the_first_problem(
    toy: Path, monkeypatch: pytest.MonkeyPatch, listed: Callable[[PeerLibrary], tuple[str, ...]] | None
) -> None:
    def unreachable(_: PeerLibrary) -> tuple[str, ...]:
        raise AdapterError("the registry does not answer")

    (toy / "pom.xml").write_text("<library.version>9</library.version>\n")
    monkeypatch.setattr(driver_build, "releases", listed or unreachable)
    script = (
        r"import sys; sys.exit('# lib 1.9\n\x1b[31mpeer.go:7:2: undefined: x\x1b[0m\npeer.go:9:2: too many')"
    )
    with pytest.raises(AdapterStartError) as caught:
        driver_build.built("toy@1.9", _build(script, "1.9"))
    assert str(caught.value) == "toy@1.9: the driver cannot be built with g:a 1.9: peer.go:7:2: undefined: x"


@each(
    "output, problem",
    [
        ("# lib\nvendor/peer.go:62:17: r.next undefined\nmore", "vendor/peer.go:62:17: r.next undefined"),
        ("  Compiling\nerror[E0432]: no `x`\n --> src/main.rs:5:1", "error[E0432]: no `x`"),
        ("[ERROR] COMPILATION ERROR :\n[ERROR] /A.java:[7,4] no package", "[ERROR] /A.java:[7,4] no package"),
        ("one\nERROR: No matching distribution\ntwo", "ERROR: No matching distribution"),
        ("one\ntwo", "two"),
    ],
)
def test_the_first_problem_is_found_in_what_each_compiler_prints(output: str, problem: str) -> None:
    assert StepError("a step failed", output).first_problem == problem


# --- registries ---

PRINTED = {
    "go": "lib v1.10.0 v1.9.0 v2.0.0-rc.1",
    "npm": '["1.9.0", "1.10.0", "2.0.0-beta.1"]',
    "pypi": "lib (1.10.0)\nAvailable versions: 1.10.0, 1.9.0, 2.0.0rc1\n",
    "cargo": '{"vers": "1.9.0", "yanked": false}\n{"vers": "1.9.1", "yanked": true}\n'
    '{"vers": "1.10.0", "yanked": false}\n{"vers": "2.0.0-a", "yanked": false}',
    "maven": "<version>1.9.0</version>\n<version> 1.10.0 </version><version>2.0-beta</version>",
}


@pytest.mark.parametrize("ecosystem", PRINTED)
def test_the_releases_of_each_registry_go_by_their_numbers_without_pre_releases(
    ecosystem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answer(*words: str) -> str:
        asked.extend(words)
        return PRINTED[ecosystem]

    monkeypatch.setattr(driver_build, "_printed", answer)
    monkeypatch.setattr(driver_build, "_fetched", answer)
    assert releases(PeerLibrary(ecosystem, "lib")) == ("1.9.0", "1.10.0")  # type: ignore[arg-type] - a parameter
    assert any("lib" in word for word in asked)


@pytest.mark.parametrize(
    ("crate", "path"), [("a", "1/a"), ("ab", "2/ab"), ("abc", "3/a/abc"), ("Some-Crate", "so/me/some-crate")]
)
def test_a_crate_is_looked_up_in_the_index_by_its_lower_case_name(
    crate: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(driver_build, "_fetched", lambda address: asked.append(address) or "")
    assert releases(PeerLibrary("cargo", crate)) == ()
    assert asked == [f"https://index.crates.io/{path}"]


def test_a_client_that_is_missing_or_fails_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(AdapterError, match=r"the releases cannot be listed: `go list -m -versions lib`"):
        releases(PeerLibrary("go", "lib"))

"""Drivers of adapters: each version is built once, and a build that fails is one line."""

import sys
from pathlib import Path

import pytest
from folders import SUPPORT
from peer_adapters import write_peer

from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.registry import driver_build, peers
from wireproof.adapters.registry.registered import Build
from wireproof.adapters.registry.registry import open_adapter, resolve


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

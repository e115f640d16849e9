"""The folder for OSS-Fuzz and ClusterFuzzLite: its script builds a target, and the target finds a bug."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from folders import TOP
from machine import needs

FOLDER = TOP / "fuzz" / "oss-fuzz"

TARGET = "mine_identifier"

CODEC = """
from wireproof import formats
from wireproof.adapters import Accepted
from wireproof.wire.json_values import to_json


class Mine:
    name, version = "mine", "1"
    revisions = {"iggy.identifier/0.8": {"ops": ["decode"]}}

    def decode(self, request):
        decoded = formats.decode(formats.get(request.format, request.revision), request.data)
        value = to_json(decoded.value)
        if BUG and len(request.data) > 100:
            value["value"] = value["value"][:-2]
        return Accepted(value=value, consumed=decoded.consumed)
"""


def run(words: list[str], folder: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    given = {**os.environ, "PATH": path, "PIP_NO_INDEX": "1", **more}
    return subprocess.run(
        words, cwd=folder, env=given, capture_output=True, text=True, check=False, timeout=240
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the targets, as the build script leaves it."""
    room = tmp_path_factory.mktemp("oss-fuzz")
    source, out = room / "src", room / "out"
    (source / "codec").mkdir(parents=True)
    (source / "codec" / "mine.py").write_text(f"BUG = True\n{CODEC}")
    (source / "targets").write_text(f"# mine\n\n{TARGET} iggy.identifier/0.8 py:mine:Mine\n")
    shutil.copy(TOP / "fuzz" / "target.py", source)
    done = run([str(FOLDER / "build.sh")], room, SRC=str(source), OUT=str(out), REQUIREMENTS="")
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@needs("[fuzz]")
def test_a_target_has_its_seeds_and_its_dictionary(built: Path) -> None:
    assert "LLVMFuzzerTestOneInput" in (built / TARGET).read_text()
    assert '\n"' in (built / f"{TARGET}.dict").read_text()
    with zipfile.ZipFile(built / f"{TARGET}_seed_corpus.zip") as seeds:
        assert len(seeds.namelist()) > 5


@needs("[fuzz]")
def test_a_target_passes_what_is_right_and_ends_at_a_bug_with_a_file(built: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(built / f"{TARGET}_seed_corpus.zip") as seeds:
        seeds.extractall(tmp_path / "corpus")
    done = run([str(built / TARGET), "-seed=1", "-runs=20000", "corpus"], tmp_path)
    assert done.returncode != 0
    assert "mine · iggy.identifier/0.8 · decode · fail:wrong-value" in done.stdout + done.stderr
    (crash,) = tmp_path.glob("crash-*")
    assert run([str(built / TARGET), str(crash)], tmp_path).returncode != 0
    (built / "codec" / "mine.py").write_text(f"BUG = False\n{CODEC}")
    assert run([str(built / TARGET), str(crash)], tmp_path).returncode == 0
    done = run([str(built / TARGET), "-seed=1", "-runs=300", "corpus"], tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_project_file_names_what_the_targets_are() -> None:
    rows = dict(
        line.split(": ", 1) for line in (FOLDER / "project.yaml").read_text().splitlines() if ": " in line
    )
    assert (rows["language"], rows["fuzzing_engines"]) == ("python", "[libfuzzer]")
    copied = (FOLDER / "Dockerfile").read_text()
    assert all(name in copied for name in ("build.sh", "targets", "target.py"))

"""macOS, as far as a process on Linux can look like it: `other_system` takes the rest away."""

import subprocess
import sys
from pathlib import Path

import pytest
from folders import TOP

SMALL = ("--run", "kafka.batch/v2/crc/*", "--no-families")


def verb(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.support.other_system", *words],
        cwd=TOP, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


IMPORTED_BEFORE = """
import importlib, pkgutil, sys
from pathlib import Path
OTHERS = (
    "asyncio getpass http.server hypothesis jsonschema moto.server numba pandas platform psutil pyarrow"
    " pyspark pytest urllib.request xdist yaml"
)
for library in OTHERS.split():  # they have their own ways on each system
    try:
        importlib.import_module(library)
    except ImportError:
        pass
from tests.support.other_system import hide
hide()
ABSENT = ("numba", "numpy", "pandas", "pyarrow", "pyspark", "atheris", "deflate", "zlib_ng", "py4j")
"""

IMPORTS = f"""{IMPORTED_BEFORE}
import wireproof
names = [found.name for found in pkgutil.walk_packages(wireproof.__path__, "wireproof.")]
for name in names:
    if not name.endswith("__main__"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            if error.name not in ABSENT and "the packages of its extra" not in str(error):
                raise
print(len(names))
"""


@pytest.mark.sweeps
def test_every_module_is_imported_where_what_linux_has_is_missing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], cwd=TOP, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stderr == ""
    assert int(done.stdout) > 300


@pytest.mark.sweeps
@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (("explain", "010407000000"), 0, "iggy.identifier"),
        (("check", "reference", *SMALL, "--in-process"), 0, "reference: conforms"),
        (("check", "reference", *SMALL), 0, "reference: conforms"),
        (
            ("check", "py:tests.mutants.heka.streams:HmacSkip", "--run", "heka.stream/**", "--no-families"),
            1,
            "wrong-accept",
        ),
        (("check", "exec:no-such-program", *SMALL), 4, "cannot be started"),
        (("adapters",), 0, "end of every process: a process that"),
        (("lint",), 0, "0 problems"),
    ],
)
def test_a_verb_works(words: tuple[str, ...], code: int, line: str) -> None:
    done = verb(*words)
    assert line in done.stdout + done.stderr
    assert done.returncode == code


SPAWNS = """
import multiprocessing, sys
multiprocessing.get_all_start_methods = lambda: ["spawn"]
from wireproof.cli import (main)
if __name__ == "__main__":
    main()
"""


@pytest.mark.sweeps
def test_adapters_run_in_parallel_where_there_is_no_fork(tmp_path: Path) -> None:
    script = tmp_path / "spawns.py"
    script.write_text(SPAWNS)
    words = ("check", "reference", "py:tests.support.hanging_codecs:Hangs", *SMALL)
    done = subprocess.run(
        [sys.executable, script, *words], cwd=TOP, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "exit code 0: every adapter conforms" in done.stdout


@pytest.mark.sweeps
@pytest.mark.parametrize(("codec", "verdict"), [("Hangs", "TIMEOUT"), ("Dies", "CRASH")])
def test_an_adapter_that_hangs_or_dies_is_ended_and_named(codec: str, verdict: str) -> None:
    case = ("--run", "kafka.batch/v2/counts/int-max", "--no-families")
    words = ("--timeout-scale", "0.2", "check", f"py:tests.support.hanging_codecs:{codec}", *case)
    done = verb(*words)
    assert f"{verdict} kafka.batch/v2/counts/int-max" in done.stdout
    assert done.returncode == 1

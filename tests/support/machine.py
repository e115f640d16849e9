"""What the machine that runs the tests must have besides Python: programs, and the package's extras.

A missing one skips the tests that need it, with one line of the summary that names it. Where the environment
variable `CI` is `true`, nothing is skipped: they fail.
"""

import os
import re
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Final

import pytest

MARKER: Final = "needs(*names): programs (`node`) and extras (`[peers]`) that the test cannot do without"

needs = pytest.mark.needs

CHROMIUM: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")

TOOLS: Final = {
    "sh": "install a shell (apt-get install dash)",
    "false": "install it (apt-get install coreutils)",
    "bash": "install bash (apt-get install bash)",
    "java": "install Java 17 (apt-get install openjdk-17-jdk), or set JAVA_HOME",
    "mvn": "install Maven (apt-get install maven)",
    "go": "install Go 1.26",
    "cargo": "install Rust 1.80 with Cargo",
    "rustc": "install Rust 1.80",
    "node": "install Node 18 (apt-get install nodejs)",
    "npm": "install npm (apt-get install npm)",
    "git": "install git (apt-get install git)",
    "cc": "install a C compiler (apt-get install gcc)",
    "clang": "install Clang and its libFuzzer (apt-get install clang libclang-rt-14-dev)",
    "afl-fuzz": "install AFL++ (apt-get install afl++)",
    "afl-clang-fast": "install AFL++ (apt-get install afl++)",
    "chromium": "install it (apt-get install chromium), or npm, which brings that of tests/browser",
}
"""Programs, and what brings them."""

EXTRAS: Final = {
    "columnar": ("deflate", "numba", "numpy", "pyarrow", "zlib_ng"),
    "spark": ("numba", "numpy", "pandas", "py4j", "pyarrow", "pyspark"),
    "peers": (
        "aiokafka", "confluent_kafka", "crc32c", "google.protobuf", "iggy_py", "kafka", "kio", "lz4",
        "snappy",
    ),
    "fuzz": ("atheris",),
}  # fmt: skip
"""Extras, and the modules that they bring."""

shown_once: Final[set[str]] = set()
"""Reasons that the summary shows in one line, however many tests are skipped for them."""


def need(*names: str) -> None:
    """Skip the test that runs unless the machine has all of these, or fail it where `CI` is `true`."""
    for name in names:
        if not _here(name):
            leave_out(_reason(name), fails=os.environ.get("CI") == "true")


def leave_out(reason: str, *, fails: bool = False) -> None:
    """Skip the test that runs, or fail it; the summary shows the reason in one line for all such tests."""
    shown_once.add(reason)
    if fails:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)  # every caller has looked at what is missing


def _here(name: str) -> bool:
    match name:
        case "java":
            return bool(os.environ.get("JAVA_HOME") or shutil.which("java"))
        case "chromium":
            programs = (os.environ.get("CHROMIUM"), *map(shutil.which, (*CHROMIUM, "npm")))
            return any(programs)
        case _ if name.startswith("["):
            return all(map(_importable, EXTRAS[name.strip("[]")]))
        case _:
            return shutil.which(name) is not None


def _importable(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is not there
        return False


def _reason(name: str) -> str:
    remedy = f"pip install -e '.{name}'" if name.startswith("[") else TOOLS[name]
    return f"no {name}: {remedy}"


def lacking_extra(error: BaseException | None) -> str:
    """Return why a file cannot be imported here, if that is an extra that is not installed, else nothing."""
    for one in _causes(error):
        for name, modules in EXTRAS.items():
            known = {module.partition(".")[0] for module in modules}
            missing = re.match(r"No module named '(\w+)", str(one))
            if (missing and missing[1] in known) or f"[{name}]'" in str(one):
                shown_once.add(reason := _reason(f"[{name}]"))
                return "" if os.environ.get("CI") == "true" else reason
    return ""


def _causes(error: BaseException | None) -> Iterator[ImportError]:
    while error is not None:
        if isinstance(error, ImportError):
            yield error
        error = error.__cause__

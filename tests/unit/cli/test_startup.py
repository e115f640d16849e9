"""What a command imports before it does anything: a user waits for it at every command and every TAB.

Modules are counted, not seconds; `tests/benchmarks/startup.py` measures the seconds.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from each import each

from wireproof.adapters.errors import AdapterError, AdapterStartError, UnknownAdapter
from wireproof.cases.id_patterns import PatternError
from wireproof.cli.common.standard_output import exit_of
from wireproof.run.exit_codes import Exit

RUN = """
import json, sys
from wireproof.cli import (main)
try:
    main()
except SystemExit:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""

ELSEWHERE = ("hypothesis", "jinja2", "numba", "numpy", "pandas", "pyarrow", "pyspark", "pytest", "atheris")
"""Packages that a verb imports when it uses them, and not before."""

HEAVY = (*ELSEWHERE, "attr", "importlib.metadata", "multiprocessing", "rich", "subprocess")
"""Packages that the command line itself does not import: its classes are few, its output is lines."""

FEW = 15
"""Modules of this package at most that the command line imports before a verb."""


def imported(*words: str, **environment: str) -> set[str]:
    """The modules that a command has imported when it ends."""
    code = [sys.executable, "-c", RUN, *words]
    done = subprocess.run(code, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    return set(json.loads(done.stderr.splitlines()[-1]))


def shell(words: str) -> dict[str, str]:
    """The environment in which bash asks for the completion of the last of some words."""
    number = str(len(words.split(" ")) - 1)
    return {"_WIREPROOF_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": number}


def completing(words: str) -> set[str]:
    """The modules that are imported before a shell can complete the last of some words."""
    return imported(**shell(words))


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] == "wireproof"}


WITHOUT_EXTRAS = f"""
import sys
sys.modules |= dict.fromkeys({("psutil", *(name for name in ELSEWHERE if name != "jinja2"))})
from wireproof.cli import (VERBS, group, main)
if sys.argv[1:]:
    main()
for verb in VERBS:
    group.get_command(None, verb)
"""
"""Import every verb, or run one, as where no extra is installed; Jinja2 comes with the package."""


def heavy(modules: set[str], *names: str) -> set[str]:
    return {name for name in names if name in modules}


def test_help_imports_no_package_but_the_command_line() -> None:
    modules = imported("--help")
    assert not heavy(modules, *HEAVY)
    assert len(ours(modules)) < FEW, sorted(ours(modules))


BATCH = "0000000000000000000000430000000002fd4e0ea1"
"""The beginning of a Kafka batch."""


def without_extras(*words: str) -> tuple[int, str]:
    """The exit code and the standard error of a command where no extra is installed."""
    code = [sys.executable, "-c", WITHOUT_EXTRAS, *words]
    done = subprocess.run(code, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_every_verb_is_there_without_an_extra_and_names_the_one_that_it_needs(tmp_path: Path) -> None:
    assert without_extras() == (0, "")
    run, out = str(tmp_path / "run.jsonl"), str(tmp_path / "out")
    only = ("--run", "kafka.batch/v2/crc/zero", "--in-process")
    assert without_extras("check", "reference", *only, "--out", run) == (0, "")
    assert without_extras("report", run) == (0, "")
    for verb, words in (("scan", ("--out", out, run)), ("fuzz --spark", ("reference",))):
        code, says = without_extras(*verb.split(), *words)
        assert code == 2
        assert re.fullmatch(rf"wireproof: {verb} needs further packages: pip install .*\[spark\].*\n", says)


def test_explain_imports_formats_and_fixtures_and_nothing_that_runs_a_codec() -> None:
    modules = imported("explain", BATCH)
    assert "wireproof.formats" in modules
    assert not heavy(modules, *ELSEWHERE, "rich", "importlib.metadata", "subprocess")
    assert not {
        name
        for name in modules
        if name.startswith(("wireproof.adapters", "wireproof.fuzz", "wireproof.spark"))
    }
    assert not heavy(modules, "wireproof.run.engine", "wireproof.derive.mutate", "wireproof.derive.derived")


def test_a_verb_is_completed_without_the_import_of_any() -> None:
    modules = completing("wireproof ")
    assert not heavy(modules, *HEAVY)
    assert len(ours(modules)) < FEW, sorted(ours(modules))


@each(
    "error, code",
    [
        (UnknownAdapter("x"), Exit.USAGE),
        (AdapterError("x"), Exit.ADAPTER),
        (AdapterStartError("x"), Exit.ADAPTER),
        (PatternError("x"), Exit.USAGE),
        (FileNotFoundError("x"), Exit.USAGE),
        (LookupError("x"), None),
        (ZeroDivisionError("x"), None),
    ],
)
def test_the_nearest_class_of_an_error_decides_its_exit_code(error: Exception, code: Exit | None) -> None:
    assert exit_of(error) is code

"""What a command imports before it does anything: a user waits for it at every command and every TAB.

Modules are counted, not seconds; `tests/benchmarks/startup.py` measures the seconds.
"""

import importlib
import json
import os
import subprocess
import sys

import pytest

from wireproof.adapters.errors import AdapterError, AdapterStartError, UnknownAdapter
from wireproof.cases.patterns import PatternError
from wireproof.cli.errors import TABLE, exit_of
from wireproof.trial.exit_codes import Exit

RUN = """
import json, sys
from wireproof.cli import main
try:
    main()
except SystemExit:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""

CLI = {"wireproof", "wireproof.cli", "wireproof.cli.errors", "wireproof.trial", "wireproof.trial.exit_codes"}
"""What every command imports of this package."""


def imported(*words: str, **environment: str) -> set[str]:
    """The modules that a command has imported when it ends."""
    code = [sys.executable, "-c", RUN, *words]
    done = subprocess.run(code, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    return set(json.loads(done.stderr.splitlines()[-1]))


def completing(words: str) -> set[str]:
    """The modules that a shell waits for when it completes the last of some words."""
    number = str(len(words.split(" ")) - 1)
    return imported(_WIREPROOF_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=number)


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] == "wireproof"}


def heavy(modules: set[str], *names: str) -> set[str]:
    return {name for name in names if name in modules}


def test_help_imports_no_package_but_the_command_line() -> None:
    modules = imported("--help")
    assert ours(modules) == CLI
    assert not heavy(modules, "attr", "cattrs", "rich", "importlib.metadata", "numpy")


def test_every_row_of_the_table_of_errors_names_an_exception() -> None:
    for name in TABLE:
        module, _, attribute = name.partition(":")
        assert issubclass(getattr(importlib.import_module(module), attribute), Exception), name


@pytest.mark.parametrize(
    ("error", "code"),
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

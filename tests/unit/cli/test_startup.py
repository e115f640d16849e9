"""What a command imports before it does anything, and the manners of the command line."""

import gc
import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import logs
import pytest
from command_line import Command
from each import each
from goldens import load

from tests.mutants.registry import spec_of
from wireproof.adapters.errors import AdapterError, AdapterStartError, UnknownAdapter
from wireproof.adapters.registry import readiness
from wireproof.cases import case_json, fixtures
from wireproof.cases.fixtures import completions, fixtures_folder
from wireproof.cases.id_patterns import PatternError
from wireproof.cli.common.standard_output import TABLE, exit_of, rare_collections
from wireproof.install_hint import install_command
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


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files of cases that a test reads, as cases or for their ids alone."""
    paths: list[Path] = []

    def noting(read: Callable[..., Any]) -> Callable[..., Any]:
        def noted(path: Path, *args: Any, **named: Any) -> Any:
            paths.extend([path] * (path.suffix == ".json" and path.is_relative_to(fixtures_folder())))
            return read(path, *args, **named)

        return noted

    for module in (fixtures, case_json):
        monkeypatch.setattr(module, "read_limited_bytes", noting(module.read_limited_bytes))
    monkeypatch.setattr(Path, "read_text", noting(Path.read_text))
    return paths


@pytest.fixture
def completed(wireproof: Command, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Return the completions of a shell for the last of some words."""

    def offers(words: str) -> list[str]:
        for name, value in shell(words).items():
            monkeypatch.setenv(name, value)
        return [line.partition(",")[2] for line in wireproof().out.splitlines()]

    return offers


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
    codecs = ("wireproof.adapters", "wireproof.fuzz", "wireproof.spark")
    assert not [name for name in modules if name.startswith(codecs)]
    assert not heavy(modules, "wireproof.run.engine", "wireproof.derive.mutate", "wireproof.derive.derived")


def test_explain_of_a_log_imports_no_cases_no_other_family_and_nothing_about_other_files(
    tmp_path: Path,
) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(b"".join(logs.batch(bytes(9_000), n) for n in range(9)))
    modules = imported("explain", str(path))
    assert {"wireproof.kafka.suite", "wireproof.kafka.suite.listing"} <= modules
    cases = ("wireproof.cases.fixtures", "wireproof.cases.case")
    files = ("wireproof.data_files", "wireproof.segment_files", "wireproof.inspect.data_directory")
    assert not heavy(modules, *ELSEWHERE, "wireproof.iggy", "wireproof.heka", *cases, *files)


def test_explain_of_a_sound_entry_imports_no_other_family() -> None:
    modules = imported("explain", logs.batch(b"x", 0).hex())
    assert "wireproof.kafka.suite" in modules
    assert not heavy(modules, "wireproof.iggy", "wireproof.heka")


def test_the_import_of_a_verb_leaves_the_search_for_cycles_as_it_was(wireproof: Command) -> None:
    before = gc.get_threshold()
    assert wireproof("explain", BATCH).out
    assert gc.get_threshold() == before
    with rare_collections():
        assert gc.get_threshold() == (100_000, *before[1:])


def test_the_template_library_is_imported_only_where_a_page_is_written(tmp_path: Path) -> None:
    words = ("check", "reference", "--run", "kafka.batch/v2/crc/zero", "--in-process")
    assert "jinja2" not in imported(*words)
    assert "jinja2" in imported(*words, "--html", str(tmp_path / "page.html"))


def test_explain_reads_the_cases_of_one_format(wireproof: Command, reads: list[Path]) -> None:
    assert wireproof("explain", BATCH).out.count("nearest fixture: kafka.batch/v2/") == 1
    assert {path.parent.parent.name for path in reads} == {"kafka.batch"}


def test_a_verb_is_completed_without_the_import_of_any() -> None:
    modules = completing("wireproof ")
    assert not heavy(modules, *HEAVY)
    assert len(ours(modules)) < FEW, sorted(ours(modules))


@pytest.mark.parametrize(
    "words", ["wireproof check --f", "wireproof check kafka", "wireproof show kafka.batch/v2/crc/z"]
)
def test_options_adapters_and_cases_are_completed_without_the_import_of_a_mutant_or_a_library(
    words: str,
) -> None:
    modules = completing(words)
    assert not heavy(modules, *ELSEWHERE, "aiokafka", "confluent_kafka", "kafka", "kio", "iggy")
    assert not {name for name in modules if name.startswith(("tests.mutants.", "wireproof.spark."))}
    assert not {name for name in modules if name.endswith(".family") and name != "wireproof.family"}
    assert not heavy(modules, "wireproof.derive.derived", "wireproof.run.engine", "wireproof.derive.mutate")


@each(
    "words, number, offered",
    [
        ("wireproof show kafka.b", 0, "kafka.batch"),
        ("wireproof show kafka.batch/v", 0, "kafka.batch/v2"),
        ("wireproof show kafka.batch/v2/cr", 0, "kafka.batch/v2/crc"),
        ("wireproof show kafka.batch/v2/crc/z", 1, "kafka.batch/v2/crc/zero"),
    ],
)
def test_a_case_is_completed_from_the_names_of_files_and_at_most_one_of_them(
    completed: Callable[[str], list[str]], reads: list[Path], words: str, number: int, offered: str
) -> None:
    assert offered in completed(words)
    assert len(reads) == number


def test_the_ids_that_a_shell_completes_are_those_of_all_cases() -> None:
    ids = [case.id for case in load().cases]
    places = dict.fromkeys(name.rpartition("/")[0] for name in ids)
    assert sorted(name for place in places for name in completions(fixtures_folder(), f"{place}/")) == ids
    assert sorted(completions(fixtures_folder(), "")) == sorted({name.partition("/")[0] for name in ids})


def test_every_row_of_the_table_of_errors_names_an_exception() -> None:
    for name in TABLE:
        module, _, attribute = name.partition(":")
        assert issubclass(getattr(importlib.import_module(module), attribute), Exception), name


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


# --- completion, JSON, colours, an interrupt, and what is missing here ---


MUTANT = spec_of("mutant:crc-skip")

WIREPROOF = (sys.executable, "-m", "wireproof")


def run(*words: str, **environment: str) -> str:
    done = subprocess.run(
        [*WIREPROOF, *words], capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "COLUMNS": "120", **environment},
    )  # fmt: skip
    assert not done.stderr, done.stderr
    return done.stdout


def test_colours_are_for_terminals_and_for_nobody_who_wants_none() -> None:
    words = ("check", MUTANT, "--run", "kafka.batch/v2/crc/*", "--no-families", "--in-process")
    assert "\x1b[" not in run(*words)
    assert "\x1b[3" in run(*words, FORCE_COLOR="1", TERM="xterm-256color")
    plain = run(*words, FORCE_COLOR="1", TERM="xterm-256color", NO_COLOR="1")
    assert not any(f"\x1b[{colour}" in plain for colour in ("3", "4", "9"))


def test_lists_are_json_for_programs(wireproof: Command) -> None:
    cases = json.loads(wireproof("cases", "iggy.identifier/0.8/**", "--format", "json").out)
    assert {"id": "iggy.identifier/0.8/identifier/zero", "level": "must", "op": "decode"}.items() <= {
        **next(row for row in cases if row["id"].endswith("identifier/zero"))
    }.items()
    adapters = json.loads(wireproof("adapters", "--format", "json").out)
    assert next(row for row in adapters if row["name"] == "reference")["state"] == "ready"


@each(
    "words, offered",
    [
        ("wireproof rep", "report"),
        ("wireproof check kafka-py", "kafka-python"),
        ("wireproof check colu", "columnar"),
        ("wireproof show iggy.ident", "iggy.identifier"),
        ("wireproof show iggy.identifier/0.8/identifier/z", "iggy.identifier/0.8/identifier/zero"),
        ("wireproof adapters new p", "python"),
        ("wireproof check --no-fam", "--no-families"),
    ],
)
def test_a_shell_completes(completed: Callable[[str], list[str]], words: str, offered: str) -> None:
    assert offered in completed(words)


def examined() -> dict[str, readiness.InstallationCheck]:
    return {row.name: row for row in readiness.examined()}


def test_missing_and_old_tools_are_named_with_their_fix(
    wireproof: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    go.write_text("#!/bin/sh\necho go version go1.20.1 linux/amd64\n", encoding="utf-8")
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}")
    monkeypatch.setattr(readiness, "find_spec", lambda name: None if name == "atheris" else object())
    rows = examined()
    assert (rows["go"].state, rows["go"].version) == ("too old", "1.20.1")
    assert rows["go"].fix.startswith("1.26 or newer is needed: install golang")
    assert (rows["cargo"].state, rows["cargo"].fix) == ("missing", "install cargo")
    assert (rows["[fuzz]"].state, rows["[fuzz]"].fix) == ("missing", install_command("fuzz"))
    assert rows["[peers]"].fix == ""
    for width in (40, 120):
        told = wireproof("adapters", width=width, code=0)
        fixes = {row.fix for row in rows.values() if row.fix}
        assert fixes <= {line.strip() for line in told.out.splitlines()}
        assert f"here: Python {rows['Python'].version}, " in told.out

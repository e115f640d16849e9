"""Fixtures of pytest that several tests share."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen
from command_line import Command, Done
from folders import TOP
from goldens import load, stored_cases

import wireproof as package
from wireproof.adapters.registry import registry
from wireproof.cases import fixtures
from wireproof.cases.fixtures import Suite
from wireproof.cli import main
from wireproof.formats import Format


@pytest.fixture(autouse=True, scope="session")
def _children_find_the_package() -> Iterator[None]:
    """Let the child processes of tests find the package and `tests.mutants`, whatever their folder is."""
    with pytest.MonkeyPatch.context() as patch:
        own = [str(Path(package.__file__).parents[1]), str(TOP)]
        paths = [*own, *filter(None, [os.environ.get("PYTHONPATH")])]
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        yield


@frozen
class ToyEntry:
    """An entry of the list of a toy."""

    x: bytes


@frozen
class Toy:
    """The values of the format that the misbehaving adapters of the tests claim."""

    hex: bytes
    a: bytes
    list: tuple[ToyEntry, ...]


@pytest.fixture(autouse=True, scope="session")
def _toys_may_be_claimed() -> Iterator[None]:
    """`toy/v1` is no format of the suite; an adapter may claim it in the tests."""
    with pytest.MonkeyPatch.context() as patch:
        row = Format("toy", "v1", Toy, lambda *_: None, lambda *_: None)
        patch.setattr(registry, "FORMATS", {**registry.FORMATS, "toy/v1": row})
        yield


def _load(folders: Any = ()) -> Suite:
    """As `fixtures.load`; a test may have put another folder in the place of the package's own."""
    own = fixtures.fixtures_folder.__module__ == fixtures.__name__
    return load(folders) if own else fixtures.load(folders)


@pytest.fixture
def fixtures_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command loads what the commands before it loaded."""
    monkeypatch.setattr("wireproof.cli.common.options.load", _load)


@pytest.fixture
def stored_cases_alone(
    monkeypatch: pytest.MonkeyPatch,
    fixtures_read_once: None,  # noqa: ARG001 - what it sets is replaced
) -> None:
    """A command has the cases whose input is stored: for tests of what a run of all cases reports."""
    cases = tuple(stored_cases())
    monkeypatch.setattr(
        "wireproof.cli.common.options.load", lambda folders=(): evolve(_load(folders), cases=cases)
    )


@pytest.fixture
def interruptible() -> Iterator[None]:
    """A process in the background of a shell ignores interrupts, and so do its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _program(
    main: Callable[[], None], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    def run(*words: Any, width: int = 200, code: int | None = None) -> Done:
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setattr(sys, "argv", ["wireproof", *map(str, words)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        printed = capfd.readouterr()
        assert isinstance(left.value.code, int)
        assert code in (None, left.value.code), printed.err or printed.out
        return Done(int(left.value.code), printed.out, printed.err)

    return run


@pytest.fixture
def wireproof(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    fixtures_read_once: None,  # noqa: ARG001 - for what it does
) -> Command:
    """The same `main` as the program's, in this process."""
    return _program(main, monkeypatch, capfd)


@pytest.fixture
def kill(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    fixtures_read_once: None,  # noqa: ARG001 - for what it does
) -> Command:
    """`python -m tests.mutants`, in this process."""
    from tests.mutants.__main__ import main as run_mutants  # noqa: PLC0415 - few tests need its half second

    return _program(run_mutants, monkeypatch, capfd)


@pytest.fixture
def plugin_run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run pytest in an empty folder, in this process: to start one costs more than to run what is asked."""
    for name in ("wireproof.pytest_run", "wireproof.judge.differences"):
        import_module(name)  # a run forgets what it was the first to import
    pytester: pytest.Pytester = request.getfixturevalue("pytester")  # of a plugin that few files load
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setattr("wireproof.pytest_run.load", load)  # the fixtures are read once for all tests
    pytester.makeini("[pytest]\n")

    def run(*words: str, code: int | None = None) -> Done:
        plugin = ("-p", "wireproof.pytest_plugin", "-p", "no:cacheprovider", "-v")
        found = pytester.runpytest_inprocess(*plugin, *words)
        assert code in (None, found.ret), f"{found.stdout}{found.stderr}"
        return Done(int(found.ret), str(found.stdout), str(found.stderr))

    return run

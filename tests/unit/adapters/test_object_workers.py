"""Objects of Python in processes of their own: they start, die and end as adapters do."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest
import toy_codecs
from attrs import evolve
from toy_requests import ask

from wireproof.adapters.contract import Request
from wireproof.adapters.controller import Controller, InProcess
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.python_object import Caller
from wireproof.adapters.registry import open_adapter
from wireproof.cases.case import Accept, Case, Data
from wireproof.cases.outcome import Crashed, Unsupported
from wireproof.runner.engine import Engine


@pytest.mark.parametrize("in_process", [False, True])
def test_the_hello_of_an_object_is_the_same_here_and_there(in_process: bool) -> None:
    controller = open_adapter("py:toy_codecs:make", in_process=in_process)
    assert controller.hello == Caller(toy_codecs.Toy()).hello
    assert controller.hello.window == 8
    assert isinstance(controller, InProcess) == in_process
    controller.close()


def test_a_worker_that_dies_is_a_crash_of_its_case() -> None:
    plan = [Case(f"toy/v1/t/c{n}", "toy", "v1", Data(b"value"), Accept()) for n in range(3)]
    plan[1] = evolve(plan[1], input=Data(b"dies"))
    with Engine("py:toy_codecs:INSTANCE") as engine:
        outcomes = [ran.outcome for ran in engine.run(plan)]
    assert outcomes[1] == Crashed("died with exit code 7")
    assert outcomes[0] == outcomes[2] == toy_codecs.Toy().value()


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("py:no_such_module:Toy", "cannot be imported: there is no module no_such_module in "),
        ("py:toy_codecs:Missing", ": toy_codecs has no Missing: known names: "),
        ("py:toy_codecs:Raising", "OSError: no device"),
        ("py:toy_codecs:Nameless", "Nameless: name is missing"),
    ],
)
@pytest.mark.parametrize("in_process", [False, True])
def test_an_object_that_cannot_be_made_is_one_line(spec: str, text: str, in_process: bool) -> None:
    with pytest.raises(AdapterStartError) as caught:
        open_adapter(spec, in_process=in_process)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


CALLS: list[Callable[[], Controller]] = [
    lambda: open_adapter("reference"),
    lambda: open_adapter("reference", in_process=True),
]


@pytest.mark.parametrize("call", CALLS)
def test_the_reference_refuses_what_it_does_not_know(call: Callable[[], Controller]) -> None:
    controller = call()
    outcome = ask(controller, Request("7", "decode", "kafka.batch", "v9", b""))
    assert outcome == Unsupported("no decode of kafka.batch/v9")
    controller.close()


def test_a_worker_leaves_when_its_stdin_ends() -> None:
    search = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-m", "wireproof.adapters.object_worker", "py:toy_codecs:Toy"],
        input=b"",
        capture_output=True,
        timeout=20,
        check=False,
        env={**os.environ, "PYTHONPATH": search},
    )
    assert (done.returncode, done.stdout) == (0, b"")

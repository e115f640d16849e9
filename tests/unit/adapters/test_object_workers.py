"""Objects of Python in processes of their own: they start, die and end as adapters do."""

import os
import subprocess
import sys

import pytest
import toy_codecs
from attrs import evolve

from wireproof.adapters.controller import InProcess
from wireproof.adapters.python_object import Caller
from wireproof.adapters.registry.registry import open_adapter
from wireproof.cases.case import Accept, Case, Data
from wireproof.cases.outcome import Crashed
from wireproof.run.engine import Engine


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

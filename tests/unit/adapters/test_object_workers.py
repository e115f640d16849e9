"""Objects of Python in processes of their own: they start, die and end as adapters do."""

import os
import subprocess
import sys

import pytest
import toy_codecs

from wireproof.adapters.controller import InProcess
from wireproof.adapters.python_object import Caller
from wireproof.adapters.registry.registry import open_adapter


@pytest.mark.parametrize("in_process", [False, True])
def test_the_hello_of_an_object_is_the_same_here_and_there(in_process: bool) -> None:
    controller = open_adapter("py:toy_codecs:make", in_process=in_process)
    assert controller.hello == Caller(toy_codecs.Toy()).hello
    assert controller.hello.window == 8
    assert isinstance(controller, InProcess) == in_process
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

"""Python objects as adapters: in this process and in a worker, and the names under which they are found."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import toy_codecs
from each import each
from toy_requests import ask, request

from wireproof import adapters
from wireproof.adapters.controller import Controller, InProcess
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.python_object import Caller
from wireproof.adapters.registry import registry
from wireproof.adapters.registry.registry import entries, load_object, open_adapter
from wireproof.cases.outcome import Accepted, Crashed, Exhausted, Faulty, Outcome, Refused, Unsupported
from wireproof.install_hint import install_command
from wireproof.wire.json_values import json_digest

MISUSE = "the adapter calls the adapter contract wrongly:"
MISUSES = {
    "keyword": "TypeError: Accepted.__init__() got an unexpected keyword argument 'kept_size'",
    "missing": "TypeError: Rejected.__init__() missing 1 required positional argument: 'cls'",
    "field": "AttributeError: 'Request' object has no attribute 'bytes'",
    "frozen": "FrozenInstanceError: can't set attribute",
    "name": "ImportError: cannot import name 'Acepted' from 'wireproof.adapters' "
    f"({Path(adapters.__file__)})",
}
"""Wrong calls of the contract's classes inside an adapter, and their error messages."""

OUTCOMES: list[tuple[str, Outcome]] = [
    ("rejected", Refused("crc-mismatch", "61>3", "crc", "CRC", "wants 1", {"batches": []})),
    ("documented_error", Refused(text="SubError: two lines")),
    ("undocumented", Refused(text="KeyError: 'key'", untyped=True)),
    ("unprintable", Refused(text="Unprintable: (its text cannot be shown)", untyped=True)),
    ("memory", Exhausted("memory", "MemoryError")),
    ("exits", Crashed("would end its caller: SystemExit: library gave up")),
    ("panics", Crashed("would end its caller: Panic: called Option::unwrap() on None")),
    ("bare_rejected", Refused("crc-mismatch", 17)),
    ("unprintable_text", Refused(text="ValueError: a\\x1b[31m b \\x3a:error::c \\x202ed", untyped=True)),
    *((f"misuse_{how}", Faulty(f"{MISUSE} {text}")) for how, text in MISUSES.items()),
    ("nothing", Faulty("decode gave NoneType, which is no outcome")),
    ("unsupported", Unsupported("not here")),
]


@pytest.fixture(scope="module")
def worker() -> Iterator[Controller]:
    controller = open_adapter("py:toy_codecs:Toy")
    yield controller
    controller.close()


@each("what, outcome", OUTCOMES)
def test_every_exception_becomes_an_outcome_here_and_in_a_worker(
    what: str, outcome: Outcome, worker: Controller
) -> None:
    assert Caller(toy_codecs.Toy()).answer(request(what)) == ask(worker, request(what)) == outcome


def test_what_a_library_prints_does_not_reach_the_pipe(worker: Controller) -> None:
    assert ask(worker, request("prints")) == Accepted({"stdin": ""})
    assert "from Python / from C" in worker.progress()


def test_a_value_that_is_no_json_is_a_fault_of_the_adapter(worker: Controller) -> None:
    outcome = ask(worker, request("no_json"))
    assert isinstance(outcome, Faulty)
    assert "cannot be sent: TypeError" in outcome.text


def test_a_digest_is_taken_over_the_observed_fields(worker: Controller) -> None:
    expected = Accepted(None, 5, digest=json_digest({"a": "1", "list": [{"x": "3"}]}))
    assert ask(worker, request("value", answer="digest")) == expected
    assert Caller(toy_codecs.Toy()).answer(request("value", answer="digest")) == expected
    assert Caller(toy_codecs.Toy()).answer(request("no_json", answer="digest")) == Faulty(
        "its value is no JSON: TypeError: Object of type bytes is not JSON serializable"
    )


def test_the_address_space_of_a_worker_is_bounded(worker: Controller) -> None:
    outcome = ask(worker, request("hoard"))
    assert isinstance(outcome, Exhausted)
    assert outcome.resource == "memory"


def test_a_value_too_large_for_a_message_comes_as_its_digest(worker: Controller) -> None:
    assert ask(worker, request("large")) == Accepted(digest=json_digest({"a": "00" * (17 << 20)}))


# --- the registry ---


def test_a_missing_extra_names_its_install_command() -> None:
    with pytest.raises(AdapterStartError) as caught:
        load_object(toy_codecs.NEEDY)
    assert f"needy needs further packages: {install_command('peers')} (" in str(caught.value)


@pytest.fixture
def third_party(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        EntryPoint("toy-object", "toy_codecs:Toy", registry.GROUP),
        EntryPoint("toy-row", "toy_codecs:ROW", registry.GROUP),
        EntryPoint("toy-broken", "toy_codecs:Absent", registry.GROUP),
    ]
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: points if group == registry.GROUP else []
    )


@pytest.mark.usefixtures("third_party")
def test_a_third_party_brings_objects_and_rows() -> None:
    rows = entries()
    assert rows["toy-object"].object == "toy_codecs:Toy"
    assert rows["toy-object"].description == "Does what the bytes say."
    assert rows["toy-row"] is toy_codecs.ROW
    assert "cannot be loaded: AttributeError" in rows["toy-broken"].description
    assert rows["reference"].object == "wireproof.adapters.reference:Reference"
    controller = open_adapter("toy-object", in_process=True)
    assert controller.hello.name == "toy"


@pytest.mark.usefixtures("third_party")
def test_an_adapter_with_an_environment_is_not_called_here() -> None:
    with pytest.raises(AdapterStartError, match="toy-row needs a process of its own"):
        open_adapter("toy-row", in_process=True)


# --- processes of their own ---


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

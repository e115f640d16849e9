"""Python objects as adapters: in this process, in a worker, and behind `serve`."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import toy_codecs
from attrs import evolve
from folders import SUPPORT
from peer_adapters import write_peer

from tests.mutants.registry import mutants, spec_of
from wireproof import adapters
from wireproof.adapters import driver_build, packaged_folders, registry
from wireproof.adapters.contract import Request
from wireproof.adapters.controller import Controller, InProcess
from wireproof.adapters.errors import AdapterStartError, MessageError, UnknownAdapter
from wireproof.adapters.message_framing import Most
from wireproof.adapters.python_object import Caller
from wireproof.adapters.reference import Reference
from wireproof.adapters.registry import entries, load_object, open_adapter, resolve
from wireproof.adapters.registry_entry import Build
from wireproof.adapters.serve import serve
from wireproof.cases.case import Accept, Case, Data
from wireproof.cases.outcome import Accepted, Crashed, Exhausted, Faulty, Outcome, Refused, Unsupported
from wireproof.formats import FORMATS
from wireproof.install_hint import install_command
from wireproof.runner.engine import Engine
from wireproof.wire.json_values import json_digest

FAULTY = f"exec:{sys.executable} -S -E {SUPPORT / 'faulty_adapter.py'}"


def request(what: str, **more: Any) -> Request:
    return Request("7", "decode", "toy", "v1", what.encode(), **more)


MISUSE = "the adapter calls the adapter contract wrongly:"
MISUSES = {
    "keyword": "TypeError: Accepted.__init__() got an unexpected keyword argument 'valeu'",
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


def ask(controller: Controller, one: Request) -> Outcome:
    controller.send([one])
    ((name, outcome),) = controller.receive(5)
    assert name == one.id
    return outcome


@pytest.mark.parametrize(("what", "outcome"), OUTCOMES)
def test_every_exception_becomes_an_outcome(what: str, outcome: Outcome) -> None:
    assert Caller(toy_codecs.Toy()).answer(request(what)) == outcome


@pytest.mark.parametrize(("what", "outcome"), OUTCOMES)
def test_a_worker_says_the_same_as_the_object_called_here(
    what: str, outcome: Outcome, worker: Controller
) -> None:
    assert ask(worker, request(what)) == outcome


def test_a_type_error_of_the_codec_is_none_of_the_adapter_s() -> None:
    outcome = Caller(toy_codecs.Toy()).answer(request("type_error"))
    assert isinstance(outcome, Refused)
    assert outcome.untyped


def test_endless_recursion_is_an_untyped_refusal(worker: Controller) -> None:
    outcome = ask(worker, request("recursion"))
    assert isinstance(outcome, Refused)
    assert outcome.untyped
    assert outcome.text.startswith("RecursionError")


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


def test_a_value_too_large_for_a_message_comes_as_its_digest(worker: Controller) -> None:
    assert ask(worker, request("large")) == Accepted(digest=json_digest({"a": "00" * (17 << 20)}))


def test_the_address_space_of_a_worker_is_bounded(worker: Controller) -> None:
    outcome = ask(worker, request("hoard"))
    assert isinstance(outcome, Exhausted)
    assert outcome.resource == "memory"


def test_an_operation_that_the_object_lacks_is_unsupported(worker: Controller) -> None:
    assert ask(worker, Request("7", "encode", "toy", "v1")) == Unsupported("has no encode")


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


# --- the registry ---


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("py:no_such_module:Toy", "cannot be imported: ModuleNotFoundError"),
        ("py:toy_codecs:Missing", "cannot be made: AttributeError"),
        ("py:toy_codecs:Raising", "cannot be made: OSError: no device"),
        ("py:toy_codecs:Nameless", "Nameless: name is missing"),
    ],
)
@pytest.mark.parametrize("in_process", [False, True])
def test_an_object_that_cannot_be_made_is_one_line(spec: str, text: str, in_process: bool) -> None:
    with pytest.raises(AdapterStartError) as caught:
        open_adapter(spec, in_process=in_process)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("refrence", "unknown adapter refrence: did you mean reference?"),
        ("python:no-such-kind", "unknown adapter python:no-such-kind: "),
        ("py:toy_codecs", "written py:module:attribute"),
        ("exec:", "a command is missing"),
        ("jsonl:echo 'x", "No closing quotation"),
    ],
)
def test_a_name_that_means_nothing_is_one_line(spec: str, text: str) -> None:
    with pytest.raises(UnknownAdapter) as caught:
        resolve(spec)
    assert text in str(caught.value)


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


def test_names_are_unique_and_rows_lead_somewhere() -> None:
    names = [
        *registry.BUILTIN,
        *(path.parent.name for path in packaged_folders.peers_folder().glob("[!_]*/*/adapter.toml")),
    ]
    assert len(names) == len(set(names))
    for entry in entries().values():
        ways = [entry.object, entry.command, entry.absent]
        assert sum(map(bool, ways)) == 1, entry.name
        assert entry.description, entry.name


def test_the_mutants_are_found_by_name() -> None:
    assert mutants()
    for name in mutants():
        assert load_object(resolve(spec_of(name))).name == name.removeprefix("mutant:")


# --- builds ---


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    source = tmp_path / "peers" / "toys" / "toy-driver"
    source.mkdir(parents=True)
    (source / "driver.py").write_bytes((SUPPORT / "faulty_adapter.py").read_bytes())
    monkeypatch.setattr(packaged_folders, "peers_folder", lambda: source.parents[1])
    monkeypatch.setenv("WIREPROOF_CACHE", str(tmp_path / "cache"))
    return source


STEP = (
    sys.executable,
    "-c",
    "import shutil; shutil.copy('driver.py', 'built.py'); open('log', 'a').write('x')",
)


def test_a_driver_is_built_once_for_each_version_of_its_source(driver: Path) -> None:
    steps = [f'{{python}} -c "{STEP[-1]}"']
    write_peer(driver, command="{python} -S -E {build}/built.py obeys-bytes", build={"steps": steps})
    row = resolve("toy-driver")
    for _ in range(2):
        controller = open_adapter("toy-driver")
        assert controller.hello.name == "faulty"
        controller.close()
    assert row.prepare
    folder = driver_build.built("toy-driver", row.prepare)
    assert (folder / "log").read_text() == "x"
    (driver / "more.txt").write_text("a change")
    assert driver_build.built("toy-driver", row.prepare) != folder


def test_each_adapter_of_one_build_keeps_its_own_version(driver: Path) -> None:
    assert driver.is_dir()
    row = Build("toys/toy-driver", (STEP,))
    folder = driver_build.built("toy-1", row)
    driver_build.note_version(folder, "toy-1", "1.0")
    assert driver_build.noted_version("toy-2", row) == ""
    driver_build.note_version(folder, "toy-2", "2.0")
    assert [driver_build.noted_version(name, row) for name in ("toy-1", "toy-2")] == ["1.0", "2.0"]


def test_shared_sources_of_drivers_are_copied_and_count_for_the_version(driver: Path) -> None:
    shared = driver.parents[1] / "_shared" / "toy"
    shared.mkdir(parents=True)
    (shared / "frames.py").write_text("FRAMES = 1")
    row = Build("toys/toy-driver", (STEP,), shared=("toy",))
    assert not driver_build.is_built("toy-driver", row)
    folder = driver_build.built("toy-driver", row)
    assert driver_build.is_built("toy-driver", row)
    assert (folder / "_shared" / "toy" / "frames.py").read_text() == "FRAMES = 1"
    (shared / "frames.py").write_text("FRAMES = 2")
    assert not driver_build.is_built("toy-driver", row)


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize(
    ("made", "text"),
    [
        (
            Build("toys/toy-driver", ((sys.executable, "-c", "import sys; sys.exit('no compiler')"),)),
            "no compiler",
        ),
        (Build("toys/toy-driver", (("no-such-compiler",),)), "cannot run `no-such-compiler`"),
        (Build("absent", ()), "its driver is not there"),
    ],
)
def test_a_build_that_fails_is_one_line_and_is_tried_again(made: Build, text: str) -> None:
    for _ in range(2):
        with pytest.raises(AdapterStartError) as caught:
            driver_build.built("toy", made)
        assert text in str(caught.value)


# --- serve ---


def served(spec: str, *lines: dict[str, Any]) -> list[Any]:
    return _served(b"".join(json.dumps(line).encode() + b"\n" for line in lines), spec)


HELLO = {"hello": {"protocol": 1}}


def toy_line(name: str, data: bytes) -> dict[str, Any]:
    return {"id": name, "op": "decode", "format": "toy", "revision": "v1", "hex": data.hex()}


def test_serve_speaks_the_lines_of_the_design() -> None:
    hello, answer = served("py:toy_codecs:Toy", HELLO, toy_line("7", b"rejected"))
    assert hello["hello"]["name"] == "toy"
    assert hello["hello"]["revisions"] == {"toy/v1": {"ops": ["decode"], "observes": ["a", "list[].x"]}}
    assert answer == {
        "id": "7",
        "outcome": "refused",
        "class": "crc-mismatch",
        "at": "61>3",
        "path": "crc",
        "detail": "CRC",
        "text": "wants 1",
        "before": {"batches": []},
    }


def test_serve_answers_a_request_that_is_none_and_goes_on() -> None:
    _, bad, good = served("py:toy_codecs:Toy", HELLO, {"id": "1", "op": "x"}, toy_line("2", b"unsupported"))
    assert bad["outcome"] == "faulty"
    assert good == {"id": "2", "outcome": "unsupported", "text": "not here"}


@pytest.mark.parametrize(
    "bad",
    [b"hello", b"[]", b"\xff", b"{}", b'{"id": 7}', b'{"id": "1", "hex": "0"}', b"[" * 100_000, b"a\rb"],
    ids=lambda bad: repr(bad[:12]),
)
def test_serve_answers_a_bad_line_and_goes_on(bad: bytes) -> None:
    good = json.dumps(toy_line("2", b"unsupported")).encode()
    first, second = _served(bad + b"\n" + good + b"\n")
    assert (first["id"], first["outcome"], first["text"][:12]) == ("", "faulty", "no request: ")
    assert second["outcome"] == "unsupported"


def test_serve_leaves_out_the_rest_of_a_line_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wireproof.adapters.message_framing.Most", partial(Most, 1000))
    monkeypatch.setattr("wireproof.adapters.serve.READ", 100)
    first, second = _served(b"x" * 5000 + b"\n" + json.dumps(toy_line("2", b"unsupported")).encode() + b"\n")
    assert first["text"].startswith("no request: line 1: a message of 3100 bytes or more")
    assert second["outcome"] == "unsupported"


def test_serve_stops_at_a_frame_that_is_none() -> None:
    with pytest.raises(MessageError, match="no frame"):
        serve("py:toy_codecs:Toy", "exec", io.BytesIO(b"\xff" * 8), io.BytesIO())


def _served(data: bytes, spec: str = "py:toy_codecs:Toy") -> list[Any]:
    stdout = io.BytesIO()
    serve(spec, "jsonl", io.BytesIO(data), stdout)
    return [json.loads(line) for line in stdout.getvalue().splitlines()]


def test_serve_relays_a_process_and_outlives_it() -> None:
    hello, first, second = served(
        f"{FAULTY} obeys-bytes", HELLO, toy_line("1", b"segfault"), toy_line("2", b"ok")
    )
    assert hello["hello"]["name"] == "faulty"
    assert (first["outcome"], "SIGSEGV" in first["text"]) == ("crashed", True)
    assert second["value"] == {"hex": b"ok".hex()}


def test_a_served_adapter_is_an_adapter_again() -> None:
    program = (
        "import sys; from wireproof.adapters.serve import serve; "
        "serve('py:toy_codecs:Toy', '{wire}', sys.stdin.buffer, sys.stdout.buffer)"
    )
    for wire in ("exec", "jsonl"):
        command = f'{sys.executable} -c "{program.format(wire=wire)}"'
        search = os.pathsep.join(path for path in sys.path if path)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", search)
            controller = open_adapter(f"{wire}:{command}")
        assert ask(controller, request("value")) == toy_codecs.Toy().value()
        controller.close()


# --- the reference ---


def test_the_reference_claims_every_row_of_the_table() -> None:
    hello = Caller(Reference()).hello
    assert hello.revisions.keys() == FORMATS.keys()
    assert (hello.errors, hello.window) == ("exact", 64)
    for format_id, row in FORMATS.items():
        ops = hello.revisions[format_id].ops
        assert ops is not None
        assert ("scan" in ops) == (row.scan is not None)


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

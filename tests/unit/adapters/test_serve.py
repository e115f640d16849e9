"""The verb `serve`: any adapter as one that speaks lines."""

import io
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import toy_codecs
from each import each
from folders import SUPPORT

from wireproof.adapters.message_framing import Most
from wireproof.adapters.serve import serve

FAULTY = f"exec:{sys.executable} -S -E {SUPPORT / 'faulty_adapter.py'}"


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


@each(
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


def test_a_module_in_the_working_directory_is_found_as_by_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The installed command has its own folder on the search path, not the one where it is typed."""
    (tmp_path / "served_from_here.py").write_text("from toy_codecs import Toy\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    (hello,) = served("py:served_from_here:Toy", HELLO)
    assert hello["hello"]["name"] == toy_codecs.Toy().name

"""`adapters probe` on templates with one wrong claim each: what it finds, and how that is repaired."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Command

from wireproof.adapters.registry.peers import templates_folder
from wireproof.run.probe import ProbeResult, fix_of

TEMPLATE = (templates_folder() / "python" / "adapter.py").read_text(encoding="utf-8")
CLAIM = '"iggy.identifier/0.8": {"ops": ["decode", "encode"]'
SHOWN = '{"kind": kind, "value": content.hex()}'


def claiming(more: str) -> tuple[str, str]:
    return CLAIM, f"{CLAIM}, {more}"


FRESH = """
SEEN = set()


def fresh(data):
    if data in SEEN:
        return b""
    SEEN.add(data)
    return data


"""
"""Bytes that were asked before are not seen again."""

WRONG = {
    "an edition that is none": (
        ('"iggy.identifier/0.8"', '"iggy.identifier/0.08"'),
        'revisions: unknown name "iggy.identifier/0.08"',
        'write "iggy.identifier/0.8", or remove it',
    ),
    "a codec that is none": (
        claiming('"codecs": ["none", "gziped"]'),
        'codecs of iggy.identifier/0.8: unknown name "gziped"',
        'write "gzip", or remove it',
    ),
    "a field that is none": (
        claiming('"observes": ["kind", "valeu"]'),
        'observes of iggy.identifier/0.8: unknown name "valeu"',
        'write "value", or remove it',
    ),
    "a field that is never shown": (
        (f"return {SHOWN}", 'return {"kind": kind}', *claiming('"observes": ["kind", "value"]')),
        'iggy.identifier/0.8: observes "value", which none of its ',
        'return it, or remove it from "observes" of iggy.identifier/0.8',
    ),
    "classes of its own": (
        ('RefusedError("bad-kind"', 'RefusedError("bad-magic"'),
        "errors: exact, and 5 of 22 refusals have another class, such as iggy.identifier/0.0.30/identifier/",
        'map its errors to these classes, or claim "coarse"',
    ),
    "a memory of what was asked": (
        (
            "    if not data:",
            "    data = fresh(data)\n    if not data:",
            "def is_utf8(",
            f"{FRESH}def is_utf8(",
        ),
        "window: 64, and",
        'claim "window": 1, or make requests independent',
    ),
}
"""Changes of the template, in pairs; what the probe reports; how to fix it."""

LESS = {
    "a field that is shown and not claimed": (
        claiming('"observes": ["kind"]'),
        "iggy.identifier/0.8: returns value correctly and does not observe it",
        'add it to "observes" of iggy.identifier/0.8: until then it is not compared',
    ),
    "classes that are right, and said to be coarse": (
        ('ERRORS = "exact"', 'ERRORS = "coarse"'),
        "errors: coarse, and the classes of all",
        'claim "exact"',
    ),
    "a refusal that is an accident": (
        ("if kind is None:", "if False:", "if length == 0", 'if kind + "" == "" or length == 0'),
        "refusals are no error that the codec documents, such as iggy.identifier/0.0.30/identifier/kind-",
        "raise what it documents in their place",
    ),
}


def template(folder: Path, changes: tuple[str, ...]) -> str:
    text = TEMPLATE
    for right, wrong in zip(changes[::2], changes[1::2], strict=True):
        assert text.count(right) == 1, right
        text = text.replace(right, wrong)
    (folder / "adapter.py").write_text(text, encoding="utf-8")
    return f"exec:{sys.executable} -S -E {folder / 'adapter.py'}"


def probed(wireproof: Command, folder: Path, changes: tuple[str, ...]) -> tuple[int, list[str]]:
    done = wireproof("adapters", "probe", template(folder, changes), "--run", "iggy.identifier/**")
    assert done.err == ""
    return done.code, done.out.splitlines()


def test_a_template_claims_what_it_does(wireproof: Command, tmp_path: Path) -> None:
    code, lines = probed(wireproof, tmp_path, ())
    assert code == 0
    assert lines[0].endswith(" cases, 0 findings")
    assert all(line.startswith("as claimed: ") for line in lines[1:])
    assert not [line for line in lines if "fix:" in line]


@pytest.mark.parametrize("name", WRONG)
def test_a_claim_that_does_not_hold_is_reported_with_its_fix(
    wireproof: Command, tmp_path: Path, name: str
) -> None:
    changes, text, fix = WRONG[name]
    code, lines = probed(wireproof, tmp_path, changes)
    reported = [number for number, line in enumerate(lines) if line.startswith(f"does not hold: {text}")]
    assert reported, lines
    assert lines[reported[0] + 1].startswith(f"  fix: {fix}")
    assert code == 1


@pytest.mark.parametrize("name", LESS)
def test_a_claim_that_declares_too_little_is_reported_and_fails_nothing(
    wireproof: Command, tmp_path: Path, name: str
) -> None:
    changes, text, fix = LESS[name]
    code, lines = probed(wireproof, tmp_path, changes)
    reported = [
        number for number, line in enumerate(lines) if line.startswith("declares less") and text in line
    ]
    assert reported, lines
    assert lines[reported[0] + 1].startswith(f"  fix: {fix}")
    assert code == 0 or name.startswith("a refusal")


def test_what_works_and_is_not_claimed_is_to_be_claimed_but_only_if_all_of_it_works() -> None:
    half = ProbeResult("f/r", "codec", "gzip", claimed=False, works=True, asked=17, right=4)
    whole = ProbeResult("f/r", "codec", "gzip", claimed=False, works=True, asked=17, right=17)
    over = ProbeResult("f/r", "op", "scan", claimed=True, works=False)
    assert fix_of(whole).startswith('add "gzip" to "codecs" of f/r')
    assert fix_of(half).startswith("refuse it")
    assert fix_of(over) == 'leave "scan" out of "ops" of f/r, or fix the codec', "a list may be missing"


BATCHES = """
from wireproof import formats
from wireproof.adapters import Accepted, Rejected
from wireproof.wire.json_values import to_json

V2 = formats.get("kafka.batch", "v2")


class Mine:
    name, version, errors = "mine", "1.0", "exact"
    revisions = {"kafka.batch/v2": {"ops": ["decode"]}}

    def decode(self, request):
        read = formats.decode(V2, request.data, request.options)
        value = to_json(read.value)
        CHANGE
        return Accepted(value=value, consumed=read.consumed)
"""
"""A codec of batches, with a place for a fault."""

BATCH_CASES = [word for topic in ("batch", "gzip", "lz4") for word in ("--run", f"kafka.batch/v2/{topic}/*")]


@pytest.fixture
def probed_batches(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], tuple[int, list[str]]]:
    """Run the probe on the codec of batches with a fault."""

    def run(change: str) -> tuple[int, list[str]]:
        (tmp_path / "faulty_batches.py").write_text(BATCHES.replace("CHANGE", change), encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        done = wireproof("adapters", "probe", "py:faulty_batches:Mine", *BATCH_CASES)
        return done.code, done.out.splitlines()

    return run


def starting(lines: list[str], begin: str) -> list[int]:
    return [number for number, line in enumerate(lines) if line.startswith(begin)]


def test_a_forgotten_field_is_named_first_and_no_claim_is_to_be_withdrawn_for_it(
    probed_batches: Callable[[str], tuple[int, list[str]]],
) -> None:
    code, lines = probed_batches("[one.pop('attributes') for one in value['records']]")
    assert code == 1
    assert re.match(r"most failures, \d+ cases: fail:wrong-value at records\[\].attributes, such", lines[1])
    assert lines[2:4] == ['  want records[0].attributes = "0"', "  got  records[0].attributes = (none)"]
    for codec in ("gzip", "lz4"):
        assert starting(lines, f"claimed and fails: kafka.batch/v2 codec {codec}: 0 of ")
    assert not starting(lines, "as claimed: kafka.batch/v2 op")
    assert not [line for line in lines if "remove" in line]
    fix = "  fix: keep the claim and mend the codec: the cases that need nothing else fail too"
    assert lines.count(fix) == 1

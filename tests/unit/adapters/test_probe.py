"""`adapters probe` on templates with one wrong claim each: what it finds, and how that is repaired."""

import sys
from pathlib import Path

import pytest
from command_line import Command

from wireproof.adapters.packaged_folders import templates_folder
from wireproof.adapters.probe import ProbeResult, fix_of, paths

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
    half = ProbeResult("f/r", "codec", "gzip", claimed=False, works=True, asked=17, accepted=4)
    whole = ProbeResult("f/r", "codec", "gzip", claimed=False, works=True, asked=17, accepted=17)
    over = ProbeResult("f/r", "op", "scan", claimed=True, works=False)
    assert fix_of(whole).startswith('add "gzip" to "codecs" of f/r')
    assert fix_of(half).startswith("refuse it")
    assert fix_of(over) == 'remove "scan" from "ops" of f/r, or fix the codec'


def test_the_leaves_of_a_value_are_named_as_observes_names_them() -> None:
    assert paths({"a": "1", "b": [{"c": None}, {"d": []}]}) == {"a", "b[].c"}

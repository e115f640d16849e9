"""`adapters probe` on templates with one wrong claim each: what it finds, and how that is repaired."""

import sys
from pathlib import Path

import pytest
from command_line import Command

from wireproof.adapters.advice import mend_of, paths
from wireproof.adapters.packaged import templates_folder
from wireproof.adapters.probe import Finding

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
        'revisions: nothing is called "iggy.identifier/0.08"',
        'write "iggy.identifier/0.8", or take it out',
    ),
    "a codec that is none": (
        claiming('"codecs": ["none", "gziped"]'),
        'codecs of iggy.identifier/0.8: nothing is called "gziped"',
        'write "gzip", or take it out',
    ),
    "a field that is none": (
        claiming('"observes": ["kind", "valeu"]'),
        'observes of iggy.identifier/0.8: nothing is called "valeu"',
        'write "value", or take it out',
    ),
    "a field that is never shown": (
        (f"return {SHOWN}", 'return {"kind": kind}', *claiming('"observes": ["kind", "value"]')),
        'iggy.identifier/0.8: observes "value", which is in none of 3 values that it gave',
        'deliver it, or take it out of "observes" of iggy.identifier/0.8',
    ),
    "classes of its own": (
        ('RefusedError("bad-kind"', 'RefusedError("bad-magic"'),
        "errors: exact, and 4 of 21 refusals have another class, such as iggy.identifier/0.0.30/identifier/",
        'map its errors to these classes, or say "coarse"',
    ),
    "a memory of what was asked": (
        (
            "    if not data:",
            "    data = fresh(data)\n    if not data:",
            "def is_utf8(",
            f"{FRESH}def is_utf8(",
        ),
        "window: 64, and",
        'say "window": 1, or keep requests apart',
    ),
}
"""What is changed in the template, in pairs; what the probe says; how it is mended."""

LESS = {
    "a field that is shown and not claimed": (
        claiming('"observes": ["kind"]'),
        "iggy.identifier/0.8: shows value as it should and does not observe it",
        'add it to "observes" of iggy.identifier/0.8: until then nobody compares it',
    ),
    "classes that are right, and said to be coarse": (
        ('ERRORS = "exact"', 'ERRORS = "coarse"'),
        "errors: coarse, and the classes of all",
        'say "exact"',
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
    assert not [line for line in lines if "mend:" in line]


@pytest.mark.parametrize("name", WRONG)
def test_a_claim_that_does_not_hold_is_told_with_its_mend(
    wireproof: Command, tmp_path: Path, name: str
) -> None:
    changes, text, mend = WRONG[name]
    code, lines = probed(wireproof, tmp_path, changes)
    told = [number for number, line in enumerate(lines) if line.startswith(f"does not hold: {text}")]
    assert told, lines
    assert lines[told[0] + 1].startswith(f"  fix: {mend}")
    assert code == 1


@pytest.mark.parametrize("name", LESS)
def test_a_claim_that_says_too_little_is_told_and_fails_nothing(
    wireproof: Command, tmp_path: Path, name: str
) -> None:
    changes, text, mend = LESS[name]
    code, lines = probed(wireproof, tmp_path, changes)
    told = [number for number, line in enumerate(lines) if line.startswith("declares less") and text in line]
    assert told, lines
    assert lines[told[0] + 1].startswith(f"  fix: {mend}")
    assert code == 0 or name.startswith("a refusal")


def test_what_works_and_is_not_claimed_is_to_be_claimed_but_only_if_all_of_it_works() -> None:
    half = Finding("f/r", "codec", "gzip", claimed=False, works=True, asked=17, accepted=4)
    whole = Finding("f/r", "codec", "gzip", claimed=False, works=True, asked=17, accepted=17)
    over = Finding("f/r", "op", "scan", claimed=True, works=False)
    assert mend_of(whole).startswith('add "gzip" to "codecs" of f/r')
    assert mend_of(half).startswith("refuse it")
    assert mend_of(over) == 'take "scan" out of "ops" of f/r, or mend the codec'


def test_the_leaves_of_a_value_are_named_as_observes_names_them() -> None:
    assert paths({"a": "1", "b": [{"c": None}, {"d": []}]}) == {"a", "b[].c"}

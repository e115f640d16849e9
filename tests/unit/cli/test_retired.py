"""Verbs and options that are gone: one line says what replaces each, and no document has them."""

import re
from pathlib import Path

from command_line import Command
from each import each
from folders import TOP

from wireproof import cli
from wireproof.cli.common import general_options

PAGES = [
    TOP / "README.md",
    *(TOP / "reference" / "docs").glob("*.md"),
    *(path for folder in (".github", ".ci") for path in (TOP / folder).rglob("*") if path.is_file()),
]


@each("verb", general_options.VERBS)
def test_a_verb_that_is_gone_says_what_replaces_it(wireproof: Command, verb: str) -> None:
    done = wireproof(*verb.split(), "a", "--b")
    assert (done.code, done.one_line()) == (
        2,
        f"wireproof: there is no verb {verb} any more: {general_options.VERBS[verb]}",
    )
    assert verb not in cli.VERBS


@each("command, option", general_options.OPTIONS)
def test_an_option_that_is_gone_says_what_replaces_it(wireproof: Command, command: str, option: str) -> None:
    done = wireproof(*command.split(), option, "x", "y")
    line = f"wireproof: {command} has no option {option} any more: {general_options.OPTIONS[command, option]}"
    assert (done.code, done.one_line()) == (2, line)


@each("command", ["adapters probe", "baseline list", "cases", "check", "lint", "show"])
def test_an_option_that_stands_before_the_verb_now_says_so(wireproof: Command, command: str) -> None:
    done = wireproof(*command.split(), "--fixtures", "x", "y")
    where = f"`wireproof --fixtures DIR {command} …` has it before the verb"
    line = f"wireproof: {command} has no option --fixtures any more: {where}"
    assert (done.code, done.one_line()) == (2, line)
    done = wireproof("replay", "--timeout-scale", "2")
    assert "`wireproof --timeout-scale N replay …` has it before the verb" in done.one_line()


@each("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_no_document_has_what_is_gone(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not [verb for verb in general_options.VERBS if re.search(rf"wireproof {verb}\b", text)]
    options = general_options.OPTIONS
    typed = [row for row in options if re.search(rf"wireproof {row[0]}\b[^`\n]*{row[1]}(?![\w-])", text)]
    assert typed == []

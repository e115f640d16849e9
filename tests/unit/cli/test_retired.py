"""Verbs and options that are gone: one line says what replaces each, and no document has them."""

from command_line import Command
from each import each

from wireproof import cli
from wireproof.cli.common import general_options


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

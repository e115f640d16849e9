"""The words of the public interface: verbs, options, schemas and baseline files."""

from collections.abc import Iterator

import click
from each import each

from wireproof.cases.outcome import Crashed, Exhausted, Faulty
from wireproof.cli import VERBS, group
from wireproof.judge.differences import short_outcome


def commands() -> Iterator[tuple[str, click.Command, click.Context]]:
    top = click.Context(group, info_name="wireproof", **group.context_settings)
    for verb in VERBS:
        command = group.get_command(top, verb)
        assert command is not None
        context = click.Context(command, parent=top, info_name=verb)
        yield verb, command, context
        if isinstance(command, click.Group):
            for name, inner in command.commands.items():
                yield f"{verb} {name}", inner, click.Context(inner, parent=context, info_name=name)


ALL = {name: (command, context) for name, command, context in commands()}


@each("verb", ALL)
def test_every_option_with_a_default_shows_it_and_every_option_has_a_help_text(verb: str) -> None:
    command, context = ALL[verb]
    for option in (one for one in command.params if isinstance(one, click.Option)):
        record = option.get_help_record(context)
        assert record is not None
        assert option.help, option.name
        silent = option.default in (None, "", (), False) or "UNSET" in repr(option.default)
        if not (silent or (option.is_flag and not option.secondary_opts)):
            assert "default: " in record[1], option.name


def test_a_run_that_was_stored_has_one_name_in_all_verbs() -> None:
    names = {
        param.make_metavar(context).split("…")[0].strip("[].")
        for verb in ("report", "diff", "baseline add", "baseline fix")
        for command, context in [ALL[verb]]
        for param in command.params
        if isinstance(param, click.Argument) and param.name != "file"
    }
    assert names == {"RUN"}


@each(
    "outcome, text",
    [
        (Crashed("died with SIGSEGV"), "crashed: SIGSEGV"),
        (Exhausted("memory", "used 529 MiB; the limit is 512 MiB"), "used 529 MiB; the limit is 512 MiB"),
        (Exhausted("output"), "used too much output"),
        (Faulty("invalid answer: no outcome"), "invalid answer: no outcome"),
        (Faulty("its value is no JSON"), "invalid answer: its value is no JSON"),
    ],
)
def test_an_outcome_is_described_in_plain_words(outcome: Crashed | Exhausted | Faulty, text: str) -> None:
    assert short_outcome(outcome) == text

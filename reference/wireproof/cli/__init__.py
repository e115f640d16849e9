"""The command line: one module for each verb, which parses, calls and renders, and contains no other logic.

Every error that a user can cause is one line on stderr and an exit code of `run.exit_codes`.
"""

import gc
import importlib
import os
import sys
import traceback
from collections.abc import Mapping
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from wireproof import __version__
from wireproof.cli.common.general_options import fixtures_option, retired_option, retired_verb, scale_option
from wireproof.cli.common.standard_output import (
    ReaderGoneError,
    ended_by_signal,
    exit_of,
    guarded_output,
    interrupted,
    pipe_errors,
    rare_collections,
)
from wireproof.files import cache_folder
from wireproof.run.exit_codes import Exit
from wireproof.suggestions import suggestion
from wireproof.wire.text import one_line

ARGUMENTS: Final = "wireproof.arguments"
"""The key of click's `meta` under which the words of the command line are kept."""

MAX_ERROR_LINE: Final = 2000
"""Characters of the line of an error."""

VERBS: Final[Mapping[str, str]] = {
    "adapters": "list adapters and what is missing to run each; build drivers; probe claims",
    "baseline": "add to, fix, extend or check a file of known failures",
    "cases": "list the cases, or the named sets of cases",
    "check": "check codecs against the cases",
    "diff": "compare runs: what broke, and in which version",
    "explain": "print the fields of any bytes, and what is wrong with them",
    "export": "write the cases as JSON lines and raw files; seeds for other fuzzers",
    "fuzz": "fuzz a codec, guided by coverage, or several with generated cases on Spark",
    "interop": "let every codec read what every other codec wrote",
    "lint": "check the fixtures and rules",
    "promote": "turn a finding into a fixture",
    "replay": "judge one case again",
    "report": "render a run: terminal, JUnit, Markdown, HTML",
    "salvage": "write the sound records of damaged logs, and the list of what is lost",
    "scan": "scan archives on Spark for frames that are refused or that codecs read differently",
    "serve": "serve an adapter on stdin and stdout",
    "show": "show a case, a folder of cases, a rule or a format; without a name, all formats",
    "shrink": "make a failing case as small as possible",
}
"""Every verb, which is the name of its module, with its description."""


class Verbs(click.Group):
    """The group of all verbs; it imports the module of a verb only when that verb is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:  # noqa: ARG002 - as above
        """Return the command of a verb; raises `click.UsageError` with a suggestion for another word."""
        if cmd_name not in VERBS:
            near = suggestion(cmd_name, VERBS, "run `wireproof --help` for the list")
            raise click.UsageError(retired_verb(cmd_name) or f"there is no verb {cmd_name}: {near}")
        with rare_collections():
            command: click.Command = importlib.import_module(f"wireproof.cli.{cmd_name}").command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the verbs and the general options that begin with `incomplete`."""
        verbs = (
            CompletionItem(verb, help=about) for verb, about in VERBS.items() if verb.startswith(incomplete)
        )
        return [*verbs, *click.Command.shell_complete(self, ctx, incomplete)]

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **named: Any) -> click.Context:  # noqa: ANN401 - click's arguments
        """Make click's context with the words of the command line; `--help` and `--version` print here."""
        words = tuple(args)
        with pipe_errors():
            context = super().make_context(info_name, args, *more, **named)
        context.meta[ARGUMENTS] = words
        return context

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as above
        """Invoke the verb as click does; a closed pipe raises `ReaderGoneError`."""
        with pipe_errors():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, prog_name="wireproof")
@fixtures_option
@scale_option
def group(**_: Any) -> None:  # noqa: ANN401 - the verbs read them
    """Test whether a codec reads and writes Kafka, Iggy and Heka messages correctly."""
    # Hypothesis keeps constants that it found in programs; not in a folder where somebody types a command
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(cache_folder() / "hypothesis"))


def main() -> None:
    run(group, "wireproof")


def run(command: click.Command, name: str) -> None:
    """Run a command on `sys.argv` and exit: an error that a user can cause is one line on stderr."""
    with guarded_output():
        try:
            with ended_by_signal(), pipe_errors():
                code = command.main(prog_name=name, standalone_mode=False)
        except click.exceptions.Exit as leaving:
            code = leaving.exit_code
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            code = Exit.USAGE
        except click.ClickException as error:
            message = retired_option(error) or error.format_message()
            click.echo(f"wireproof: {one_line(message, MAX_ERROR_LINE)}", err=True)
            code = Exit.USAGE
        except (click.Abort, KeyboardInterrupt) as error:
            code = interrupted(error)
        except ReaderGoneError:
            raise
        except Exception as error:  # noqa: BLE001 - what no row knows is a bug of ours, and ends as one
            code = exit_of(error)
            if code is None:
                traceback.print_exception(error)
                click.echo("wireproof: a bug of the suite: please report the lines above", err=True)
                code = Exit.SUITE
            else:
                click.echo(f"wireproof: {one_line(str(error), MAX_ERROR_LINE)}", err=True)
        finally:
            gc.freeze()  # a last search for cycles in all modules takes an eighth of a short command
        sys.exit(code if isinstance(code, int) else 0)

"""`wireproof promote`: a finding becomes a fixture."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import click

from wireproof.adapters.registry.registry import is_registered
from wireproof.cases.fixtures import Suite, fixtures_folder, load
from wireproof.cli.case_names import find_named
from wireproof.fuzz.promote import Difference, likeliest, promote
from wireproof.fuzz.redaction_check import redact_case
from wireproof.judge.differences import short_expect
from wireproof.suggestions import suggestion
from wireproof.wire.text import escape_unsafe


@click.command("promote")
@click.argument("given", metavar="TOKEN|ID|DIR#FINDING|#N")
@click.option("--to", type=click.Path(file_okay=False, path_type=Path),
              help="the folder of fixtures  [default: those of the package]")  # fmt: skip
@click.option(
    "--name", default="", show_default=False, help="the end of the id: topic/name, or the name alone"
)
@click.option("--why", default="", show_default=False, help="the damage that a wrong codec does in practice")
@click.option("--rule", default="", show_default=False, metavar="RULE",
              help="the rule; without it a terminal asks where several fit")  # fmt: skip
@click.option(
    "--redact",
    is_flag=True,
    help="replace the payload by filler of its length; the case must still fail as before",
)
@click.option("--adapter", default="", show_default=False, metavar="ADAPTER",
              help="with --redact: adapter whose verdict must not change (DIR#FINDING names it)")  # fmt: skip
def command(given: str, to: Path | None, rule: str, redact: bool, adapter: str, **words: str) -> None:
    """Write the case of a TOKEN as a fixture, with a twin, a proposed rule and its origin.

    DIR#FINDING is a finding of `fuzz` or `scan`, by its name or a part of its line; #N is the Nth
    finding that the last `check` printed, and RUN.jsonl#N that of a stream.
    """
    target = to or fixtures_folder()
    suite = load((target,) if target.is_dir() else ())
    found = find_named(suite, given)
    case = found.case
    if redact:
        signature = found.signature if adapter in {"", found.adapter} else None
        case = redact_case(case, adapter or _trusted(found.adapter, given), signature)
    sign = found.signature
    difference = Difference(sign.kind, sign.path, found.want, found.got) if sign else Difference()
    promoted = promote(
        case, suite, target, words["name"], words["why"], difference=difference, choose=_chooser(suite, rule)
    )
    click.echo(f"{promoted.case.id}: {short_expect(promoted.case.expect)}")
    click.echo(f"title {escape_unsafe(promoted.case.title)}")
    click.echo(f"rule  {', '.join(promoted.case.rules)}")
    if others := [name for name in promoted.fitting if name not in promoted.case.rules]:
        click.echo(f"also  {', '.join(others)} fit this place: name one with --rule")
    if promoted.case.twin:
        click.echo(f"twin  {promoted.case.twin}{' (made)' if promoted.twin else ''}")
    for path in promoted.files:
        click.echo(f"wrote {path}")


def _chooser(suite: Suite, rule: str) -> Callable[[tuple[str, ...]], str]:
    """Return the function that chooses a rule: the named one, or what the user answers, or the likeliest.

    Raises `click.UsageError` for a rule that does not exist.
    """
    if rule and rule not in suite.rules:
        advice = "`wireproof show CASE` names the rule of a case"
        raise click.UsageError(f"there is no rule {rule}: {suggestion(rule, suite.rules, advice)}")

    def choose(fitting: tuple[str, ...]) -> str:
        if rule:
            return rule
        if len(fitting) < 2 or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return likeliest(fitting)
        for number, name in enumerate(fitting, 1):
            click.echo(f"{number}  {name}: {suite.rules[name].text}")
        number = click.prompt("Which rule", type=click.IntRange(1, len(fitting)), default=1)
        return fitting[int(number) - 1]

    return choose


def _trusted(spec: str, given: str) -> str:
    """Return the adapter of a finding; raises `click.UsageError` for a command that only a file names.

    `#N` is of a check on this machine. Every other file may come from somebody else.
    """
    if spec and not given.startswith("#") and not is_registered(spec):
        named = escape_unsafe(shlex.quote(spec))
        raise click.UsageError(
            f"the finding names {named}, which would be started here: add --adapter {named} if you trust it"
        )
    return spec

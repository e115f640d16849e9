"""`wireproof promote`: a finding becomes a fixture."""

from pathlib import Path

import click

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite, folder, load
from wireproof.cli.show import wanted
from wireproof.fuzz.promote import promote
from wireproof.fuzz.redaction import redacted
from wireproof.trial.show import short_expect
from wireproof.trial.signature import Signature

EXTRA = "a sample of a table needs further packages: pip install 'wireproof[spark]'"


@click.command("promote")
@click.argument("given", metavar="TOKEN|ID|DIR#FINDING")
@click.option("--to", type=click.Path(file_okay=False, path_type=Path),
              help="the folder of fixtures; without it, those of the package")  # fmt: skip
@click.option("--name", default="", help="the end of the id: topic/name, or the name alone")
@click.option("--why", default="", help="what breaks in the field when this is wrong")
@click.option(
    "--redact", is_flag=True, help="payload becomes filler of the same length; it must still fail alike"
)
@click.option("--adapter", default="", help="with --redact, whose verdict stays; of DIR#FINDING it is known")
def command(given: str, to: Path | None, redact: bool, adapter: str, **words: str) -> None:
    """Write the case of a TOKEN as a fixture, with a twin, a proposed rule and where it came from.

    DIR#FINDING is a sample of a scan or a campaign: the folder of its tables, and the finding's name there.
    """
    target = to or folder()
    suite = load((target,) if target.is_dir() and target.resolve() != folder().resolve() else ())
    case, theirs, said = _case(suite, given)
    if redact:
        case = redacted(case, adapter or theirs, None if adapter else said)
    promoted = promote(case, suite, target, words["name"], words["why"])
    click.echo(f"{promoted.case.id}: {short_expect(promoted.case.expect)}")
    click.echo(f"rule  {', '.join(promoted.case.rules)}{' (new: word it)' if promoted.rules else ''}")
    if promoted.case.twin:
        click.echo(f"twin  {promoted.case.twin}{' (made)' if promoted.twin else ''}")
    for path in promoted.files:
        click.echo(f"wrote {path}")


def _case(suite: Suite, given: str) -> tuple[Case, str, Signature | None]:
    """The case, and of a sample its adapter and signature; of the reference's samples neither."""
    if "#" not in given:
        return wanted(suite, given), "", None
    try:
        from wireproof.spark.sampled import sampled  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise click.ClickException(f"{EXTRA} ({error})") from None
    sample = sampled(given)
    return sample.case, sample.adapter, sample.signature if sample.adapter else None

"""`wireproof promote`: a finding becomes a fixture."""

from pathlib import Path

import click

from wireproof.cases.fixtures import folder, load
from wireproof.cli.show import wanted
from wireproof.fuzz.promote import promote
from wireproof.trial.show import short_expect


@click.command("promote")
@click.argument("name", metavar="TOKEN|ID")
@click.option("--to", type=click.Path(file_okay=False, path_type=Path),
              help="the folder of fixtures; without it, those of the package")  # fmt: skip
@click.option("--name", "called", default="", help="the end of the id: topic/name, or the name alone")
@click.option("--why", default="", help="what breaks in the field when this is wrong")
def command(name: str, to: Path | None, called: str, why: str) -> None:
    """Write the case of a TOKEN as a fixture, with a twin, a proposed rule and where it came from."""
    target = to or folder()
    suite = load((target,) if target.is_dir() and target.resolve() != folder().resolve() else ())
    promoted = promote(wanted(suite, name), suite, target, called, why)
    click.echo(f"{promoted.case.id}: {short_expect(promoted.case.expect)}")
    click.echo(f"rule  {', '.join(promoted.case.rules)}{' (new: word it)' if promoted.rules else ''}")
    if promoted.case.twin:
        click.echo(f"twin  {promoted.case.twin}{' (made)' if promoted.twin else ''}")
    for path in promoted.files:
        click.echo(f"wrote {path}")

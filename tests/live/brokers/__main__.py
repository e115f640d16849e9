"""Start a broker on 127.0.0.1 from the package registries: `python -m tests.live.brokers start NAME`.

The first line on stdout is the address, once the broker listens. The broker ends with Ctrl-C, with SIGTERM,
and with the process that started it; its folder is removed.
"""

import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from tests.live.brokers.table import BROKERS
from tests.live.judging import stay
from wireproof.adapters.errors import AdapterStartError


@click.group(help=__doc__)
def main() -> None:
    """Group the commands."""


@main.command("list")
def list_brokers() -> None:
    """List the brokers."""
    for name, broker in BROKERS.items():
        click.echo(f"{name:20} {broker.version:18} {broker.note}")


@main.command()
@click.argument("name", type=click.Choice(list(BROKERS)))
@click.option("--port", default=0, help="The port; 0 is any free one.")
@click.option("--minutes", type=float, help="Run so long, even if the process that started it ends.")
def start(name: str, port: int, minutes: float | None) -> None:
    """Start a broker and print its address."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with (
            TemporaryDirectory(prefix="wireproof-broker-", ignore_cleanup_errors=True) as folder,
            BROKERS[name].running(Path(folder), port) as address,
        ):
            stay(address, minutes)
    except (AdapterStartError, ValueError, RuntimeError) as error:
        raise click.ClickException(f"{name} does not start: {error}") from None


if __name__ == "__main__":
    main()

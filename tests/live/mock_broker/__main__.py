"""Start a mock broker on 127.0.0.1: `python -m tests.live.mock_broker start [FAULT]`.

The first line on stdout is the address. It ends with Ctrl-C and with the process that started it.
"""

import click

from tests.live.judging import stay
from tests.live.mock_broker.faults import FAULTS, KILLED_BY
from tests.live.mock_broker.server import Kind, running


@click.group(help=__doc__)
def main() -> None:
    """Group the commands."""


@main.command("list")
def list_faults() -> None:
    """List the faults, each with the case that finds it."""
    for name in sorted(FAULTS):
        click.echo(f"{name:34} {KILLED_BY[name]}")


@main.command()
@click.argument("fault", type=click.Choice(list(FAULTS)), required=False)
@click.option("--port", default=0, help="The port; 0 is any free one.")
@click.option("--minutes", type=float, help="Run so long, even if the process that started it ends.")
@click.option("--expiring", is_flag=True, help="Forget idle producers soon.")
@click.option("--converting", is_flag=True, help="Take Fetch 0 to 3, and return messages for them.")
def start(fault: str | None, port: int, minutes: float | None, *, expiring: bool, converting: bool) -> None:
    """Start a mock broker, without a fault or with one, and print its address."""
    with running(fault, port, Kind(expiring, converting)) as address:
        stay(address, minutes)


if __name__ == "__main__":
    main()

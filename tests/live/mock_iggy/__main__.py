"""Start a mock server of Iggy on 127.0.0.1: `python -m tests.live.mock_iggy [FAULT]`, or `--http`.

The first line on stdout is the address. It ends with Ctrl-C and with the process that started it.
"""

import click

from tests.live.judging import stay
from tests.live.mock_iggy import http
from tests.live.mock_iggy.faults import FAULTS
from tests.live.mock_iggy.server import running


@click.command(help=__doc__)
@click.argument("fault", type=click.Choice(list(FAULTS)), required=False)
@click.option("--port", default=0, help="The port; 0 is any free one.")
@click.option("--delay", default=0.0, help="Seconds before each answer.")
@click.option("--http", "by_http", is_flag=True, help="over HTTP, without a fault")
def main(fault: str | None, port: int, delay: float, *, by_http: bool) -> None:
    """Start a mock server, without a fault or with one, and print its address."""
    with http.running(port=port) if by_http else running(fault or "", port=port) as server:
        server.delay = delay
        stay(server.address)


if __name__ == "__main__":
    main()

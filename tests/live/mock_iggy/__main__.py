"""Start a mock server of Iggy on 127.0.0.1: `python -m tests.live.mock_iggy [FAULT]`, or `--http`.

The first line on stdout is the address. It ends with Ctrl-C and with the process that started it.
"""

import os
import time

import click

from tests.live.mock_iggy import http
from tests.live.mock_iggy.faults import FAULTS
from tests.live.mock_iggy.server import running

LOOK_SECONDS = 0.5


@click.command(help=__doc__)
@click.argument("fault", type=click.Choice(list(FAULTS)), required=False)
@click.option("--http", "by_http", is_flag=True, help="over HTTP, without a fault")
def main(fault: str | None, *, by_http: bool) -> None:
    """Start a mock server, without a fault or with one, and print its address."""
    parent = os.getppid()
    with http.running() if by_http else running(fault or "") as server:
        click.echo(server.address)
        while os.getppid() == parent:
            time.sleep(LOOK_SECONDS)


if __name__ == "__main__":
    main()

"""`wireproof serve`: serve an adapter on stdin and stdout, over the adapter contract."""

import sys
from typing import TYPE_CHECKING, cast

import click

from wireproof.adapters.serve import serve

if TYPE_CHECKING:
    from wireproof.adapters.registry_entry import Wire


@click.command("serve")
@click.argument("adapter")
@click.option(
    "--wire", type=click.Choice(["exec", "jsonl"]), default="exec", help="frames, or JSON lines with hex"
)
def command(adapter: str, wire: str) -> None:
    """Serve ADAPTER until stdin ends: `wireproof serve reference --wire jsonl`."""
    serve(adapter, cast("Wire", wire), sys.stdin.buffer, sys.stdout.buffer)

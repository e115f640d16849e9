"""A notice on stderr for each driver that must be built before an adapter can answer: it may take minutes."""

from collections.abc import Iterable
from contextlib import suppress

import click

from wireproof.adapters.errors import AdapterError
from wireproof.adapters.readiness import ready
from wireproof.adapters.registry import resolve


def announce_builds(specs: Iterable[str]) -> None:
    """Name the registered adapters of `specs` whose driver is built now, because it was not built before."""
    for spec in specs:
        with suppress(AdapterError):  # the start of the adapter reports it
            entry = resolve(spec)
            if entry.prepare is not None and ready(entry).state == "not built":
                click.echo(f"{spec}: building its driver, which is done once and may take minutes", err=True)

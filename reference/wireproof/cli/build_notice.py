"""A notice on stderr for each driver that must be built before an adapter can answer: it may take minutes."""

from collections.abc import Iterable

import click

from wireproof.adapters.readiness import ready
from wireproof.adapters.registry import entries


def announce_builds(specs: Iterable[str]) -> None:
    """Name the registered adapters of `specs` whose driver is built now, because it was not built before."""
    names = [spec for spec in specs if ":" not in spec]
    known = entries() if names else {}
    for name in names:
        entry = known.get(name)
        if entry is not None and entry.prepare is not None and ready(entry).state == "not built":
            click.echo(f"{name}: building its driver, which is done once and may take minutes", err=True)

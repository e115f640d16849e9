"""Adapters that are running servers: their entries, and the removal of what a run may leave on them."""

import os
import subprocess
from importlib.util import find_spec
from typing import Final

import click

from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.registry_entry import Entry
from wireproof.family import object_at
from wireproof.formats import FAMILIES
from wireproof.install_hint import install_command

CLEANUP_SECONDS: Final = 60.0


def entry_of_server(spec: str) -> Entry | None:
    """Return the entry of a server `kind:HOST:PORT` or a client program; None if no family has this kind.

    Raises:
        UnknownAdapter: the rest of `spec` is no address or command.
    """
    kind = spec.partition(":")[0]
    places = (family.servers.get(kind) for family in FAMILIES.values())
    place = next(filter(None, places), None)
    if place is None:
        return None
    entry: Entry = object_at(place)(spec)
    return entry


def check_modules(entry: Entry) -> None:
    """Raise `AdapterStartError` with the command to install a module that the process of `entry` needs."""
    if any(find_spec(name) is None for name in entry.modules):
        raise AdapterStartError(f"{entry.name} needs further packages: {install_command(entry.extra)}")


def clean_up(entry: Entry) -> None:
    """Run the cleanup of an entry, in a session of its own: it ends even if this process is killed."""
    if not entry.cleanup:
        return
    child = subprocess.Popen(  # noqa: S603 - a command of ours
        entry.cleanup,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **entry.environment},
        start_new_session=True,
    )
    try:
        _, text = child.communicate(timeout=CLEANUP_SECONDS)
    except subprocess.TimeoutExpired:
        text = f"its topics are still being removed after {CLEANUP_SECONDS:g} s"
    for line in text.splitlines()[-1:]:
        click.echo(f"wireproof: {entry.name}: {line}", err=True)

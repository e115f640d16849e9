"""Adapters that are running servers: their entries, and the removal of what a run may leave on them."""

import os
import secrets
import subprocess
import sys
from importlib.util import find_spec
from typing import Final

import click

from wireproof.adapters.broker_address import KIND, BrokerAddress
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.registry_entry import Entry
from wireproof.install_hint import install_command

KAFKA: Final = KIND

PROGRAMS: Final = "wireproof.kafka.family.live_broker"
"""The package of the programs `worker` and `cleanup`: it belongs to the family, so nothing imports it."""

START_SECONDS: Final = 60.0
"""Time limit of a hello, before which the first topic is created."""

CLEANUP_SECONDS: Final = 60.0
TOKEN_BYTES: Final = 8


def entry_of_broker(spec: str) -> Entry:
    """Return the entry of `kafka-broker:HOST:PORT[:FILE]`, for one run; raise `UnknownAdapter`."""
    BrokerAddress.of(spec)
    token = secrets.token_hex(TOKEN_BYTES)
    return Entry(
        spec,
        "a running Kafka broker",
        command=_python("worker", spec, token),
        cleanup=_python("cleanup", spec, token),
        environment={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        extra="broker",
        modules=("kafka",),
        formats=("kafka",),
        start_seconds=START_SECONDS,
    )


def _python(module: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", f"{PROGRAMS}.{module}", *arguments)


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

"""Adapters that are running servers: their entries, and the removal of what a run may leave on them."""

import os
import re
import secrets
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import Final, Protocol, Self

from attrs import evolve, frozen

from wireproof.adapters.errors import AdapterStartError, UnknownAdapter
from wireproof.adapters.registry.registered import Entry
from wireproof.cases.outcome import Accepted, Refused, Unsupported
from wireproof.family import object_at
from wireproof.formats import FAMILIES
from wireproof.install_hint import install_command

CLEANUP_SECONDS: Final = 60.0
PREFIX: Final = "wireproof-"
"""The beginning of every name on a server. Only what has it, and the token of a run, is ever deleted."""

TOKEN_BYTES: Final = 8

_NAME: Final = re.compile(rf"{PREFIX}([0-9a-f]{{{2 * TOKEN_BYTES}}})-")


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


_cleaning: list[subprocess.Popen[str]] = []
"""The processes that clean; one for which nobody waits goes on when this process has ended."""


def clean_up(entry: Entry, waits: bool = True) -> None:
    """Run the cleanup of an entry, in a session of its own: it ends even if this process is killed.

    What it could not remove is a line on stderr, and what it still removes when nobody waits any more, too.
    """
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
    text = f"what is named {PREFIX}{entry.cleanup[-2]}-… is still being removed; {cleaning(entry.name)}"
    _cleaning.append(child)
    try:
        if waits:
            _, text = child.communicate(timeout=CLEANUP_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:  # also after a second signal
        for line in text.splitlines()[-1:]:
            print(f"wireproof: {entry.name}: {line}", file=sys.stderr)  # noqa: T201 - a note to the user


def cleaning(spec: str) -> str:
    """Return where to look for what stayed on a server."""
    return f"`wireproof adapters clean {spec}` shows what stays"


def names_on(entry: Entry) -> list[str]:
    """Return the names of what runs left on a server, or still use there; raise `AdapterError`."""
    command = (*entry.command[:-1], "", "list")
    environment = {**os.environ, **entry.environment}
    try:
        done = subprocess.run(  # noqa: S603 - a command of ours
            command, capture_output=True, text=True, check=False, env=environment, timeout=CLEANUP_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise AdapterStartError(f"{entry.name} names nothing in {CLEANUP_SECONDS:g} s") from None
    if done.returncode:
        raise AdapterStartError(done.stderr.strip().rpartition("\n")[2])
    return done.stdout.split()


def runs_of(names: Iterable[str]) -> Mapping[str, int]:
    """Return the tokens of the runs that gave these names, and the number of each."""
    tokens = (_NAME.match(name) for name in names)
    return Counter(found[1] for found in tokens if found)


def left_by_others(spec: str, names: Iterable[str], things: str) -> tuple[str, ...]:
    """Return the note of a run about what other runs left on its server, or still use there."""
    others = runs_of(names)
    if not others:
        return ()
    prefixes = ", ".join(f"{PREFIX}{token}-…" for token in sorted(others)[:3])
    more = ", …" if len(others) > 3 else ""
    count = sum(others.values())
    return (f"{count} {things} of other runs are there, named {prefixes}{more}: {cleaning(spec)}",)


# --- the name of a live server, `KIND:HOST:PORT` or `KIND:HOST:PORT:FILE`, and its registry entry ---
#
# A family that has servers names its kinds, and the module of its program: `live.worker`. Its protocols may
# have a scheme before the host, such as `KIND:http://HOST:PORT`.

_PARTS: Final = re.compile(
    r"(?:(?P<scheme>[a-z]+)://)?(?P<host>\[[^\]]+\]|[^:/\[\]]+):(?P<port>\d{1,5})(?::(?P<file>.+))?"
)


@frozen
class ServerAddress:
    """Where a server listens.

    Attributes:
        host: a name or an address; one of IPv6 has brackets in the text and none here.
        port: its TCP port.
        properties: path of a properties file; empty without one.
        scheme: the protocol, such as `http`; empty: the first one of the server.
    """

    host: str
    port: int
    properties: str = ""
    scheme: str = ""

    @classmethod
    def of(cls, spec: str, schemes: tuple[str, ...] = ()) -> Self:
        """Return the address in `KIND:HOST:PORT[:FILE]`; raise `UnknownAdapter`.

        `schemes` are those that may be before the host.
        """
        kind, _, rest = spec.partition(":")
        found = _PARTS.fullmatch(rest)
        if found is None or not 0 < int(found["port"]) < 65536 or found["scheme"] not in (None, *schemes):
            forms = ("HOST:PORT", "HOST:PORT:FILE", *(f"{scheme}://HOST:PORT" for scheme in schemes))
            *others, last = (f"{kind}:{form}" for form in forms)
            raise UnknownAdapter(f"{spec}: a live server is written {', '.join(others)} or {last}")
        return cls(found["host"].strip("[]"), int(found["port"]), found["file"] or "", found["scheme"] or "")

    def __str__(self) -> str:
        """Return HOST:PORT, for messages."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def server_entry(entry: Entry, program: str, schemes: tuple[str, ...] = ()) -> Entry:
    """Return the entry of a live server for one run, with commands and a token; raise `UnknownAdapter`.

    `program` is the module of its process: `live.worker`.
    """
    ServerAddress.of(entry.name, schemes)
    command = (sys.executable, "-m", program, entry.name, secrets.token_hex(TOKEN_BYTES))
    paths = os.pathsep.join(path for path in sys.path if path)
    return evolve(
        entry,
        command=command,
        cleanup=(*command, "clean"),
        environment={"PYTHONPATH": paths},
        start_seconds=60.0,  # before a hello, the worker creates something on the server
    )


# --- a live server as the path between writers and readers: it gives back what it stored ---

Carried = Accepted | Refused | Unsupported
"""The stored bytes as `data`, empty if there are none in spite of the acknowledgement; the refusal of the
server; or why the server could not be asked."""


class Relay(Protocol):
    """A connected server.

    Attributes:
        name, version: of the server.
        assigned: the fields of a message that the server gives it.
        kept: by format and revision that it carries, the patterns of the fields that it must not change.
    """

    name: str
    version: str
    assigned: tuple[str, ...]
    kept: Mapping[str, tuple[str, ...]]

    def carry(self, format_id: str, messages: Iterable[bytes]) -> Iterator[Carried]:
        """Yield for each message what the server stored; several may be under way at once."""


def open_relay(spec: str) -> AbstractContextManager[Relay]:
    """Return the server that `spec` names, connected on entry, without a trace of us after it.

    Raises:
        UnknownAdapter: `spec` names no live server.
        AdapterStartError: it does not answer, or its client is not installed.
    """
    entry = entry_of_server(spec)
    if entry is None or not entry.relay:
        kinds = ", ".join(f"{kind}:HOST:PORT" for family in FAMILIES.values() for kind in family.servers)
        raise UnknownAdapter(f"{spec} is no server that carries messages; known: {kinds}")
    check_modules(entry)
    connect: AbstractContextManager[Relay] = object_at(entry.relay)(spec)
    return connect

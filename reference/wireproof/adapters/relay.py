"""A live server as the path between writers and readers: it is given bytes, and gives back what it stored."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from wireproof.adapters import live_servers
from wireproof.adapters.errors import UnknownAdapter
from wireproof.cases.outcome import Accepted, Refused, Unsupported
from wireproof.family import object_at
from wireproof.formats import FAMILIES

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
    entry = live_servers.entry_of_server(spec)
    if entry is None or not entry.relay:
        kinds = ", ".join(f"{kind}:HOST:PORT" for family in FAMILIES.values() for kind in family.servers)
        raise UnknownAdapter(f"{spec} is no server that carries messages; known: {kinds}")
    live_servers.check_modules(entry)
    connect: AbstractContextManager[Relay] = object_at(entry.relay)(spec)
    return connect

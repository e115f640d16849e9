"""The name of a live server, `KIND:HOST:PORT` or `KIND:HOST:PORT:FILE`, and its registry entry.

A family that has servers names its kinds, and the package of its programs `worker` and `cleanup`. Its
protocols may have a scheme before the host, such as `KIND:http://HOST:PORT`.
"""

import os
import re
import secrets
import sys
from typing import Any, Final, Self

from attrs import evolve, frozen

from wireproof.adapters.errors import UnknownAdapter
from wireproof.adapters.registry_entry import Entry

START_SECONDS: Final = 60.0
"""Time limit of a hello, before which the worker creates something on the server."""

TOKEN_BYTES: Final = 8

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
            raise UnknownAdapter(f"{spec}: a live server is written {_forms(kind, schemes)}")
        return cls(found["host"].strip("[]"), int(found["port"]), found["file"] or "", found["scheme"] or "")

    def __str__(self) -> str:
        """Return HOST:PORT, for messages."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def server_entry(entry: Entry, programs: str, schemes: tuple[str, ...] = ()) -> Entry:
    """Return the entry of a live server for one run, with commands and a token; raise `UnknownAdapter`.

    `programs` is the package of the modules `worker` and `cleanup`; both get the name and the token.
    """
    ServerAddress.of(entry.name, schemes)
    token = secrets.token_hex(TOKEN_BYTES)
    given: dict[str, Any] = {
        part: (sys.executable, "-m", f"{programs}.{module}", entry.name, token)
        for part, module in (("command", "worker"), ("cleanup", "cleanup"))
    }
    paths = os.pathsep.join(path for path in sys.path if path)
    return evolve(entry, **given, environment={"PYTHONPATH": paths}, start_seconds=START_SECONDS)


def _forms(kind: str, schemes: tuple[str, ...]) -> str:
    first = f"{kind}:HOST:PORT"
    forms = [first, f"{first}:FILE", *(f"{kind}:{scheme}://HOST:PORT" for scheme in schemes)]
    return f"{', '.join(forms[:-1])} or {forms[-1]}"

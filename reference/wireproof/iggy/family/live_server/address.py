"""The name of a live server: `iggy-server:HOST:PORT`, or `…:FILE` with a properties file."""

import re
from typing import Final, Self

from attrs import frozen

from wireproof.adapters.errors import UnknownAdapter

KIND: Final = "iggy-server"

_PARTS: Final = re.compile(r"(?P<host>\[[^\]]+\]|[^:\[\]]+):(?P<port>\d{1,5})(?::(?P<file>.+))?")


@frozen
class ServerAddress:
    """Where a server listens.

    Attributes:
        host: a name or an address; one of IPv6 has brackets in the text and none here.
        port: its TCP port.
        properties: path of a properties file; empty without one.
    """

    host: str
    port: int
    properties: str = ""

    @classmethod
    def of(cls, spec: str) -> Self:
        """Return the address in `iggy-server:HOST:PORT[:FILE]`; raise `UnknownAdapter`."""
        found = _PARTS.fullmatch(spec.partition(":")[2])
        if found is None or not 0 < int(found["port"]) < 65536:
            raise UnknownAdapter(
                f"{spec}: a live server is written {KIND}:HOST:PORT or {KIND}:HOST:PORT:FILE"
            )
        return cls(found["host"].strip("[]"), int(found["port"]), found["file"] or "")

    def __str__(self) -> str:
        """Return HOST:PORT, for messages."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

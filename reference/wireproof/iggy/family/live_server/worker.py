"""The process of the adapter: `python -m wireproof.iggy.family.live_server.worker SPEC TOKEN`.

It exchanges frames over stdin and stdout, one case at a time. The process that started it removes its
streams, with `cleanup`: this one may be killed at any time.
"""

import secrets
import sys
from typing import Final

from wireproof.adapters.errors import AdapterError, AdapterStartError
from wireproof.adapters.live_servers import ServerAddress
from wireproof.adapters.message_framing import Frames
from wireproof.adapters.object_worker import end_with_parent
from wireproof.adapters.python_object import line_of
from wireproof.adapters.serve import converse, refuse
from wireproof.cases.outcome import Crashed, Outcome
from wireproof.iggy.family.live_server.cases import Cases, cases_of, hello_of, server_at
from wireproof.iggy.family.live_server.entry import address_of
from wireproof.iggy.family.live_server.server import RefusedError, read_properties

SERVER_GONE: Final = 3
"""Exit code after a case whose server is not there any more."""

START_FAILED: Final = 4


def main(arguments: list[str]) -> int:
    """Serve until stdin ends; return the exit code."""
    end_with_parent()
    spec, token = arguments
    try:
        address = address_of(spec)
        server = server_at(address, read_properties(address.properties))
        # a process that starts again after a fault takes other names
        cases = cases_of(server, f"{token}-{secrets.token_hex(2)}")
        _check(cases, address)
    except AdapterError as error:
        refuse(sys.stdout.buffer, str(error))
        return START_FAILED
    converse(hello_of(server), cases.run, Frames, sys.stdin.buffer, sys.stdout.buffer, ends=_gone)
    return 0


def _check(cases: Cases, address: ServerAddress) -> None:
    """Raise `AdapterStartError` if the user has no permission for what each case needs."""
    try:
        cases.check()
    except RefusedError as error:
        raise AdapterStartError(f"{address}: {error}") from None
    except OSError as error:
        raise AdapterStartError(f"{address}: {line_of(error)}") from None


def _gone(outcome: Outcome) -> int | None:
    if not isinstance(outcome, Crashed):
        return None
    sys.stderr.write(f"{outcome.text}\n")
    return SERVER_GONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The process of the adapter: `python -m wireproof.iggy.family.live_server.worker SPEC TOKEN`.

It exchanges frames over stdin and stdout, one case at a time. The process that started it removes its
streams, with `cleanup`: this one may be killed at any time.
"""

import secrets
import sys
from typing import Final

from wireproof.adapters.errors import AdapterError, AdapterStartError
from wireproof.adapters.live_servers import ServerAddress
from wireproof.adapters.message_framing import Packet
from wireproof.adapters.object_worker import end_with_parent
from wireproof.adapters.python_object import line_of
from wireproof.adapters.request_json import hello_packet
from wireproof.adapters.threaded_answers import Answers, answer_request, requests
from wireproof.cases.outcome import Crashed
from wireproof.cases.steps import SEQUENCE
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
    answers = Answers(sys.stdout.buffer)
    try:
        address = address_of(spec)
        server = server_at(address, read_properties(address.properties))
        # a process that starts again after a fault takes other names
        cases = cases_of(server, f"{token}-{secrets.token_hex(2)}")
        _check(cases, address)
    except AdapterError as error:
        answers.write(Packet({"hello": {"error": str(error)}}))
        return START_FAILED
    answers.write(hello_packet(hello_of(server)))
    return _serve(cases, answers)


def _check(cases: Cases, address: ServerAddress) -> None:
    """Raise `AdapterStartError` if the user has no permission for what each case needs."""
    try:
        cases.check()
    except RefusedError as error:
        raise AdapterStartError(f"{address}: {error}") from None
    except OSError as error:
        raise AdapterStartError(f"{address}: {line_of(error)}") from None


def _serve(cases: Cases, answers: Answers) -> int:
    runs = dict.fromkeys(("decode", "encode", SEQUENCE), cases.run)
    for packet in requests():
        outcome = answer_request(runs, answers, packet)
        if isinstance(outcome, Crashed):
            sys.stderr.write(f"{outcome.text}\n")
            return SERVER_GONE
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

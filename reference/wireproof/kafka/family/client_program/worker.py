"""The process of the adapter: `python -m wireproof.kafka.family.client_program.worker OPTIONS COMMAND…`.

It exchanges frames over stdin and stdout, with several cases in flight: each starts the program in a thread.
"""

import os
import sys
from typing import Final

from wireproof.adapters.contract import Request
from wireproof.adapters.errors import AdapterError
from wireproof.adapters.message_framing import Frames
from wireproof.adapters.object_worker import end_with_parent
from wireproof.adapters.serve import converse, refuse
from wireproof.cases.outcome import Outcome
from wireproof.kafka.family.client_program.claims import hello_of_client
from wireproof.kafka.family.client_program.consume_case import Consumers
from wireproof.kafka.family.client_program.produce_case import Producers
from wireproof.kafka.family.client_program.program import ClientOptions

MOST: Final = 4
"""Programs that run at the same time."""


def main(arguments: list[str]) -> int:
    """Serve until stdin ends; return the exit code."""
    end_with_parent()
    options, words = ClientOptions.of_json(arguments[0]), tuple(arguments[1:])
    window = min(MOST, os.cpu_count() or 1)
    try:
        hello = hello_of_client(options, words, window)
    except AdapterError as error:
        refuse(sys.stdout.buffer, str(error))
        return 4
    runs = {"decode": Consumers(options, words).decode, "encode": Producers(options, words).encode}

    def answer(request: Request) -> Outcome:
        return runs[request.op](request)

    converse(hello, answer, Frames, sys.stdin.buffer, sys.stdout.buffer, window=window)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

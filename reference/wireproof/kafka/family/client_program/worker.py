"""The process of the adapter: `python -m wireproof.kafka.family.client_program.worker OPTIONS COMMAND…`.

It exchanges frames over stdin and stdout, with several cases in flight: each starts the program in a thread.
"""

import os
import sys
from functools import partial
from typing import Final

from wireproof.adapters.errors import AdapterError
from wireproof.adapters.message_framing import Packet
from wireproof.adapters.object_worker import end_with_parent
from wireproof.adapters.request_json import hello_packet
from wireproof.adapters.threaded_answers import Answers, Runs, answer_in_threads, answer_request
from wireproof.kafka.family.client_program.claims import hello_of_client
from wireproof.kafka.family.client_program.client_options import ClientOptions
from wireproof.kafka.family.client_program.consume_case import Consumers
from wireproof.kafka.family.client_program.produce_case import Producers

MOST: Final = 4
"""Programs that run at the same time."""


def main(arguments: list[str]) -> int:
    """Serve until stdin ends; return the exit code."""
    end_with_parent()
    options, words = ClientOptions.of_json(arguments[0]), tuple(arguments[1:])
    answers, window = Answers(sys.stdout.buffer), min(MOST, os.cpu_count() or 1)
    try:
        hello = hello_of_client(options, words, window)
    except AdapterError as error:
        answers.write(Packet({"hello": {"error": str(error)}}))
        return 4
    answers.write(hello_packet(hello))
    runs: Runs = {"decode": Consumers(options, words).decode, "encode": Producers(options, words).encode}
    answer_in_threads(partial(answer_request, runs, answers), window)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

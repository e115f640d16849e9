"""The process of the adapter: `python -m wireproof.kafka.family.live_broker.worker SPEC TOKEN`.

It exchanges frames over stdin and stdout, with many cases in flight: each case is a call in a thread. The
process that started it removes its topics, with `cleanup`: this one may be killed at any time.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Final

from kafka import errors

from wireproof.adapters.contract import Request
from wireproof.adapters.errors import AdapterError
from wireproof.adapters.live_servers import ServerAddress
from wireproof.adapters.message_framing import Packet
from wireproof.adapters.object_worker import end_with_parent
from wireproof.adapters.request_json import hello_packet
from wireproof.adapters.threaded_answers import Answers, Runs, answer_in_threads, answer_request
from wireproof.cases.outcome import Crashed, Outcome
from wireproof.cases.steps import SEQUENCE
from wireproof.kafka.family.live_broker import topics
from wireproof.kafka.family.live_broker.append_case import BrokerCases, append_earlier
from wireproof.kafka.family.live_broker.claims import WINDOW, hello_of_broker, legacy_magics
from wireproof.kafka.family.live_broker.client_properties import ClientProperties, read_properties
from wireproof.kafka.family.live_broker.cluster import MOST_OF_REASON, Cluster
from wireproof.kafka.family.live_broker.requests import NO_PRODUCER, V2
from wireproof.kafka.family.live_broker.sequence_case import RESTART, Restarts, SequenceCases
from wireproof.kafka.family.live_broker.topics import OwnTopics, Partitions, TopicError
from wireproof.wire.safe_text import one_line

START_FAILED: Final = 4
BROKER_GONE: Final = 3
"""Exit code after a case whose broker is not there any more."""


def main(arguments: list[str]) -> int:
    """Serve until stdin ends; return the exit code."""
    end_with_parent()
    spec, token = arguments
    answers = Answers(sys.stdout.buffer)
    try:
        address = ServerAddress.of(spec)
        properties = read_properties(address.properties)
        cluster = Cluster(address, properties.settings, properties.api_versions, properties.fetch_wait_ms)
    except AdapterError as error:
        return _not_started(answers, str(error))
    with cluster:
        return _serve(cluster, properties, token, answers)


def _serve(cluster: Cluster, properties: ClientProperties, token: str, answers: Answers) -> int:
    own = OwnTopics(cluster, token)
    partitions = Partitions(own)
    try:
        own.check_names()
        with partitions.lent({}, V2, NO_PRODUCER) as first:  # without the permissions for it, there is no run
            append_earlier(cluster, first)
        legacy = legacy_magics(cluster, partitions)
    except TopicError as error:
        left = "".join(
            f"; left: {name}: {reason}" for name, reason in topics.delete(cluster, own.created).items()
        )
        return _not_started(answers, f"{error}{left}")
    except errors.KafkaError as error:
        return _not_started(answers, _lost_at_start(cluster, error))
    answers.write(hello_packet(hello_of_broker(cluster, properties, legacy, f"{topics.PREFIX}{token}")))
    restarts = Restarts(cluster, properties.restart, partitions.forget)
    runs = {
        "decode": partial(_beside, restarts, BrokerCases(cluster, partitions, legacy).decode),
        SEQUENCE: partial(_beside, restarts, SequenceCases(cluster, own, token, restarts).run),
    }
    answer_in_threads(partial(_answer, runs, answers), WINDOW)
    return 0


def _beside(restarts: Restarts, run: Callable[[Request], Outcome], request: Request) -> Outcome:
    """Run a case while the broker is not started again by another one."""
    with restarts.case(restarts=any(step["op"] == RESTART for step in request.steps)):
        return run(request)


def _not_started(answers: Answers, reason: str) -> int:
    answers.write(Packet({"hello": {"error": reason}}))
    return START_FAILED


def _lost_at_start(cluster: Cluster, error: errors.KafkaError) -> str:
    """Return why a broker that was connected cannot be asked: often it names itself by another address."""
    text = one_line(str(error), MOST_OF_REASON)
    others = [one for one in cluster.brokers() if one != str(cluster.address)]
    if not others:
        return f"the broker at {cluster.address} is lost at the start: {text}"
    named = ", ".join(others)
    return f"the broker at {cluster.address} names itself {named} (advertised.listeners), and {text}"


def _answer(runs: Runs, answers: Answers, packet: Packet) -> None:
    outcome = answer_request(runs, answers, packet)
    if isinstance(outcome, Crashed):
        sys.stderr.write(f"{outcome.text}\n")
        sys.stderr.flush()
        answers.end(BROKER_GONE)  # the threads wait for a broker that is gone


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

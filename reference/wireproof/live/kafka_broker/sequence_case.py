"""A case with steps on a live broker: a topic of its own, its requests in order, and the answer to each."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import count, takewhile
from typing import Any, Final, TypeAlias

from attrs import define, evolve, field
from kafka import errors
from kafka.protocol.admin import DeleteRecordsRequest
from kafka.protocol.consumer import ListOffsetsRequest
from kafka.protocol.producer import AddPartitionsToTxnRequest, EndTxnRequest, InitProducerIdRequest

from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, Unsupported
from wireproof.cases.steps import ERROR
from wireproof.live.kafka_broker import step_requests
from wireproof.live.kafka_broker.append_case import asked_again, named_time
from wireproof.live.kafka_broker.cluster import Cluster, Restarts, tries
from wireproof.live.kafka_broker.connection import message
from wireproof.live.kafka_broker.requests import (
    ISOLATION,
    TIMEOUT_MS,
    FetchLimits,
    ProducerIds,
    only,
    only_partition,
    produce_request,
)
from wireproof.live.kafka_broker.step_requests import AnsweredError, NotAskedError, settled
from wireproof.live.kafka_broker.topics import OwnTopics, Partition, TopicError
from wireproof.wire.json_values import Json

Fields: TypeAlias = Mapping[str, Any]
Fetched: TypeAlias = dict[str, Any]
"""The answer to a fetch: the fields of a partition, or an error."""

RESTART: Final = "restart"
"""The op of a step in which the broker is started again."""

UNTIL_SECONDS: Final = 10.0
LARGEST_SESSION: Final = (1 << 31) - 1

NOBODY: Final = (-1, -1)


@define
class Session:
    """The state of one case.

    Attributes:
        partitions: of its topic, by number.
        prefix: the beginning of its transactional ids.
        ids: its producer ids.
        fetch_session: the id of its fetch session; 0 if there is none.
        append_times: the time that the broker answered for a batch under LogAppendTime, by its base offset.
    """

    partitions: Sequence[Partition]
    prefix: str
    ids: ProducerIds = field(factory=ProducerIds)
    fetch_session: int = 0
    append_times: dict[int, int] = field(factory=dict)

    def partition(self, fields: Fields) -> Partition:
        return self.partitions[int(fields.get("partition", 0))]

    def transactional_id(self, fields: Fields) -> str | None:
        """Return the transactional id of a step, which no other case and no other run has."""
        name = fields.get("transactionalId")
        return None if name is None else f"{self.prefix}-{name}"

    def producer(self, fields: Fields) -> tuple[int, int]:
        return self.ids.on_wire(int(fields["producerId"])), int(fields["producerEpoch"])


class SequenceCases:
    """Runs cases with steps on a cluster; threads may share it."""

    def __init__(self, cluster: Cluster, topics: OwnTopics, token: str, restarts: Restarts) -> None:
        """Use topics of our own; `token` is that of the run."""
        self._restarts = restarts
        self._cluster = cluster
        self._topics = topics
        self._prefix = f"wireproof-{token}"
        self._numbers = count(1)

    def run(self, request: Request) -> Outcome:
        """Send the steps of a request and return the answers; begin again on another topic if that ends."""
        return asked_again(self._cluster, partial(self._ask, request), lambda _: None)

    def _ask(self, request: Request) -> Outcome:
        answers: list[Json] = []
        try:
            session = self._session(request)
            for group in _groups(request.steps):
                waits = "meanwhile" in group[0]
                answers += (self._waiting if waits else self._taken)(session, group)
        except NotAskedError as error:
            return Unsupported(str(error))
        except KeyError as error:
            return Unsupported(f"the broker has no API {error}")
        return Accepted({"steps": answers}, broken=tuple(step_requests.broken_in(answers)))

    def _waiting(self, session: Session, group: Sequence[Fields]) -> Sequence[Json]:
        """Fetch on a connection of its own, and take the other steps while the broker waits."""
        with ThreadPoolExecutor(1) as pool:
            pool.submit(self._cluster.metadata).result()  # connects
            waiting = pool.submit(self._answer, session, group[0])
            time.sleep(0.3)  # the fetch that waits has reached the broker then
            others = [answer for fields in group[1:] for answer in self._taken(session, [fields])]
            return [waiting.result(), *others]

    def _taken(self, session: Session, group: Sequence[Fields]) -> Sequence[Json]:
        match group[0]["op"]:
            case "produce":
                return self._produced(session, group)
            case "restart":
                return [self._restart(session)]
            case _:
                return [self._answer(session, group[0])]

    def _answer(self, session: Session, fields: Fields) -> Json:
        try:
            return _OPS[str(fields["op"])](self._cluster, session, fields)
        except AnsweredError as error:
            return step_requests.error(error.code)

    def _session(self, request: Request) -> Session:
        """Create the topic of a case, and wait until its partitions can be read."""
        wanted = 1 + max(map(_largest, request.steps))
        created = self._topics.create(request.options.topic or {}, wanted)
        if len(created) < wanted:
            raise TopicError(
                f"a topic of the broker has {len(created)} partitions, and the case needs {wanted}"
            )
        session = Session(sorted(created, key=lambda one: one.index), f"{self._prefix}-{next(self._numbers)}")
        self._await(session.partitions)
        if InitProducerIdRequest.API_KEY in self._cluster.versions:
            # an id of the broker for each producer that no step begins: it may know only its own
            steps: Sequence[Fields] = request.steps
            begun = {int(step["producerId"]) for step in steps if step["op"] == "init-producer"}
            sent = (ProducerIds.named_in(bytes.fromhex(step["hex"])) for step in steps if "hex" in step)
            for own in sorted({number for named in sent for number in named if number >= 0} - begun):
                with suppress(AnsweredError):
                    found = step_requests.init_producer(self._cluster, None, NOBODY)
                    session.ids.learn(own, found.producer_id)
        return session

    def _await(self, partitions: Sequence[Partition]) -> None:
        for one in partitions:
            readable = partial(step_requests.fetch, self._cluster, [(one, 0)], FetchLimits())
            step_requests.repeated(readable, _code_of_fetch)

    def _restart(self, session: Session) -> Json:
        """Start the broker again; the connections of before have ended."""
        self._restarts.restart()
        deadline = time.monotonic() + UNTIL_SECONDS
        while True:
            try:
                self._await(session.partitions)
            except errors.KafkaError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.03)
            else:
                return {"restarted": True}

    def _produced(self, session: Session, group: Sequence[Fields]) -> list[Json]:
        """Append the batches of a group, each sent before the answer to the one before it."""
        rows: list[tuple[Any, int]] = []
        for fields in group:
            name = session.transactional_id(fields)
            data = session.ids.in_bytes(bytes.fromhex(fields["hex"]))
            version = step_requests.produce_version(
                self._cluster, name, int(fields.get("transactionVersion", 1))
            )
            rows.append((produce_request(session.partition(fields), data, name), version))
        node = session.partition(group[0]).node
        time.sleep(int(group[0].get("afterMs", 0)) / 1000)
        if len(rows) == 1:
            replies = [step_requests.repeated(lambda: produced(self._cluster.call(*rows[0], node)))]
        else:
            replies = [produced(one) for one in self._cluster.call_all(rows, node)]
        answers: list[Json] = []
        for reply in replies:
            code = reply.error_code
            session.append_times[reply.base_offset] = reply.log_append_time_ms
            answers.append(step_requests.error(code) if code else {"baseOffset": str(reply.base_offset)})
        return answers


def produced(response: Any) -> Any:  # noqa: ANN401 - a response and a part of it
    """Return the answer of the one partition of a Produce."""
    return only_partition(response.responses, "partition_responses")


def _groups(steps: Sequence[Fields]) -> Iterator[list[Fields]]:
    """Yield the steps one by one, but those in flight with the one after them, and what happens meanwhile."""
    rest = list(steps)
    while rest:
        in_flight = takewhile(lambda step: step.get("inFlight"), rest)
        size = 1 + int(rest[0].get("meanwhile", sum(1 for _ in in_flight)))
        yield rest[:size]
        rest = rest[size:]


def _largest(step: Fields) -> int:
    named = step.get("partitions", ())
    numbers = [one[0] if isinstance(one, list) else one for one in named]
    return max(map(int, [step.get("partition", 0), *numbers]))


def _code_of_fetch(response: Any) -> int:  # noqa: ANN401 - a response
    codes = [one.error_code for topic in response.responses for one in topic.partitions]
    return int(next((code for code in (response.error_code or 0, *codes) if code), 0))


# --- the other ops ---


def _init_producer(cluster: Cluster, session: Session, fields: Fields) -> Json:
    known = session.producer(fields) if "producerEpoch" in fields else NOBODY
    answer = step_requests.init_producer(cluster, session.transactional_id(fields), known)
    session.ids.learn(int(fields["producerId"]), answer.producer_id)
    return {"producerEpoch": str(answer.producer_epoch)}


def _add_partitions(cluster: Cluster, session: Session, fields: Fields) -> Json:
    added = [session.partitions[int(number)] for number in fields["partitions"]]
    name, producer = session.transactional_id(fields) or "", session.producer(fields)
    request = message(
        AddPartitionsToTxnRequest,
        v3_and_below_transactional_id=name,
        v3_and_below_producer_id=producer[0],
        v3_and_below_producer_epoch=producer[1],
        v3_and_below_topics=[{"name": added[0].topic, "partitions": [one.index for one in added]}],
    )
    version = cluster.newest(AddPartitionsToTxnRequest, step_requests.ONE_TRANSACTION)
    node = step_requests.coordinator(cluster, name)

    def code(answer: Any) -> int:  # noqa: ANN401 - a response
        topic = only(answer.results_by_topic_v3_and_below, "topics")
        codes = (int(one.partition_error_code) for one in topic.results_by_partition)
        return next((one for one in codes if one), 0)

    settled(lambda: cluster.call(request, version, node), code)
    return {"added": True}


def _end_transaction(cluster: Cluster, session: Session, fields: Fields) -> Json:
    """End a transaction; with transactions v2 the answer has the next epoch."""
    raises = int(fields.get("transactionVersion", 1)) >= step_requests.V2
    name, producer = session.transactional_id(fields) or "", session.producer(fields)
    request = EndTxnRequest(
        transactional_id=name,
        producer_id=producer[0],
        producer_epoch=producer[1],
        committed=bool(fields["commit"]),
    )
    newest = step_requests.BUMPING_END if raises else step_requests.BUMPING_END - 1
    version = cluster.newest(EndTxnRequest, newest)
    node = step_requests.coordinator(cluster, name)
    answer = settled(lambda: cluster.call(request, version, node))
    return {"producerEpoch": str(answer.producer_epoch)} if raises else {"ended": True}


def _fetch(cluster: Cluster, session: Session, fields: Fields) -> Json:
    damaged: Fetched = {}

    def ask() -> Fetched:
        found = _read(cluster, session, fields)
        damaged.update({name: found[name] for name in (step_requests.UNREADABLE,) if name in found})
        return found

    if "until" in fields:
        end = int(fields["until"])
        answer = _waited(ask, lambda one: int(one["highWatermark"]) >= end, UNTIL_SECONDS)
        if not (ERROR in answer or answer.get("lastStableOffset") in (None, answer["highWatermark"])):
            time.sleep(0.3)  # the last stable offset follows a high watermark with a marker
            answer = ask()
    else:
        answer = ask()
    if "compacted" in fields:
        most = int(fields["compacted"])

        def cleaned(found: Fetched) -> bool:
            return sum(map(step_requests.count_records, found.get("entries", ()))) <= most

        answer = _waited(ask, cleaned, 40.0)
    return damaged | answer  # a consumer would have read the answers before the last one too


def _waited(ask: Callable[[], Fetched], reached: Callable[[Fetched], bool], seconds: float) -> Fetched:
    for _ in tries(seconds):
        answer = ask()
        if ERROR in answer or reached(answer):
            break
    return answer


def _read(cluster: Cluster, session: Session, fields: Fields) -> Fetched:
    """Fetch from an offset on; without limits of its own a step reads on to the end, as a consumer does.

    A broker may end a response anywhere: Kafka reads one segment at a time.
    """
    partition, limits, offset = session.partition(fields), _limits(fields), int(fields["offset"])
    limited = fields.keys() & {"maxBytes", "partitionMaxBytes", "minBytes"}
    answer: Fetched = {}
    times, bound = session.append_times.values(), "highWatermark"
    if limits.isolation == "read_committed":
        bound = "lastStableOffset"
    while True:
        reply = step_requests.fetch(cluster, [(partition, offset)], limits)
        if reply.responses or not reply.error_code:  # an error of the whole request has no partition
            reply = only_partition(reply.responses, "partitions")
        if limits.version is None or limits.version > step_requests.OLD_FETCH:
            found = step_requests.of_partition(reply, session.ids, times if "times" in fields else None)
        else:
            found = step_requests.of_old_partition(reply, times)
        answer, rows = _joined(answer, found), found.get("entries", ())
        following = step_requests.last_offset(rows[-1]) + 1 if rows else offset
        if limited or ERROR in answer or following <= offset or following >= int(answer[bound]):
            return answer
        offset = following


def _joined(answer: Fetched, found: Fetched) -> Fetched:
    """Return the answer to a fetch that went on where the one before it ended."""
    if not answer or ERROR in found:
        return found
    lists: Fetched = {
        name: [*answer[name], *(one for one in found.get(name, ()) if one not in answer[name])]
        for name in ("aborted", "entries")
        if name in answer
    }
    return {**found, **lists}


def _limits(fields: Fields) -> FetchLimits:
    given = FetchLimits(isolation=str(fields.get("isolation", "read_uncommitted")))
    return evolve(
        given,
        max_bytes=int(fields.get("maxBytes", given.max_bytes)),
        partition_max_bytes=int(fields.get("partitionMaxBytes", given.partition_max_bytes)),
        version=int(fields["version"]) if "version" in fields else None,
        min_bytes=int(fields.get("minBytes", given.min_bytes)),
        max_wait_ms=int(fields["maxWaitMs"]) if "maxWaitMs" in fields else None,
    )


def _fetch_session(cluster: Cluster, session: Session, fields: Fields) -> Json:
    """Fetch in a session: epoch 0 begins one, -1 ends it (KIP-227)."""
    wanted = [
        (session.partitions[int(number)], int(offset)) for number, offset in fields.get("partitions", ())
    ]
    forget = tuple(session.partitions[int(number)] for number in fields.get("forget", ()))
    number, other = session.fetch_session, int(fields.get("otherSession", 0))
    if other:
        # far away: a broker that counts its sessions gives the next ids to other cases
        number = (number + other * 1_000_000_007) % LARGEST_SESSION
    limits = evolve(_limits(fields), session=(number, int(fields["epoch"])), forget=forget)
    response = step_requests.fetch(cluster, wanted, limits, session.partitions[0].node)
    if response.error_code:
        return step_requests.error(response.error_code)
    begins = int(fields["epoch"]) == 0
    session.fetch_session = response.session_id if begins else session.fetch_session
    rows: list[Json] = [
        {"partition": str(one.partition_index), **step_requests.of_partition(one, session.ids)}
        for topic in response.responses
        for one in topic.partitions
    ]
    same = response.session_id == session.fetch_session and response.session_id != 0
    return {"session": same, "partitions": sorted(rows, key=str)}


def _delete_records(cluster: Cluster, session: Session, fields: Fields) -> Json:
    partition = session.partition(fields)
    row = {"partition_index": partition.index, "offset": int(fields["offset"])}
    topics = [{"name": partition.topic, "partitions": [row]}]
    request = message(DeleteRecordsRequest, topics=topics, timeout_ms=TIMEOUT_MS)
    version = cluster.newest(DeleteRecordsRequest)
    reply = settled(
        lambda: only_partition(cluster.call(request, version, partition.node).topics, "partitions")
    )
    return {"lowWatermark": str(reply.low_watermark)}


def _await_expiry(cluster: Cluster, _: Session, fields: Fields) -> Json:
    """Wait until every broker has forgotten what nobody used since: by its own settings."""
    time.sleep(step_requests.waiting_ms(cluster, str(fields["of"])) / 1000)
    return {"waited": True}


def _list_offset(cluster: Cluster, session: Session, fields: Fields) -> Json:
    """Ask for the offset of a time, or of what a number below 0 stands for, such as -1 for the end."""
    partition = session.partition(fields)
    asked = int(fields["timestamp"]) + session.append_times.get(int(fields.get("timestampOf", -1)), 0)
    row = {"partition_index": partition.index, "current_leader_epoch": -1, "timestamp": asked}
    request = message(
        ListOffsetsRequest,
        replica_id=-1,
        isolation_level=ISOLATION[str(fields.get("isolation", "read_uncommitted"))],
        topics=[{"name": partition.topic, "partitions": [row]}],
        timeout_ms=TIMEOUT_MS,
    )
    version = int(fields["version"]) if "version" in fields else cluster.newest(ListOffsetsRequest, 9)
    reply = settled(
        lambda: only_partition(cluster.call(request, version, partition.node).topics, "partitions")
    )
    found: dict[str, Json] = {"offset": str(reply.offset)}
    if asked >= 0 or asked == -3:  # KIP-734: its answer has a time too
        found["timestamp"] = str(named_time(reply.timestamp, session.append_times.values()))
    return found


_OPS: Final[Mapping[str, Callable[[Cluster, Session, Fields], Json]]] = {
    "init-producer": _init_producer,
    "add-partitions": _add_partitions,
    "end-transaction": _end_transaction,
    "fetch": _fetch,
    "fetch-session": _fetch_session,
    "delete-records": _delete_records,
    "list-offset": _list_offset,
    "await-expiry": _await_expiry,
}
"""The function of each op but `produce`."""

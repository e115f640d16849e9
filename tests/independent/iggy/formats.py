"""Read Iggy's requests, replies and frames by iggy.md §2 and §6.2, and each format by its name.

Nothing here comes from the codec under test.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.independent.iggy import layouts
from tests.independent.iggy.header_numbers import with_numbers
from tests.independent.iggy.reader import (
    BATCH,
    Bytes,
    Reader,
    check_end,
    read_batch,
    read_log,
    read_map,
    read_named,
    read_poll,
    read_send,
)
from tests.independent.refused import RefusedError

Json = Any


def read_headers(source: Bytes, revision: str) -> Json:
    return {"headers": read_map(source, keyed=revision != "0.0.30")}


def read_identifier(source: Bytes, revision: str) -> Json:
    return read_named(source, layouts.KINDS["id"], zero=revision != "0.0.30")


def read_partitioning(source: Bytes, _: str) -> Json:
    return read_named(source, layouts.KINDS["key"], zero=True)


def read_poll_request(source: Bytes, revision: str) -> Json:
    places: dict[str, int] = {}
    value = Reader(source, revision).read(layouts.REQUESTS[revision], places)
    if value["count"] == "0":
        raise RefusedError("invalid-value", places["count"])
    return value


LEAST_BYTES: Final = 344
LONGEST, MARGIN, LATEST = 600_000_000, 1_000_000, 630_000_000


def _check_wait(value: Json, places: Mapping[str, int], *, margin: bool) -> None:
    """Refuse a wait that is outside the limits of §6.2."""
    wait, least, size, timeout = (
        int(value[name]) for name in ("wait_us", "min_count", "max_bytes", "request_timeout_us")
    )
    holds = {
        "count": value["count"] == "0",
        "wait_us": wait > LONGEST,
        "min_count": not 1 <= least <= int(value["count"]),
        "max_bytes": size < LEAST_BYTES,
        "request_timeout_us": not 1 <= timeout <= LATEST or (margin and timeout < wait + MARGIN),
    }
    if wrong := [places[name] for name, is_so in holds.items() if is_so]:
        raise RefusedError("invalid-value", min(wrong))


def read_deferred(source: Bytes, revision: str) -> Json:
    places: dict[str, int] = {}
    value = Reader(source, revision).read(layouts.DEFERRED, places)
    _check_wait(value, places, margin=value["wait_us"] != "0")
    check_end(source)
    return value


def read_fetch_request(source: Bytes, revision: str) -> Json:
    places: dict[str, int] = {}
    reader = Reader(source, revision)
    value = reader.read(layouts.FETCH_REQUEST, places)
    _check_wait(value, places, margin=True)
    count = int.from_bytes(source.data[source.at - 4 : source.at], "little")
    if not 1 <= count <= 1000:
        raise RefusedError("limit-exceeded" if count else "invalid-value", source.at - 4)
    targets: list[Json] = []
    for _ in range(count):
        target = reader.read(layouts.TARGET, places)
        if target["partition_id"] in [one["partition_id"] for one in targets]:
            raise RefusedError("invalid-value", places["partition_id"])
        if target["strategy"]["kind"] not in ("offset", "next"):
            raise RefusedError("invalid-value", places["strategy.kind"])
        if not LEAST_BYTES <= int(target["max_bytes"]) <= int(value["max_bytes"]):
            raise RefusedError("invalid-value", places["max_bytes"])
        targets.append(target)
    check_end(source)
    return {**value, "targets": targets}


RETIRED: Final = (129, 131, 133, 135, 142)
OPERATIONS: Final = {
    "0.11": {1, 2, 3, *range(64, 69), *range(128, 150), 160, 161, 162},
    "0.11.1-edge": {
        1,
        2,
        3,
        *range(64, 69),
        *range(70, 76),
        *range(128, 151),
        160,
        161,
        162,
        *range(166, 170),
    }
    - set(RETIRED),
}
MOST: Final = 64 << 20


def read_frame(source: Bytes, revision: str) -> Json:
    """Return a classic request, or a frame of VSR: §2.1."""
    if revision == "0.0.30":
        size = int.from_bytes(source.data[:4], "little")
        if len(source.data) >= 4 and size < 4:
            raise RefusedError("bad-length", 0)
        return Reader(source, revision).read(layouts.CLASSIC_FRAME)
    head = source.data[:BATCH]
    if len(head) < BATCH:
        raise RefusedError("truncated", len(head))
    size, command = int.from_bytes(head[48:52], "little"), head[60]
    if command not in (5, 8, 13):
        raise RefusedError("bad-kind", 60)
    if size < BATCH:
        raise RefusedError("bad-length", 48)
    if size > MOST:
        raise RefusedError("limit-exceeded", 48)
    at = {5: 176, 8: 208, 13: 255}[command]
    known = range(1, 16) if command == 13 else OPERATIONS[revision] | ({0} if command == 8 else set())
    if head[at] not in known:
        raise RefusedError("bad-kind", at)
    source.end = min(size, source.end)
    if size > source.end:
        raise RefusedError("truncated", BATCH)
    return {
        "header": Reader(source, revision).read(
            tuple(one for one in layouts.VSR[revision][command] if one[0] != "body")
        ),
        "body": source.take(source.left).hex(),
    }


def read_reply(source: Bytes, revision: str) -> Json:
    if revision == "0.0.30":
        return Reader(source, revision).read(layouts.CLASSIC_REPLY)
    count = source.number(4) if source.left else 0
    rows = [Reader(source, revision).read(layouts.CONFIRMATION) for _ in range(count)]
    check_end(source)
    return {"confirmations": rows}


def read_fetch(source: Bytes, revision: str) -> Json:
    """Return the sections of a reply to a fetch: §6.2."""
    count = source.number(4)
    if count > 1000:
        raise RefusedError("limit-exceeded", 0)
    sections, lengths = [], []
    reader = Reader(source, revision)
    for _ in range(count):
        places: dict[str, int] = {}
        section = reader.read(layouts.SECTION, places)
        messages, size = (
            int.from_bytes(source.data[places[name] : places[name] + 4], "little")
            for name in ("messages_count", "records_len")
        )
        if section["status"] != "0" and size:
            raise RefusedError("invalid-value", places["records_len"])
        sections.append(section)
        lengths.append((size, messages, places["messages_count"]))
    for section, (size, messages, place) in zip(sections, lengths, strict=True):
        if size > source.left:
            raise RefusedError("truncated", source.at)
        part, batches, rows = Bytes(source.data, source.at, source.at + size), [], []
        while part.left:
            batch, inside = read_batch(part, revision, verify=False)
            batches.append(batch)
            rows += inside
        if messages != len(rows):
            raise RefusedError("count-mismatch", place)
        section |= {"batches": batches, "messages": rows}
        source.at += size
    check_end(source)
    return {"sections": sections}


# --- all formats ---

READERS: Final[Mapping[str, Callable[[Bytes, str], Json]]] = {
    "iggy.deferred-poll-request": read_deferred,
    "iggy.fetch": read_fetch,
    "iggy.fetch-request": read_fetch_request,
    "iggy.frame": read_frame,
    "iggy.headers": read_headers,
    "iggy.identifier": read_identifier,
    "iggy.log": read_log,
    "iggy.partitioning": read_partitioning,
    "iggy.poll": read_poll,
    "iggy.poll-request": read_poll_request,
    "iggy.reply": read_reply,
    "iggy.send": read_send,
}


def read(form: str, revision: str, data: bytes) -> tuple[Json, int]:
    """Return the value of the bytes with its derived fields, and how many bytes it has."""
    source = Bytes(data)
    try:
        value = READERS[form](source, revision)
    except RefusedError as refused:
        raise RefusedError(refused.cls, refused.at, with_numbers(refused.before)) from None
    return with_numbers(value), source.at

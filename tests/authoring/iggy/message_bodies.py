"""Bodies of every format and revision with messages, out of payloads and headers: iggy.md §3, §5 to §8."""

# fmt: off

import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from attrs import frozen

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy import batches_0_11 as batches
from tests.authoring.iggy import batches_0_11_1_edge as edge
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.headers_from_0_9 import block, keyed_value
from tests.authoring.iggy.json_from_0_7 import listed
from tests.authoring.iggy.json_send import PID7, PID7_VALUE
from tests.authoring.iggy.log_from_0_2_7 import batch as retained_batch
from tests.authoring.iggy.log_from_0_2_7 import kept
from tests.authoring.iggy.log_from_0_2_7 import shown as retained_value
from tests.authoring.iggy.message_bytes import (
    TS,
    b64,
    json_headers,
    map_value,
    polled30,
    polled30_value,
    polled40,
    polled40_value,
    sent,
    sent_value,
    stored30,
    stored30_value,
    text,
    tlv,
    u32,
    u64,
)
from tests.authoring.iggy.message_bytes_from_0_7 import OT, REVISIONS, ST, Edition
from tests.authoring.iggy.send import send as first_send
from tests.authoring.iggy.send import value as send_value
from tests.authoring.iggy.send_and_poll_from_0_7 import poll, polled, send

Row = tuple[bytes, tuple[Any, ...]]
"""A payload and its headers."""
Made = tuple[bytes, Any]
"""The bytes of a body, and its value."""
Maker = Callable[[Sequence[Row]], Made]

PAGE = {"partition_id": "1", "current_offset": "1"}
KEYED = ("0.9", "0.10", "0.11", "0.11.1-edge")
"""Revisions in which the key of a header has a kind."""


@frozen
class Body:
    """A format and revision whose body has messages.

    Attributes:
        form, revision: the format and the revision.
        doc: the sections of iggy.md.
        layout: the rule of its layout.
        made: makes the body out of payloads and headers.
    """

    form: str
    revision: str
    doc: str
    layout: str
    made: Maker

    @property
    def is_keyed(self) -> bool:
        """Return True if the keys of headers have kinds."""
        return self.revision in KEYED

    @property
    def is_json(self) -> bool:
        """Return True if one value can be written in several ways."""
        return self.form.startswith("iggy.json.")

    def cases(self, writer: FixtureWriter) -> CaseBuilder:
        """Return what takes its cases; those of a pre-release are never `must`."""
        builder = edge.ProvisionalCases if self.revision == edge.REVISION else CaseBuilder
        return builder(writer, self.form, self.revision)


def bodies() -> Iterator[Body]:
    """Yield every format and revision with messages."""
    yield Body("iggy.send", "0.0.30", "iggy.md §3.1", "iggy.send.layout", _first_send)
    for revision, made, shown in (("0.0.30", polled30, polled30_value), ("0.0.40", polled40, polled40_value), ("0.0.60", polled40, polled40_value)):
        yield Body("iggy.poll", revision, "iggy.md §3.3", "iggy.poll.layout", partial(_polled, made, shown, has_prefix=revision == "0.0.60"))
    yield Body("iggy.log", "0.0.30", "iggy.md §7", "iggy.log.layout", partial(_records, stored30, stored30_value))
    yield Body("iggy.log", "0.0.40", "iggy.md §7", "iggy.log.polled-layout", partial(_records, polled40, polled40_value))
    yield Body("iggy.log", "0.2.7", "iggy.md §7", "iggy.log.retained.layout", _retained)
    for edition in REVISIONS:
        yield Body("iggy.send", edition.revision, "iggy.md §5", "iggy.send.headed.layout", partial(_headed_send, edition))
        yield Body("iggy.poll", edition.revision, "iggy.md §5", "iggy.poll.headed.layout", partial(_headed_poll, edition))
        yield Body("iggy.log", edition.revision, "iggy.md §7", "iggy.log.headed.layout", partial(_headed_log, edition))
    yield Body("iggy.send", "0.11", "iggy.md §6", "iggy.send.batch.layout", partial(_batch_send, batches))
    yield Body("iggy.poll", "0.11", "iggy.md §6", "iggy.poll.batch.layout", partial(_batch_poll, batches))
    yield Body("iggy.log", "0.11", "iggy.md §6, §7", "iggy.log.batch.layout", partial(_batch_log, batches))
    yield Body("iggy.send", edge.REVISION, edge.DOC, "iggy.send.producer.layout", partial(_batch_send, edge))
    yield Body("iggy.poll", edge.REVISION, edge.DOC, "iggy.poll.producer.layout", partial(_batch_poll, edge))
    yield Body("iggy.log", edge.REVISION, "iggy.md §6.1, §7", "iggy.log.producer.layout", partial(_batch_log, edge))
    for revision in ("0.0.30", "0.7", "0.8", "0.9", "0.10"):
        yield Body("iggy.json.send", revision, "iggy.md §8.1", "iggy.json.base64", partial(_json_send, revision))
    for revision in ("0.0.30", "0.0.40", "0.0.60"):
        yield Body("iggy.json.poll", revision, "iggy.md §8.2", "iggy.json.base64", partial(_json_poll, revision))
    for revision in ("0.7", "0.9", "0.10"):
        yield Body("iggy.json.poll", revision, "iggy.md §8.2", "iggy.json.base64", partial(_json_headed_poll, revision))


# --- up to 0.6 ---


def _first_send(rows: Sequence[Row]) -> Made:
    data = [sent(number, payload, tlv(*headers)) for number, (payload, headers) in enumerate(rows, 1)]
    return first_send(*data), send_value(*(sent_value(number, payload, *headers) for number, (payload, headers) in enumerate(rows, 1)))


def _messages(made: Any, shown: Any, rows: Sequence[Row]) -> tuple[list[bytes], list[Any]]:
    data = [made(offset, payload, tlv(*headers)) for offset, (payload, headers) in enumerate(rows)]
    return data, [shown(offset, payload, *headers) for offset, (payload, headers) in enumerate(rows)]


def _polled(made: Any, shown: Any, rows: Sequence[Row], *, has_prefix: bool) -> Made:
    data, values = _messages(made, shown, rows)
    prefix = u32(1) + u64(1) if has_prefix else b""
    return prefix + u32(len(rows)) + b"".join(data), {**(PAGE if has_prefix else {}), "messages": values}


def _records(made: Any, shown: Any, rows: Sequence[Row]) -> Made:
    data, values = _messages(made, shown, rows)
    return b"".join(data), {"messages": values}


def _retained(rows: Sequence[Row]) -> Made:
    data, values = _messages(kept, polled40_value, rows)
    last = len(rows) - 1
    return retained_batch(*data, last=last, latest=TS + last), {"batches": [retained_value(*values, last=last, latest=TS + last)]}


# --- 0.7 to 0.9 ---


def _headed_send(edition: Edition, rows: Sequence[Row]) -> Made:
    data = [edition.sent(number, payload, edition.block(*headers)) for number, (payload, headers) in enumerate(rows, 1)]
    return send(*data), send_value(*(edition.sent_value(number, payload, *headers) for number, (payload, headers) in enumerate(rows, 1)))


def _headed_messages(edition: Edition, rows: Sequence[Row]) -> tuple[list[bytes], list[Any]]:
    data = [edition.polled(offset, payload, edition.block(*headers)) for offset, (payload, headers) in enumerate(rows)]
    return data, [edition.polled_value(offset, payload, *headers) for offset, (payload, headers) in enumerate(rows)]


def _headed_poll(edition: Edition, rows: Sequence[Row]) -> Made:
    data, values = _headed_messages(edition, rows)
    return poll(len(rows), *data), polled(*values)


def _headed_log(edition: Edition, rows: Sequence[Row]) -> Made:
    data, values = _headed_messages(edition, rows)
    return b"".join(data), {"messages": values}


# --- from 0.11 on ---


def _frames(rows: Sequence[Row]) -> tuple[list[bytes], list[Any]]:
    data = [batches.frame(number + 1, payload, block(*headers), delta=number) for number, (payload, headers) in enumerate(rows)]
    return data, [batches.told(one, *headers) for one, (_, headers) in zip(data, rows, strict=True)]


def _frame_values(rows: Sequence[Row]) -> list[Any]:
    return [batches.sent_value(number, payload, *headers) for number, (payload, headers) in enumerate(rows, 1)]


def _batch_send(layout: ModuleType, rows: Sequence[Row]) -> Made:
    return layout.sent(*_frames(rows)[0]), layout.sends(*_frame_values(rows))


def _batch_poll(layout: ModuleType, rows: Sequence[Row]) -> Made:
    data, values = _frames(rows)
    one = layout.batch(*data)
    return layout.poll(len(rows), one), layout.polls([HEADS[layout](one, len(rows))], values)


def _batch_log(layout: ModuleType, rows: Sequence[Row]) -> Made:
    data, values = _frames(rows)
    one = layout.batch(*data)
    return one, {"batches": [_record(HEADS[layout](one, 0), values)]}


HEADS: dict[ModuleType, Callable[[bytes, int], dict[str, Any]]] = {batches: batches.head, edge: edge.headed}
"""The value of the header of a batch, by the module that has the layout of the revision."""


def _record(fields: dict[str, Any], values: list[Any]) -> dict[str, Any]:
    """Return the value of a batch in a file, which shows no count."""
    return {**{key: value for key, value in fields.items() if key != "message_count"}, "messages": values}


# --- JSON ---


def _tree(revision: str, headers: tuple[Any, ...]) -> Any:
    return listed(*headers) if revision in KEYED else json_headers(*headers)


def _map(revision: str, headers: tuple[Any, ...]) -> list[Any]:
    return keyed_value(*headers) if revision in KEYED else map_value(*headers)


def _member(revision: str) -> str:
    return "user_headers" if revision in KEYED else "headers"


def _json_send(revision: str, rows: Sequence[Row]) -> Made:
    numbered = list(enumerate(rows, 1))
    trees = [{"id": number, "payload": b64(payload), **({_member(revision): _tree(revision, headers)} if headers else {})} for number, (payload, headers) in numbered]
    values = [{"id": str(number), "headers": _map(revision, headers), "payload": payload.hex()} for number, (payload, headers) in numbered]
    return text({"partitioning": PID7, "messages": trees}), {"partitioning": PID7_VALUE, "messages": values}


def _json_poll(revision: str, rows: Sequence[Row]) -> Made:
    shown = polled30_value if revision == "0.0.30" else polled40_value
    trees = []
    for offset, (payload, headers) in enumerate(rows):
        tree = {"offset": offset, "timestamp": TS + offset, "id": offset + 1, "headers": json_headers(*headers) if headers else None, "payload": b64(payload)}
        trees.append(tree if revision == "0.0.30" else {**tree, "state": "available", "checksum": zlib.crc32(payload)})
    values = {"messages": [shown(offset, payload, *headers) for offset, (payload, headers) in enumerate(rows)]}
    if revision == "0.0.60":
        return text({"partition_id": 1, "current_offset": 1, "messages": trees}), {**PAGE, **values}
    return text(trees), values


def _json_headed_poll(revision: str, rows: Sequence[Row]) -> Made:
    trees, values = [], []
    for offset, (payload, headers) in enumerate(rows):
        numbers = {"checksum": 7 + offset, "id": offset + 1, "offset": offset, "timestamp": ST, "origin_timestamp": OT + offset}
        packed = block(*headers) if revision in KEYED else tlv(*headers)
        sizes = {"user_headers_length": len(packed), "payload_length": len(payload), **({"reserved": 0} if revision in KEYED else {})}
        trees.append({"header": {**numbers, **sizes}, "payload": b64(payload), **({"user_headers": _tree(revision, headers)} if headers else {})})
        values.append({**{name: str(number) for name, number in numbers.items()}, "headers": _map(revision, headers), "payload": payload.hex()})
    return text({"partition_id": 1, "current_offset": 1, "count": len(rows), "messages": trees}), {**PAGE, "messages": values}

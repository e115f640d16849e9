"""Three codecs with ten planted bugs each, for `tests.benchmarks.bug_table`.

A codec is the reference with changes of what it reads. The environment variable `PLANTED` names the bugs that
are switched on, `all` for each, and `PLANTED_SEEN` a folder in which each bug leaves a file once it has
changed an answer, with the seconds of the process until then.
"""

import os
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from wireproof import formats
from wireproof.adapters import Accepted, Request
from wireproof.wire.json_values import to_json

Tree = Any
"""The JSON form of a value, which a bug may change."""


@frozen
class Bug:
    """A bug: its name, and what it makes of a value, in place; it returns whether it changed the answer."""

    name: str
    change: Callable[[Tree], Any]


def _each(path: str, tree: Tree) -> Iterator[dict[str, Any]]:
    """Yield the objects of the lists of a path such as `records.headers`."""
    first, _, rest = path.partition(".")
    for one in tree.get(first) or ():
        if isinstance(one, dict):
            yield from _each(rest, one) if rest else iter((one,))


def _set(where: dict[str, Any], name: str, new: Any) -> bool:
    if where.get(name) == new:
        return False
    where[name] = new
    return True


def every(
    path: str, name: str, when: Callable[[Any], bool], new: Callable[[Any], Any]
) -> Callable[[Tree], Any]:
    """Return a change of a field, in all objects of a list, where a condition holds of it."""

    def change(tree: Tree) -> bool:
        found = list(_each(path, tree)) if path else [tree]
        changed = [_set(one, name, new(one[name])) for one in found if name in one and when(one[name])]
        return any(changed)

    return change


def whole(when: Callable[[Tree], bool], name: str, new: Callable[[Any], Any]) -> Callable[[Tree], Any]:
    """Return a change of a field of the value, where a condition holds of the value."""
    return lambda tree: when(tree) and _set(tree, name, new(tree[name]))


def cut(size: int) -> Callable[[Any], Any]:
    """Return a function that cuts a list, or bytes in hexadecimal digits."""
    return lambda part: part[:size] if isinstance(part, list) else part[: 2 * size]


def longer(size: int) -> Callable[[Any], bool]:
    return lambda part: part is not None and len(part) > (size if isinstance(part, list) else 2 * size)


def wrapped(bits: int) -> Callable[[Any], str]:
    return lambda number: str((int(number) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1))


def beyond(bits: int) -> Callable[[Any], bool]:
    return lambda number: number is not None and not -(1 << bits - 1) <= int(number) < 1 << bits - 1


def negative(number: Any) -> bool:
    return number is not None and int(number) < 0


def as_double(number: Any) -> str:
    return str(int(float(int(number))))


def bit(mask: int) -> Callable[[Any], bool]:
    return lambda number: bool(int(number) & mask)


def is_(given: Any) -> Callable[[Any], bool]:
    return lambda part: part == given


def to(given: Any) -> Callable[[Any], Any]:
    return lambda _: given


def zstd_in_a_transaction(tree: Tree) -> bool:
    return int(tree["attributes"]) & 0x17 == 0x14


def after_a_tombstone(tree: Tree) -> bool:
    """Lose the key of the record behind one without a value."""
    rows = tree["records"]
    changed = [_set(two, "key", None) for one, two in pairwise(rows) if one["value"] is None]
    return any(changed)


def cut_header_names(tree: Tree) -> bool:
    """Cut the names of headers, which are pairs, to 127 bytes."""
    headers = [header for record in tree["records"] for header in record["headers"] if longer(127)(header[0])]
    for header in headers:
        header[0] = cut(127)(header[0])
    return bool(headers)


KAFKA: Final = (
    Bug("63 records", every("", "records", longer(63), cut(63))),
    Bug("63 headers", every("records", "headers", longer(63), cut(63))),
    Bug("behind a tombstone", after_a_tombstone),
    Bug("null value as empty", every("records", "value", is_(None), to(""))),
    Bug("empty key as null", every("records", "key", is_(""), to(None))),
    Bug("unused bit 9", every("", "attributes", bit(0x200), lambda number: str(int(number) & ~0x200))),
    Bug("zstd in a transaction", whole(zstd_in_a_transaction, "producerId", to("-1"))),
    Bug("offset delta of 16 bits", every("records", "offsetDelta", beyond(16), wrapped(16))),
    Bug("timestamp delta of 32 bits", every("records", "timestampDelta", beyond(32), wrapped(32))),
    Bug("header name of 127", cut_header_names),
)

IGGY: Final = (
    Bug("63 messages", every("", "messages", longer(63), cut(63))),
    Bug("payload of 127", every("messages", "payload", longer(127), cut(127))),
    Bug("offset of 32 bits", every("messages", "offset", beyond(33), wrapped(33))),
    Bug("timestamp as a double", every("messages", "timestamp", beyond(54), as_double)),
    Bug("id of 64 bits", every("messages", "id", beyond(65), lambda number: str(int(number) % (1 << 64)))),
    Bug("one header", every("messages", "headers", longer(1), cut(1))),
    Bug("partition of 16 bits", every("", "partition_id", beyond(17), to("0"))),
    Bug("current offset signed", every("", "current_offset", beyond(64), wrapped(64))),
    Bug("checksum of 63 bits", every("messages", "checksum", beyond(64), wrapped(64))),
    Bug("no messages", whole(lambda tree: not tree["messages"], "current_offset", to("0"))),
)

HEKA: Final = (
    Bug("3 fields", every("", "fields", longer(3), cut(3))),
    Bug("payload of 127", every("", "payload", longer(127), cut(127))),
    Bug("empty type as none", every("", "type", is_(""), to(None))),
    Bug("no hostname as empty", every("", "hostname", is_(None), to(""))),
    Bug("timestamp as a double", every("", "timestamp", beyond(54), as_double)),
    Bug("severity of a byte", every("", "severity", beyond(8), wrapped(8))),
    Bug("pid unsigned", every("", "pid", negative, lambda number: str(int(number) + (1 << 32)))),
    Bug("63 integers", every("fields", "value_integer", longer(63), cut(63))),
    Bug("one string", every("fields", "value_string", longer(1), cut(1))),
    Bug("representation", every("fields", "representation", is_(""), to(None))),
)  # fmt: skip


class Planted:
    """A codec of one format with the bugs that are switched on."""

    version = "1"
    name = ""
    format_id = ""
    bugs: tuple[Bug, ...] = ()

    def __init__(self) -> None:
        self.revisions = {self.format_id: {"ops": ["decode"]}}
        chosen = os.environ.get("PLANTED", "all")
        self._on = [bug for bug in self.bugs if chosen in ("all", bug.name)]
        self._seen = Path(os.environ["PLANTED_SEEN"]) if "PLANTED_SEEN" in os.environ else None

    def decode(self, request: Request) -> Accepted:
        row = formats.get(request.format, request.revision)
        decoded = formats.decode(row, request.data, request.options)
        value = to_json(decoded.value)
        for bug in self._on:
            if bug.change(value) and self._seen is not None and not (self._seen / bug.name).exists():
                (self._seen / bug.name).write_text(f"{time.process_time()}", encoding="utf-8")
        return Accepted(value=value, consumed=decoded.consumed)


class Kafka(Planted):
    """Reads batches of v2."""

    name, format_id, bugs = "planted-kafka", "kafka.batch/v2", KAFKA


class Iggy(Planted):
    """Reads polls."""

    name, format_id, bugs = "planted-iggy", "iggy.poll/0.11", IGGY


class Heka(Planted):
    """Reads messages."""

    name, format_id, bugs = "planted-heka", "heka.message/0.10", HEKA


CODECS: Final = (Kafka, Iggy, Heka)

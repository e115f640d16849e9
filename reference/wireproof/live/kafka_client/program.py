"""A running client program: its lines, its end, and how it is ended."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeAlias, get_args

import attrs
from attrs import frozen

from wireproof.adapters.errors import UnknownAdapter
from wireproof.adapters.process.stats import how_it_ended
from wireproof.adapters.registry.registered import AdapterOption
from wireproof.live.loopback_broker.regroup_records import SeenRecord
from wireproof.live.loopback_broker.served_log import Manner
from wireproof.strict_parsing import structure
from wireproof.wire.text import one_line

if TYPE_CHECKING:
    from queue import Queue

# --- options ---

KIND: Final = "kafka-client"

OLDEST_FETCH: Final = 4
NEWEST_FETCH: Final = 17

Side = Literal["both", "consume", "produce"]


@frozen
class ClientOptions:
    """The options of a client program; each is a word `NAME=VALUE` before the command.

    Attributes:
        name: the name for reports.
        fetch: the newest version of Fetch that the broker announces.
        serve: how a log is served.
        start: `consume` at an offset, or `subscribe` by a group.
        side: what is judged: the consumer, the producer, or both.
        lost: `answers`, if the broker closes the connection in place of the first answer to each producer
            with an id; the batch is stored.
    """

    name: str = KIND
    fetch: int = NEWEST_FETCH
    serve: Manner = "pieces"
    start: Literal["consume", "subscribe"] = "consume"
    side: Side = "both"
    lost: Literal["nothing", "answers"] = "nothing"

    def __attrs_post_init__(self) -> None:
        if not OLDEST_FETCH <= self.fetch <= NEWEST_FETCH:
            raise ValueError(f"fetch: must be from {OLDEST_FETCH} to {NEWEST_FETCH}, not {self.fetch}")

    def json(self) -> str:
        """Return the options as a word for the worker."""
        return json.dumps(attrs.asdict(self))

    @classmethod
    def of_json(cls, text: str) -> Self:
        """Return the options of such a word."""
        return structure(json.loads(text), cls, "the options")


ABOUT: Final = {
    "fetch": "the newest version of Fetch that the broker has",
    "serve": "how the broker serves a log; whole, also what no broker returns, is a check of robustness",
    "start": "assign a partition at an offset, or subscribe by a group",
    "side": "the side that is judged",
    "lost": "lose the first answer to a batch of a producer with an id",
}
"""What each option changes; `name` is for a command alone."""


def listed_options() -> tuple[AdapterOption, ...]:
    fields = attrs.fields_dict(ClientOptions)
    return tuple(
        AdapterOption(
            name,
            "|".join(get_args(fields[name].type)) or f"{OLDEST_FETCH}..{NEWEST_FETCH}",
            about,
            str(fields[name].default),
        )
        for name, about in ABOUT.items()
    )


def parse_spec(spec: str) -> tuple[ClientOptions, tuple[str, ...]]:
    """Return the options and the words of the command in `kafka-client:…`; raise `UnknownAdapter`."""
    given: dict[str, Any] = {}
    try:
        words = shlex.split(spec.partition(":")[2])
        while words and (found := re.fullmatch(r"([a-z]+)=(.*)", words[0])):
            given[found[1]] = found[2]
            del words[0]
        options = _options(given)
    except ValueError as error:
        raise UnknownAdapter(f"{spec}: {error}") from None
    if not words:
        raise UnknownAdapter(f"{spec}: a command is missing; a client is written {KIND}:COMMAND")
    return options, tuple(words)


def _options(given: dict[str, Any]) -> ClientOptions:
    known = attrs.fields_dict(ClientOptions)
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"no option {name}: there are {', '.join(known)}")
        if (choices := get_args(known[name].type)) and value not in choices:
            raise ValueError(f"{name}: must be one of {', '.join(choices)}, not {value}")
    if "fetch" in given:
        if not re.fullmatch(r"\d{1,3}", given["fetch"]):
            raise ValueError(f"fetch: must be a number, not {given['fetch']}")
        given["fetch"] = int(given["fetch"])
    return ClientOptions(**given)


# --- the program ---

LONGEST_LINE: Final = 128 * 1024 * 1024
"""Bytes of a line: the hex of the largest record of a case."""

LONG_LINE: Final = 64 * 1024
"""Bytes of a line of which none other waits to be taken; those of a piece of stderr."""

LINES_AHEAD: Final = 1000
"""Shorter lines that may wait to be taken: who prints more waits too."""

END_SECONDS: Final = 1.0
LAST_LINES: Final = 20
LONGEST: Final = 300

PANICS: Final = ("panic:", "panicked at", "fatal error:", "terminate called", "FATAL EXCEPTION")
"""Words of runtimes whose program died of a fault of its own."""

FULL: Final = "its disk is full"


@frozen
class LineRead:
    """A line on stdout."""

    text: bytes


@frozen
class Ended:
    """The program ended: its exit code, negative for a signal, and the last lines of its stderr."""

    code: int
    stderr: str

    @property
    def text(self) -> str:
        how = "ended with" if self.code >= 0 else "was ended by"
        rest = f": {self.stderr}" if self.stderr else " and wrote nothing to stderr"
        return f"the program {how} {how_it_ended(self.code)}{rest}"

    @property
    def has_full_disk(self) -> bool:
        """Return True if the program says so, which is no fault of a library."""
        return self.stderr.startswith(FULL)

    @property
    def has_crashed(self) -> bool:
        """Return True if the program died of a fault of its own."""
        return self.code < 0 or _is_panic(self.stderr)


def _is_panic(text: str) -> bool:
    return any(word in text for word in PANICS)


class ClientProgram:
    """A client program that runs."""

    def __init__(self, words: Sequence[str], events: "Queue[Any]") -> None:
        """Start it; what it prints is put into `events`, never far ahead of who takes it.

        Raises:
            OSError: it cannot be started.
        """
        self._events = events
        self._is_over = threading.Event()
        self._process = subprocess.Popen(  # noqa: S603 - the command of the user
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._errors: deque[str] = deque(maxlen=LAST_LINES)
        self._error_thread = threading.Thread(target=self._read_errors, daemon=True)
        self._error_thread.start()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stdout
        while line := self._process.stdout.readline(LONGEST_LINE):
            most = LINES_AHEAD if len(line) < LONG_LINE else 0
            while self._events.qsize() > most and not self._is_over.wait(0.01):
                pass
            if not self._is_over.is_set():
                self._events.put(LineRead(line))
        self._error_thread.join(END_SECONDS)
        full = [f"{FULL}: {line}" for line in self._errors if "no space left on device" in line.lower()]
        self._events.put(Ended(self._process.wait(), one_line(" | ".join(full or self._errors), LONGEST)))

    def _read_errors(self) -> None:
        assert self._process.stderr
        while line := self._process.stderr.readline(LONG_LINE):
            text = line[:LONGEST].decode(errors="replace").strip()
            in_panic = bool(self._errors) and _is_panic(self._errors[0])
            if _is_panic(text) and not in_panic:
                self._errors.clear()  # a stack behind it is often longer than the lines that are kept
            if text and not (in_panic and len(self._errors) == LAST_LINES):
                self._errors.append(text)

    def write(self, data: bytes) -> None:
        """Write to its stdin, and do nothing if it has ended."""
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._process.stdin.write(data)
            self._process.stdin.flush()

    def close_stdin(self) -> None:
        """Close its stdin, which ends a producer."""
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End it with every process of its session.

        One that it has put into another session may hold its pipes: nobody waits for that one, and the
        supervisor ends it with this process.
        """
        self._is_over.set()
        self._signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        self._signal(signal.SIGKILL)
        self._process.wait()
        self.close_stdin()
        self._thread.join(END_SECONDS)
        if not self._thread.is_alive():  # else closing a pipe waits for the thread that reads from it
            for pipe in (self._process.stdout, self._process.stderr):
                assert pipe
                pipe.close()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


# --- the lines that a program prints: records, errors, and answers to what it produced ---

TIMESTAMP_TYPES: Final = {"CreateTime": "create", "LogAppendTime": "log-append", None: "none"}

FIELDS: Final = ("offset", "timestamp", "timestampType", "key", "value", "headers")
"""The fields of a record; a library need not show each of them."""


@frozen
class Delivered:
    """A record, and the names of the fields that were printed of it."""

    record: SeenRecord
    shown: frozenset[str]


@frozen
class Failed:
    """An error of the library."""

    text: str


@frozen
class StoredRecord:
    """The answer to a record that was produced."""

    offset: int


Line: TypeAlias = Delivered | Failed | StoredRecord


def parse_line(text: bytes) -> Line:
    """Return what a line says; raise `ValueError` if it breaks the contract of a client program."""
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(row, dict):
        raise ValueError("a line must be a JSON object")  # noqa: TRY004 - a fault of the program, not of a type
    if "error" in row:
        return Failed(str(row["error"]))
    if set(row) == {"offset"}:
        return StoredRecord(_number(row, "offset"))
    if unknown := set(row) - set(FIELDS):
        raise ValueError(f"unknown field {min(unknown)}")
    kind = row.get("timestampType")
    if kind is not None and kind not in TIMESTAMP_TYPES:
        raise ValueError("timestampType: must be CreateTime, LogAppendTime or null")
    record = SeenRecord(
        _number(row, "offset"),
        -1 if row.get("timestamp") is None else _number(row, "timestamp"),
        _bytes(row.get("key"), "key"),
        _bytes(row.get("value"), "value"),
        _headers(row.get("headers")),
        TIMESTAMP_TYPES[kind] if "timestampType" in row else None,
    )
    return Delivered(record, frozenset(row))


def _number(row: Mapping[str, object], name: str) -> int:
    """Return a number as a library shows it: without a check of a varint it has more than 64 bits."""
    text = row.get(name)
    if not isinstance(text, str) or not re.fullmatch(r"-?\d{1,40}", text):
        raise ValueError(f"{name}: must be a decimal number in a string")
    return int(text)


def _bytes(text: object, name: str) -> bytes | None:
    if text is None:
        return None
    try:
        return bytes.fromhex(text)  # type: ignore[arg-type] # what is no text is a TypeError
    except (TypeError, ValueError):
        raise ValueError(f"{name}: must be hex or null") from None


def _headers(rows: object) -> tuple[tuple[bytes, bytes | None], ...]:
    if rows is None:
        return ()
    if not isinstance(rows, list) or any(not isinstance(row, list) or len(row) != 2 for row in rows):
        raise ValueError("headers: must be pairs of name and value")
    return tuple(
        (str(name).encode("utf-8", "surrogateescape"), _bytes(value, "headers")) for name, value in rows
    )

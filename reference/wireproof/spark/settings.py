"""The options of the sources, parsed and checked: one place for their names, types and defaults."""

import difflib
import json
import os
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from wireproof.spark import heka_columns, iggy_columns, kafka_columns
from wireproof.spark.columns import Table
from wireproof.spark.errors import SourceError
from wireproof.spark.framing import HEKA, IGGY, KAFKA, Framing
from wireproof.wire.options import MAX_OUTPUT, Options


@frozen
class Kind:
    """A source.

    Attributes:
        name: as Spark knows it.
        framings: by revision; the last is the default.
        frames, records: the two tables.
        suffixes: how the system names the objects that hold such logs; empty: anyhow.
    """

    name: str
    framings: Mapping[str, Framing]
    frames: Table
    records: Table
    suffixes: tuple[str, ...]


KINDS: Final = {
    one.name: one
    for one in (
        Kind(
            "wireproof.kafka_log",
            {KAFKA.row.revision: KAFKA},
            kafka_columns.FRAMES,
            kafka_columns.RECORDS,
            (".log",),
        ),
        Kind(
            "wireproof.heka_stream", {HEKA.row.revision: HEKA}, heka_columns.FRAMES, heka_columns.RECORDS, ()
        ),
        Kind("wireproof.iggy_log", IGGY, iggy_columns.FRAMES, iggy_columns.RECORDS, (".log",)),
    )
}
"""By name."""

CORES: Final = os.cpu_count() or 1
TASKS_PER_CORE: Final = 3
UNPACKED_MOST: Final = 16 * 1024 * 1024 * 1024


@frozen
class Settings:
    """What was asked for.

    Attributes:
        kind, framing, table: the source, its revision, and what a row stands for.
        paths: as they were given.
        raw: whether the column `raw` is in the schema when none is given.
        tasks: about how many to make of a batch.
        max_unpacked: bytes that one compressed object may unpack to.
        max_bytes, max_files: what one micro-batch of a stream takes; None: all there is.
        options: of the codec.
    """

    kind: Kind
    framing: Framing
    table: Table
    paths: tuple[str, ...]
    raw: bool
    tasks: int
    max_unpacked: int
    max_bytes: int | None
    max_files: int | None
    options: Options


def _number(name: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or not int(text):
        raise SourceError(f"option {name}: {text!r} is no positive number")
    return int(text)


def _truth(name: str, text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise SourceError(f"option {name}: {text!r} is neither true nor false")
    return text.lower() == "true"


def _keys(name: str, text: str) -> dict[str, bytes]:
    try:
        return {signer: bytes.fromhex(key) for signer, key in json.loads(text).items()}
    except (AttributeError, TypeError, ValueError):
        raise SourceError(f'option {name}: not as {{"signer_1": "<hex>"}}') from None


def _paths(name: str, text: str) -> tuple[str, ...]:
    try:
        return tuple(map(str, json.loads(text)))
    except (TypeError, ValueError):
        raise SourceError(f"option {name}: not a JSON list of paths") from None


def _word(*words: str) -> Callable[[str, str], str]:
    def parse(name: str, text: str) -> str:
        if text not in words:
            raise SourceError(f"option {name}: {text!r} is none of {', '.join(words)}")
        return text

    return parse


_OPTIONS: Final[dict[str, Callable[[str, str], Any]]] = {
    "path": lambda _, text: (text,),
    "paths": _paths,
    "rows": _word("frames", "records"),
    "raw": _truth,
    "revision": lambda _, text: text,
    "tasks": _number,
    "max_unpacked": _number,
    "max_output": _number,
    "max_message": _number,
    "resync": _word("strict", "go", "c"),
    "compression": _word("none", "snappy"),
    "keys": _keys,
    "maxbytespertrigger": _number,
    "maxfilespertrigger": _number,
}
"""By name, in lower case, as Spark hands them over."""


def parse(name: str, given: Mapping[str, str]) -> Settings:
    """The settings of the source `name`; raises `SourceError` for an option that is unknown or cannot be."""
    kind, got = KINDS[name], {}
    for option, text in given.items():
        lower = option.lower()
        if lower not in _OPTIONS:
            near = difflib.get_close_matches(lower, _OPTIONS, n=1, cutoff=0.5)
            raise SourceError(f"no option {option}; {f'is it {near[0]}?' if near else ', '.join(_OPTIONS)}")
        got[lower] = _OPTIONS[lower](option, text)
    records = got.get("rows") == "records"
    if records and got.get("raw"):
        raise SourceError(
            "option raw: the bytes of an entry stand in a row of an entry; leave rows=records away"
        )
    if "maxbytespertrigger" in got and "maxfilespertrigger" in got:
        raise SourceError("options maxBytesPerTrigger and maxFilesPerTrigger: one of them")
    return Settings(
        kind=kind,
        framing=_framing(kind, got.get("revision", list(kind.framings)[-1])),
        table=kind.records if records else kind.frames,
        paths=(*got.get("path", ()), *got.get("paths", ())),
        raw=got.get("raw", False),
        tasks=got.get("tasks", TASKS_PER_CORE * CORES),
        max_unpacked=got.get("max_unpacked", UNPACKED_MOST),
        max_bytes=got.get("maxbytespertrigger"),
        max_files=got.get("maxfilespertrigger"),
        options=_codec(got),
    )


def _framing(kind: Kind, revision: str) -> Framing:
    if revision not in kind.framings:
        raise SourceError(f"option revision: {revision!r} is none of {', '.join(kind.framings)}")
    return kind.framings[revision]


def _codec(got: Mapping[str, Any]) -> Options:
    return Options(
        max_output=got.get("max_output", MAX_OUTPUT),
        max_message=got.get("max_message"),
        resync=got.get("resync", "strict"),
        compression=got.get("compression", "none"),
        keys=got.get("keys"),
    )

"""The sources for Spark, and their options: one place for the names, types and defaults."""

import json
import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, get_args

from attrs import evolve, frozen

from wireproof.family import object_at
from wireproof.formats import FAMILIES
from wireproof.spark.columns import SourceTable
from wireproof.spark.errors import SourceError
from wireproof.spark.split_points import StreamFraming
from wireproof.suggestions import suggestion
from wireproof.wire.options import CODEC_OPTIONS, Compression, Options, ResyncMode

PREFIX: Final = "wireproof."
"""The beginning of the names in Spark."""


@frozen
class SourceKind:
    """A source.

    Attributes:
        name: its name in Spark.
        framings: by revision; the last one is the default.
        frames, records: its two tables.
        suffixes: the endings of the names of such logs; empty if any name may be one.
        revision_of: returns the revision of an object that begins with these bytes; None if they do not prove
            that it is such a log.
        index_files: whether index files may be beside the logs.
        stream_max_message: the `max_message` of a stream if none is given; None is the limit of the format.
    """

    name: str
    framings: Mapping[str, StreamFraming]
    frames: SourceTable
    records: SourceTable
    suffixes: tuple[str, ...] = ()
    revision_of: Callable[[bytes], str | None] = lambda _: None
    index_files: bool = False
    stream_max_message: int | None = None

    @property
    def short_name(self) -> str:
        """Return the name of the source in `wireproof scan`."""
        return self.name.removeprefix(PREFIX)


# --- options ---


@cache
def source_kinds() -> dict[str, SourceKind]:
    """Return the sources of all families, by name."""
    return {
        f"{PREFIX}{name}": object_at(place)
        for family in FAMILIES.values()
        for name, place in family.sources.items()
    }


CORES: Final = os.cpu_count() or 1
TASKS_PER_CORE: Final = 3
MAX_UNPACKED: Final = 16 * 1024 * 1024 * 1024


@frozen
class SourceSettings:
    """The parsed options of a source.

    Attributes:
        kind, framing, table: the source, the rules of its revision, and the table.
        paths: as given.
        raw: whether the column `raw` is in the schema if none is given.
        tasks: about how many tasks to make of a batch.
        max_unpacked: the greatest number of decompressed bytes of one compressed object.
        positions: the first position of the entries to read and the one after the last; None reads all.
        max_bytes, max_files: the limits of one micro-batch of a stream; None is no limit.
        options: of the codec.
        assumed_max_message: the `max_message` that `for_stream` chose; None if it was given or not needed.
    """

    kind: SourceKind
    framing: StreamFraming
    table: SourceTable
    paths: tuple[str, ...]
    raw: bool
    tasks: int
    max_unpacked: int
    positions: tuple[int, int] | None
    max_bytes: int | None
    max_files: int | None
    options: Options
    assumed_max_message: int | None = None


def _number(name: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or not int(text):
        raise SourceError(f"option {name}: {text!r} is not a positive number")
    return int(text)


def _positions(name: str, text: str) -> tuple[int, int]:
    first, _, end = text.partition(":")
    if not (
        first.isascii() and first.isdigit() and end.isascii() and end.isdigit() and int(first) < int(end)
    ):
        raise SourceError(f"option {name}: {text!r} is not FIRST:END, such as 0:1000000")
    return int(first), int(end)


def _boolean(name: str, text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise SourceError(f"option {name}: {text!r} is not true or false")
    return text.lower() == "true"


def _keys(name: str, text: str) -> dict[str, bytes]:
    try:
        return {signer: bytes.fromhex(key) for signer, key in json.loads(text).items()}
    except (AttributeError, TypeError, ValueError):
        raise SourceError(f'option {name}: expected {{"signer_1": "<hex>"}}') from None


def _paths(name: str, text: str) -> tuple[str, ...]:
    try:
        return tuple(map(str, json.loads(text)))
    except (TypeError, ValueError):
        raise SourceError(f"option {name}: not a JSON list of paths") from None


def _one_of(*words: str) -> Callable[[str, str], str]:
    def parse(name: str, text: str) -> str:
        if text not in words:
            raise SourceError(f"option {name}: {text!r} is not one of {', '.join(words)}")
        return text

    return parse


_OPTIONS: Final[dict[str, Callable[[str, str], Any]]] = {
    "path": lambda _, text: (text,),
    "paths": _paths,
    "rows": _one_of("frames", "records"),
    "raw": _boolean,
    "revision": lambda _, text: text,
    "tasks": _number,
    "max_unpacked": _number,
    "max_output": _number,
    "max_message": _number,
    "positions": _positions,
    "resync": _one_of(*get_args(ResyncMode)),
    "compression": _one_of(*get_args(Compression)),
    "keys": _keys,
    "maxbytespertrigger": _number,
    "maxfilespertrigger": _number,
}
"""The parsers by option name, in lower case, as Spark passes them."""


def parse(name: str, given: Mapping[str, str]) -> SourceSettings:
    """Parse the options of the source `name`; raises `SourceError` for an unknown option or a wrong value."""
    kind, parsed = source_kinds()[name], {}
    for option, text in given.items():
        lower = option.lower()
        if lower not in _OPTIONS:
            known = f"the options are {', '.join(_OPTIONS)}"
            raise SourceError(f"unknown option {option}; {suggestion(lower, _OPTIONS, known)}")
        parsed[lower] = _OPTIONS[lower](option, text)
    records = parsed.get("rows") == "records"
    if records and parsed.get("raw"):
        raise SourceError("option raw: only rows=frames has the bytes of the entries; remove rows=records")
    if "maxbytespertrigger" in parsed and "maxfilespertrigger" in parsed:
        raise SourceError("options maxBytesPerTrigger and maxFilesPerTrigger: give only one of them")
    return SourceSettings(
        kind=kind,
        framing=_framing(kind, parsed.get("revision", list(kind.framings)[-1])),
        table=kind.records if records else kind.frames,
        paths=(*parsed.get("path", ()), *parsed.get("paths", ())),
        raw=parsed.get("raw", False),
        tasks=parsed.get("tasks", TASKS_PER_CORE * CORES),
        max_unpacked=parsed.get("max_unpacked", MAX_UNPACKED),
        positions=parsed.get("positions"),
        max_bytes=parsed.get("maxbytespertrigger"),
        max_files=parsed.get("maxfilespertrigger"),
        options=Options(**{name: parsed[name] for name in CODEC_OPTIONS & parsed.keys()}),
    )


def of_whole_objects(source: SourceSettings) -> SourceSettings:
    """Return the settings of a scan or a stream; raises `SourceError` if they are for parts of objects."""
    if source.positions:
        raise SourceError("option positions: scans and streams read whole objects; leave it out")
    return source


def for_stream(source: SourceSettings) -> SourceSettings:
    """Return the settings for a stream, where a large limit makes it wait long after a damaged size.

    Raises:
        SourceError: the settings are for parts of objects.
    """
    of_whole_objects(source)
    most = source.kind.stream_max_message
    if most is None or source.options.max_message is not None:
        return source
    return evolve(source, options=evolve(source.options, max_message=most), assumed_max_message=most)


def _framing(kind: SourceKind, revision: str) -> StreamFraming:
    if revision not in kind.framings:
        raise SourceError(f"option revision: {revision!r} is not one of {', '.join(kind.framings)}")
    return kind.framings[revision]

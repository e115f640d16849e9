"""Paths, directories and globs, on any store that pyarrow knows, as the objects that they name.

A directory stands for the objects below it whose names a system gives its logs; what begins with a dot or an
underscore is hidden, as everywhere in Spark, but for the folders of partitions: Kafka's own topics, such as
`__consumer_offsets-0`, begin so. An object that is named itself, or matched by a glob, is taken whatever it
is called. What is left out is listed with the reason.
"""

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from attrs import frozen
from pyarrow import fs

from wireproof.spark.errors import SourceError

COMPRESSIONS: Final = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
"""By the ending of a name: what the whole object is packed with."""

IN_PATH: Final = frozenset({"s3", "gs", "gcs", "abfs", "abfss"})
"""Schemes whose bucket or container pyarrow counts to the path."""


@frozen
class Place:
    """An object.

    Attributes:
        store: the URI that its file system is made from, or `""` for the local one.
        path: within that file system.
        shown: how it is named in rows and messages; bears no credentials.
        size: bytes, as stored.
    """

    store: str
    path: str
    shown: str
    size: int

    @property
    def compression(self) -> str | None:
        """What the whole object is packed with; None if it is as it was written."""
        return COMPRESSIONS.get(Path(self.path).suffix)


@lru_cache(maxsize=16)
def filesystem(store: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    """The file system of a `Place.store`."""
    return fs.FileSystem.from_uri(store)[0] if store else fs.LocalFileSystem()


def sized(place: Place) -> int:
    """The bytes that the object has now; raises `SourceError` if it is gone."""
    info = filesystem(place.store).get_file_info(place.path)
    if info.type != fs.FileType.File:
        raise SourceError(f"{place.shown} is gone")
    return int(info.size)


@frozen
class Skipped:
    """An object that is not read, and why."""

    shown: str
    size: int
    why: str


HIDDEN: Final = "hidden: the name, or that of a folder, begins with a dot or an underscore"
OTHER: Final = "not named as a log"
AGAIN: Final = "another name of an object that is read"
NOWHERE: Final = "a link that leads nowhere"
EMPTY: Final = "empty"

PARTITION: Final = re.compile(r"_.*-\d+(\.[0-9a-f]+-(delete|stray|future))?")
"""The folder of a partition: topic and number, and what Kafka adds to it."""


def expand(paths: Iterable[str], suffixes: tuple[str, ...]) -> list[Place]:
    """The objects that `paths` name, as `listed` has them."""
    return listed(paths, suffixes)[0]


def listed(paths: Iterable[str], suffixes: tuple[str, ...]) -> tuple[list[Place], list[Skipped]]:
    """The objects that `paths` name, each once, sorted, and those among them that are left out.

    Args:
        paths: local paths or URIs; `*` matches within a component, `**` any number of them, `[a-c]` one
            character, and `?` one character of a local path.
        suffixes: endings of the names taken from a directory, packed or not; none takes every name.

    Raises:
        SourceError: nothing there, or no store of this scheme.
    """
    found = {one.shown: one for path in paths for one in _expand(path, suffixes)}
    places, skipped, seen = list[Place](), list[Skipped](), set[str]()
    for shown in sorted(found, key=lambda shown: (_linked(found[shown]), shown)):
        one = found[shown]
        match one:
            case Place() if (real := _real(one)) in seen:
                skipped.append(Skipped(one.shown, one.size, f"{AGAIN}, {real}"))
            case Place():
                seen.add(_real(one))
                places.append(one)
            case _:
                skipped.append(one)
    return sorted(places, key=lambda place: place.shown), sorted(skipped, key=lambda one: one.shown)


def _real(place: Place) -> str:
    """The object behind links, where there are some."""
    return place.shown if place.store else os.path.realpath(place.path)


def _linked(one: Place | Skipped) -> bool:
    return isinstance(one, Place) and not one.store and os.path.realpath(one.path) != one.path


def _expand(path: str, suffixes: tuple[str, ...]) -> Iterator[Place | Skipped]:
    parts = urlsplit(path) if "://" in path else None
    signs = "*[" if parts else "*?["
    inside = parts.path if parts else str(Path(path).expanduser().absolute())
    first = min((at for at in map(inside.find, signs) if at >= 0), default=-1)
    base = inside if first < 0 else inside[: inside.rindex("/", 0, first) + 1]
    try:
        store = _store(parts, base)
        root = _rooted(store, base)
        places = list(_below(store, root, parts, inside[len(base) :], suffixes))
    except (OSError, ValueError) as error:
        raise SourceError(f"{_named(path)}: {str(error).splitlines()[0]}") from None
    if not any(isinstance(one, Place) for one in places):
        raise SourceError(f"{_named(path)}: no log there; name the objects or a directory that holds some")
    yield from places


def _store(parts: SplitResult | None, base: str) -> str:
    return parts._replace(path=base).geturl() if parts else ""


def _rooted(store: str, base: str) -> str:
    return str(fs.FileSystem.from_uri(store)[1]) if store else base


def _named(path: str) -> str:
    """A URI without credentials and options."""
    if "://" not in path:
        return path
    parts = urlsplit(path)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _shown(parts: SplitResult | None, path: str) -> str:
    if parts is None or parts.scheme == "file":
        return path
    if parts.scheme in IN_PATH:
        return f"{parts.scheme}://{path}"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path}"


def _below(
    store: str, root: str, parts: SplitResult | None, pattern: str, suffixes: tuple[str, ...]
) -> Iterator[Place | Skipped]:
    """The objects at `root`; or those below it that `pattern` matches, or whose directory it does."""
    files, base = filesystem(store), root.rstrip("/")
    info = files.get_file_info(base or "/")
    if info.type == fs.FileType.File:
        yield Place(store, info.path, _shown(parts, info.path), info.size)
        return
    if info.type == fs.FileType.NotFound:
        raise SourceError("not found")
    matches = re.compile(_regex(pattern.strip("/"))) if pattern else None
    for inner, size in _files(store, base):
        shown = _shown(parts, inner)
        match _left_out(inner[len(base) + 1 :], matches, suffixes):
            case None:
                continue
            case "" if size < 0:
                yield Skipped(shown, 0, NOWHERE)
            case "":
                yield Place(store, inner, shown, size)
            case why:
                yield Skipped(shown, max(size, 0), why)


def _files(store: str, base: str) -> Iterator[tuple[str, int]]:
    """Path and size of each file below a directory; -1 for a link that leads nowhere."""
    if store:
        for one in filesystem(store).get_file_info(fs.FileSelector(base or "/", recursive=True)):
            if one.type == fs.FileType.File:
                yield one.path, int(one.size)
    else:
        yield from _local(base)


def _local(base: str) -> Iterator[tuple[str, int]]:
    """The files of a local directory; links to directories come last, and each directory is entered once."""
    waiting, links, seen = [base or "/"], list[str](), set[str]()
    while waiting or links:
        here = waiting.pop() if waiting else links.pop(0)
        if (real := os.path.realpath(here)) in seen:
            continue
        seen.add(real)
        with os.scandir(here) as found:
            for one in sorted(found, key=lambda entry: entry.name):
                if one.is_dir():
                    (links if one.is_symlink() else waiting).append(one.path)
                elif one.is_file():
                    yield one.path, one.stat().st_size
                elif one.is_symlink():
                    yield one.path, -1


def _left_out(relative: str, matches: re.Pattern[str] | None, suffixes: tuple[str, ...]) -> str | None:
    """Why an object is left out; empty if it is taken, None if nobody named it."""
    if matches is None:
        return _no_log(relative, suffixes)
    if matches.fullmatch(relative):
        return ""
    steps = relative.split("/")
    for count in range(1, len(steps)):
        if matches.fullmatch("/".join(steps[:count])):
            return _no_log("/".join(steps[count:]), suffixes)
    return None


def _no_log(relative: str, suffixes: tuple[str, ...]) -> str:
    """Why the name below a directory is not that of a log; empty if it is."""
    *folders, name = relative.split("/")
    if name.startswith((".", "_")) or any(_hidden(folder) for folder in folders):
        return HIDDEN
    path = Path(relative)
    plain = path.stem if path.suffix in COMPRESSIONS else path.name
    return "" if not suffixes or plain.endswith(suffixes) else OTHER


def _hidden(folder: str) -> bool:
    return folder.startswith(".") or (folder.startswith("_") and not PARTITION.fullmatch(folder))


_SIGNS: Final = re.compile(r"\*\*/?|\*|\?|\[!?[^\]]+\]")


def _regex(pattern: str) -> str:
    """The regular expression of a glob over a relative path."""
    out, at = "", 0
    for sign in _SIGNS.finditer(pattern):
        out += re.escape(pattern[at : sign.start()]) + _sign(sign.group())
        at = sign.end()
    return out + re.escape(pattern[at:])


def _sign(sign: str) -> str:
    match sign:
        case "**/":
            return "(?:[^/]+/)*"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _:
            return "[^" + sign[2:] if sign.startswith("[!") else sign

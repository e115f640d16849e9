"""Paths, directories and globs, on any store that pyarrow knows, as the objects that they name.

A directory stands for the objects below it whose names a system gives its logs; what begins with a dot or an
underscore is hidden, as everywhere in Spark. An object that is named itself, or matched by a glob, is taken
whatever it is called.
"""

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


def expand(paths: Iterable[str], suffixes: tuple[str, ...]) -> list[Place]:
    """The objects that `paths` name, each once, sorted.

    Args:
        paths: local paths or URIs; `*` matches within a component, `**` any number of them, `[a-c]` one
            character, and `?` one character of a local path.
        suffixes: endings of the names taken from a directory, packed or not; none takes every name.

    Raises:
        SourceError: nothing there, or no store of this scheme.
    """
    found = {place.shown: place for path in paths for place in _expand(path, suffixes)}
    return [found[shown] for shown in sorted(found)]


def _expand(path: str, suffixes: tuple[str, ...]) -> Iterator[Place]:
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
    if not places:
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
) -> Iterator[Place]:
    """The objects at `root`; or those below it that `pattern` matches, or whose directory it does."""
    files, base = filesystem(store), root.rstrip("/")
    info = files.get_file_info(base or "/")
    if info.type == fs.FileType.File:
        yield Place(store, info.path, _shown(parts, info.path), info.size)
        return
    if info.type == fs.FileType.NotFound:
        raise SourceError("not found")
    matches = re.compile(_regex(pattern.strip("/"))) if pattern else None
    for one in files.get_file_info(fs.FileSelector(base or "/", recursive=True)):
        if one.type == fs.FileType.File and _taken(one.path[len(base) + 1 :], matches, suffixes):
            yield Place(store, one.path, _shown(parts, one.path), one.size)


def _taken(relative: str, matches: re.Pattern[str] | None, suffixes: tuple[str, ...]) -> bool:
    if matches is None:
        return _is_log(relative, suffixes)
    if matches.fullmatch(relative):
        return True
    steps = relative.split("/")
    for count in range(1, len(steps)):
        if matches.fullmatch("/".join(steps[:count])):
            return _is_log("/".join(steps[count:]), suffixes)
    return False


def _is_log(relative: str, suffixes: tuple[str, ...]) -> bool:
    if any(step.startswith((".", "_")) for step in relative.split("/")):
        return False
    path = Path(relative)
    plain = path.stem if path.suffix in COMPRESSIONS else path.name
    return not suffixes or plain.endswith(suffixes)


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

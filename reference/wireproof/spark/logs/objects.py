"""Objects on any store that pyarrow supports: paths, directories and globs that name them, and their bytes.

A directory means the objects below it that have the name of a log. As everywhere in Spark, names that
begin with a dot or an underscore are hidden; the exception is partition folders, because Kafka's own topics
begin with an underscore (`__consumer_offsets-0`). An object that is named itself or matched by a glob is read
whatever its name is. Objects that are left out are listed with the reason.

Objects are not mapped into memory. Their owner may truncate a log while it is read: a missing mapped page
kills the process, but a short read can be reported.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from fnmatch import fnmatchcase
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from attrs import define, field, frozen
from pyarrow import fs

from wireproof.spark.errors import LostObjectError, SourceError

COMPRESSIONS: Final = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
"""The compression of a whole object, by the suffix of its name."""


@frozen
class ObjectPlace:
    """The place of an object in a store.

    Attributes:
        store: the URI of the file system, or `""` for the local one.
        path: within that file system.
        display_name: its name in rows and messages, without credentials.
        size: bytes, as stored.
        modified: the time of its last change, in nanoseconds; 0 if the store does not say.
    """

    store: str
    path: str
    display_name: str
    size: int
    modified: int = 0

    @property
    def compression(self) -> str | None:
        """Return the compression of the whole object; None if it is not compressed."""
        return COMPRESSIONS.get(Path(self.path).suffix)


@lru_cache(maxsize=16)
def filesystem(store: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the file system of an `ObjectPlace.store`."""
    return fs.FileSystem.from_uri(store)[0] if store else fs.LocalFileSystem()


HIDDEN: Final = "hidden: its name, or that of a folder, begins with a dot or an underscore"
NOT_A_LOG: Final = "not named as a log"
DUPLICATE: Final = "another path of an object that is read"
EMPTY: Final = "empty"
BROKEN_LINK: Final = "a broken link"
NOT_CHOSEN: Final = "left out by an option"
NOT_A_FILE: Final = "neither a file nor a folder"
UNREADABLE: Final = "cannot be read"


@frozen
class SkippedObject:
    """An object that is not read, and the reason."""

    display_name: str
    size: int
    reason: str

    @property
    def is_error(self) -> bool:
        """Return whether bytes of a log may be missed; a broker has empty segments too."""
        return self.reason.startswith((BROKEN_LINK, NOT_A_FILE, UNREADABLE))


def lost(name: str, error: OSError) -> LostObjectError:
    """Return the error of an object that cannot be opened or read."""
    line = str(error).partition("\n")[0]  # in which pyarrow writes more before the reason of the system
    return LostObjectError(f"{name}: {line}", re.sub(r".*Detail: \[errno \d+\] ", "", error.strerror or line))


def unreadable(place: ObjectPlace) -> str:
    """Return why a local object cannot be read; empty if it can, or is not on this machine."""
    try:
        if not place.store:
            with Path(place.path).open("rb") as file:
                file.read(1)
    except OSError as error:
        return f"{UNREADABLE}: {error.strerror}"
    return ""


@frozen
class ListingFilter:
    """The choice among listed objects by the options that Spark's own sources of files have.

    Attributes:
        glob: a pattern for the last part of a name (`pathGlobFilter`); None takes every name.
        recursive: whether folders below a folder are read too (`recursiveFileLookup`).
        after, before: limits of the time of change in nanoseconds (`modifiedAfter`, `modifiedBefore`).
    """

    glob: str | None = None
    recursive: bool = True
    after: int | None = None
    before: int | None = None

    def takes(self, place: ObjectPlace, top: str) -> bool:
        """Return whether an object at or below the folder `top` is taken."""
        name = place.path.rpartition("/")[2]
        return (
            (self.glob is None or any(fnmatchcase(name, one) for one in expand_braces(self.glob)))
            and (self.recursive or "/" not in place.path[len(top) :].lstrip("/"))
            and (self.after is None or place.modified > self.after)
            and (self.before is None or place.modified < self.before)
        )


EVERYTHING: Final = ListingFilter()


def expand_braces(path: str) -> list[str]:
    """Return the paths of a pattern with alternatives, as in `orders-{0,1}`."""
    found = re.search(r"\{([^{}]*,[^{}]*)\}", path)
    if found is None or os.path.lexists(path):
        return [path]
    before, behind = path[: found.start()], path[found.end() :]
    return [whole for word in found[1].split(",") for whole in expand_braces(before + word + behind)]


def expand_paths(
    paths: Iterable[str], suffixes: tuple[str, ...], chosen: ListingFilter = EVERYTHING
) -> list[ObjectPlace]:
    """Return the objects that `paths` name, as `list_objects` does."""
    return list_objects(paths, suffixes, chosen)[0]


def list_objects(
    paths: Iterable[str], suffixes: tuple[str, ...], chosen: ListingFilter = EVERYTHING
) -> tuple[list[ObjectPlace], list[SkippedObject]]:
    """Return the objects that `paths` name, each once and sorted, and the objects that are left out.

    Of objects that links make the same one, the one whose path has no link is read.

    Args:
        paths: local paths or URIs; `*` matches within a component, `**` any number of components, `[a-c]` one
            character, `{a,b}` one of some texts, and `?` one character of a local path.
        suffixes: endings of the names taken from a directory, compressed or not; empty takes every name.
        chosen: a further choice among them.

    Raises:
        SourceError: nothing found, or no store of this scheme.
    """
    found: dict[str, ObjectPlace | SkippedObject] = {}
    for path in paths:
        alternatives, errors = expand_braces(path), list[SourceError]()
        for each in alternatives:  # some of them may name nothing
            try:
                found |= {one.display_name: one for one in _expand(each, suffixes, chosen)}
            except SourceError as error:
                errors.append(error)
        if len(errors) == len(alternatives):
            raise errors[0]
    skipped = [each for each in found.values() if isinstance(each, SkippedObject)]
    named = [
        (place.display_name if place.store else os.path.realpath(place.path), place)
        for place in found.values()
        if isinstance(place, ObjectPlace)
    ]
    places: dict[str, ObjectPlace] = {}
    for real, place in sorted(
        named, key=lambda row: (not row[1].store and row[0] != row[1].path, row[1].display_name)
    ):
        if places.setdefault(real, place) is not place:
            skipped.append(SkippedObject(place.display_name, place.size, f"{DUPLICATE}, {real}"))
    by_name = attrgetter("display_name")
    return sorted(places.values(), key=by_name), sorted(skipped, key=by_name)


def _expand(
    path: str, suffixes: tuple[str, ...], chosen: ListingFilter
) -> Iterator[ObjectPlace | SkippedObject]:
    path = re.sub("^s3[an]://", "s3://", re.sub("^file:/+", "/", path))  # as Hadoop writes them
    is_uri = "://" in path
    parts = urlsplit(path) if is_uri else None
    wildcards = "*[" if parts else "*?["
    inside = parts.path if parts else str(Path(path).expanduser().absolute())
    first = min((at for at in map(inside.find, wildcards) if at >= 0), default=-1)
    base = inside if first < 0 else inside[: inside.rindex("/", 0, first) + 1]
    try:
        store = parts._replace(path=base).geturl() if parts else ""
        root = str(fs.FileSystem.from_uri(store)[1]) if store else base
        places = list(_below(store, root, parts, inside[len(base) :], suffixes))
    except (OSError, ValueError) as error:
        raise SourceError(f"{_without_credentials(path)}: {str(error).splitlines()[0]}") from None
    if not any(isinstance(each, ObjectPlace) for each in places):
        raise SourceError(
            f"{_without_credentials(path)}: no log found; name objects, or a directory that contains logs"
        )
    for each in places:
        if isinstance(each, ObjectPlace) and not chosen.takes(each, root):
            yield SkippedObject(each.display_name, each.size, NOT_CHOSEN)
        else:
            yield each


def _without_credentials(path: str) -> str:
    """Return a URI without credentials and options."""
    if "://" not in path:
        return path
    parts = urlsplit(path)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _display_name(parts: SplitResult | None, path: str) -> str:
    if parts is None or parts.scheme == "file":
        return path
    in_path = parts.scheme in {"s3", "gs", "gcs", "abfs", "abfss"}  # the bucket or container, for pyarrow
    return f"{parts.scheme}://{'' if in_path else parts.netloc.rpartition('@')[2]}{path}"


def _below(
    store: str, root: str, parts: SplitResult | None, pattern: str, suffixes: tuple[str, ...]
) -> Iterator[ObjectPlace | SkippedObject]:
    """Yield the object at `root`, or those below it that `pattern` matches or whose directory it matches."""
    files, base = filesystem(store), root.rstrip("/")
    info = files.get_file_info(base or "/")
    if info.type == fs.FileType.File:
        name = _display_name(parts, info.path)
        yield ObjectPlace(store, info.path, name, info.size, info.mtime_ns or 0)
        return
    if info.type == fs.FileType.NotFound:
        raise SourceError("not found")
    matches = re.compile(_regex(pattern.strip("/"))) if pattern else None
    if store:
        infos = files.get_file_info(fs.FileSelector(base or "/", recursive=True))
        below = ((one.path, one.size, one.mtime_ns or 0) for one in infos if one.type == fs.FileType.File)
    for inner, size, modified in below if store else _local(base):
        name = _display_name(parts, inner)
        match _reason_to_skip(inner[len(base) + 1 :], matches, suffixes):
            case None:
                continue
            case "" if size < 0:
                yield SkippedObject(name, 0, BROKEN_LINK if Path(inner).is_symlink() else NOT_A_FILE)
            case "":
                yield ObjectPlace(store, inner, name, size, modified)
            case why:
                yield SkippedObject(name, max(size, 0), why)


def _local(base: str) -> Iterator[tuple[str, int, int]]:
    """Yield path, size and time of change of what is below a local directory; size -1 for what is no file.

    Directories that are links come last, and each directory is read once.
    """
    waiting, links, seen = [base or "/"], list[str](), set[str]()
    while waiting or links:
        here = waiting.pop() if waiting else links.pop(0)
        if (real := os.path.realpath(here)) in seen:
            continue
        seen.add(real)
        with os.scandir(here) as found:
            for entry in sorted(found, key=lambda entry: entry.name):
                if entry.is_dir():
                    (links if entry.is_symlink() else waiting).append(entry.path)
                elif entry.is_file():
                    status = entry.stat()
                    yield entry.path, status.st_size, status.st_mtime_ns
                else:
                    yield entry.path, -1, 0


def _reason_to_skip(relative: str, matches: re.Pattern[str] | None, suffixes: tuple[str, ...]) -> str | None:
    """Return why an object is left out: empty if it is taken, None if nothing names it."""
    if matches is None:
        return _reason_not_log(relative, suffixes)
    if matches.fullmatch(relative):
        return ""
    steps = relative.split("/")
    for count in range(1, len(steps)):
        if matches.fullmatch("/".join(steps[:count])):
            return _reason_not_log("/".join(steps[count:]), suffixes)
    return None


def _reason_not_log(relative: str, suffixes: tuple[str, ...]) -> str:
    """Return why a name below a directory is not that of a log; empty if it is."""
    *folders, name = relative.split("/")
    # The folder of a partition has its topic and number, and suffixes that Kafka adds.
    partition = re.compile(r"_.*-\d+(\.[0-9a-f]+-(delete|stray|future))?")
    internal = [folder for folder in folders if folder.startswith("_") and not partition.fullmatch(folder)]
    if internal or name.startswith("_") or any(word.startswith(".") for word in (*folders, name)):
        return HIDDEN
    path = Path(relative)
    plain = path.stem if path.suffix in COMPRESSIONS else path.name
    return "" if not suffixes or plain.endswith(suffixes) else NOT_A_LOG


def _regex(pattern: str) -> str:
    """Return the regular expression of a glob over a relative path."""
    expressions = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    words = re.split(r"(\*\*/?|\*|\?|\[!?[^\]]+\])", pattern)  # each second one is a wildcard
    for at, word in enumerate(words):
        characters = "[^" + word[2:] if word.startswith("[!") else word
        words[at] = expressions.get(word, characters) if at % 2 else re.escape(word)
    return "".join(words)


# --- reading ---

LOCAL_WINDOW: Final = 512
"""Bytes read at once to look at headers on a local disk, where reading unneeded bytes also costs."""

REMOTE_WINDOW: Final = 1024 * 1024
"""The same on a store behind a network, where a request costs more than a mebibyte."""

PIECE_SIZES: Final = (64 * 1024, 4 * 1024 * 1024)
"""Bytes of the first piece and of the longest: sizes double, so that a short look costs little."""

_free_memory: list[bytearray] = []
"""Two buffers at most, kept for the next object: new pages cost as much as reading into them."""


@define
class LocalFile:
    """A file on this machine."""

    descriptor: int

    def read_into(self, room: memoryview, position: int) -> memoryview:
        """Return the part of `room` that was filled: all of it, unless the file ends before."""
        filled = 0
        while filled < len(room) and (got := os.preadv(self.descriptor, [room[filled:]], position + filled)):
            filled += got
        return room[:filled]

    def close(self) -> None:
        """Close the file."""
        os.close(self.descriptor)


@define
class ObjectReader:
    """Reads the first `size` bytes of an object.

    Attributes:
        file: a `LocalFile`, or a file of pyarrow; both have `read_at` or `read_into`.
        display_name: the name of the object in messages.
        size: the end of the object, even if bytes were appended since.
        window: bytes that `at` reads at once.
    """

    file: Any
    display_name: str
    size: int
    window: int = LOCAL_WINDOW
    _held: bytes = field(default=b"", init=False)
    _held_at: int = field(default=0, init=False)
    _memory: bytearray = field(factory=bytearray, init=False)

    @classmethod
    def of(cls, place: ObjectPlace) -> "ObjectReader":
        """Open the object; raises `LostObjectError` if that fails."""
        try:
            file = (
                filesystem(place.store).open_input_file(place.path)
                if place.store
                else LocalFile(os.open(place.path, os.O_RDONLY))
            )
        except OSError as error:
            raise lost(place.display_name, error) from None
        return cls(file, place.display_name, place.size, REMOTE_WINDOW if place.store else LOCAL_WINDOW)

    def read(self, position: int, length: int) -> bytes:
        """Read these bytes, as far as they are before the end.

        Raises:
            LostObjectError: the object got shorter, or cannot be read.
        """
        wanted = min(length, self.size - position)
        if isinstance(self.file, LocalFile) and wanted > 0:  # most reads are short, and there are many
            try:
                data = os.pread(self.file.descriptor, wanted, position)
            except OSError as error:
                raise lost(self.display_name, error) from None
            if len(data) == wanted:
                return data
        return bytes(self.view(position, length))

    def view(self, position: int, length: int) -> memoryview:
        """Read these bytes into memory that the next view overwrites.

        New memory costs more than reading into it.
        """
        wanted = min(length, self.size - position)
        if wanted <= 0:
            return memoryview(b"")
        try:
            if isinstance(self.file, LocalFile):
                if len(self._memory) < wanted:  # that of an object before this one may be large enough
                    free = _free_memory.pop() if _free_memory else bytearray()
                    self._memory = free if len(free) >= wanted else bytearray(wanted)
                data = self.file.read_into(memoryview(self._memory)[:wanted], position)
            else:
                data = memoryview(self.file.read_at(wanted, position))
        except OSError as error:
            raise lost(self.display_name, error) from None
        if len(data) < wanted:
            reason = f"had {self.size} bytes and ends at {position + len(data)}"
            raise LostObjectError(f"{self.display_name} {reason}: read it again", f"it {reason}")
        return data

    def hole_end(self, at: int) -> int:
        """Return the position itself: nothing is known of holes."""
        return at

    def at(self, position: int, length: int) -> tuple[bytes, int]:
        """Return some bytes, and the index in them of `position`.

        At least `length` bytes follow that index, fewer at the end of the object.
        """
        inside = position - self._held_at
        if inside < 0 or inside + length > len(self._held):
            self._held, self._held_at, inside = self.read(position, max(length, self.window)), position, 0
        return self._held, inside

    def pieces(self, position: int) -> "PieceReader":
        """Return all bytes from `position` on, in pieces."""
        return PieceReader(self, position)

    def close(self) -> None:
        """Close the object and keep the memory of its views for the next one."""
        self.file.close()
        if self._memory and len(_free_memory) < 2:
            _free_memory.append(self._memory)
        self._memory = bytearray()


def read_if_there(place: ObjectPlace, start: int, size: int) -> bytes | None:
    """Return some bytes of an object, as far as they are before its end; None if it was lost."""
    try:
        with closing(ObjectReader.of(place)) as stored:
            return stored.read(start, size)
    except LostObjectError:
        return None


@define
class PieceReader(Iterator[bytes]):
    """The bytes of an object from a position on; the last ones are kept and can be read again.

    Attributes:
        position: the first byte that was not returned yet.
        ended: whether more bytes were requested than there are.
    """

    stored: ObjectReader
    position: int
    ended: bool = field(default=False, init=False)
    _kept: bytearray = field(factory=bytearray, init=False)
    _length: int = field(default=PIECE_SIZES[0], init=False)

    def __next__(self) -> bytes:
        """Return the next piece."""
        piece = self.stored.read(self.position, self._length)
        if not piece:
            self.ended = True
            raise StopIteration
        self.position += len(piece)
        self._kept += piece
        self._length = min(2 * self._length, PIECE_SIZES[1])
        return piece

    @property
    def size(self) -> int:
        """Return the end of the object."""
        return self.stored.size

    def read(self, position: int, length: int) -> bytes:
        """Read as `ObjectReader.read`, from the kept bytes if possible."""
        inside = position - (self.position - len(self._kept))
        end = min(position + length, self.stored.size)
        if inside < 0 or end > self.position:
            return self.stored.read(position, length)
        return bytes(self._kept[inside : inside + end - position])

    def forget(self, position: int) -> None:
        """Drop the kept bytes before a position."""
        del self._kept[: max(position - (self.position - len(self._kept)), 0)]

    def skip(self, position: int) -> None:
        """Continue at a later position, without the bytes before it."""
        self.position = position
        self._kept.clear()

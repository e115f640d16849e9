"""One registered adapter: what to start, and what must be there first. Design, section 4."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from attrs import Factory, field, frozen

Wire = Literal["exec", "jsonl"]


@frozen
class Build:
    """How a driver comes to be in the user's cache: once for each edition of its source.

    Attributes:
        source: the folder of the driver, absolute or below `tests/peers`.
        steps: commands, run in a copy of that folder; `{build}` stands for the copy's path.
        shared: folders under `tests/peers/_shared`, by name, with the common code of several drivers; the
            copy has each of them as `_shared/NAME`.
    """

    source: Path | str
    steps: tuple[tuple[str, ...], ...]
    shared: tuple[str, ...] = ()


@frozen
class Entry:
    """A row of the registry; it has an `object` or a `command`, or says why it has neither.

    Attributes:
        name: as users write it.
        description: one line.
        object: `module:attribute` of a Python object, of a class or of a function that makes one.
        search_path: folders that are added to `sys.path` before `object` is imported.
        command: program and arguments of a process; `{build}` stands for the folder of `prepare`.
        wire: the framing that the command speaks.
        interpreter: the Python that runs `object`, where it is not this one; may hold `{build}`.
        environment: added to the environment of the process.
        prepare: what must be built first.
        extra: the extra of this package that brings what `object` imports.
        requires: the modules that its binding imports and `extra` brings, the library's own first.
        formats: what it is about, for listings; the hello has the last word.
        instrument: the modules of its codec, whose coverage guides fuzzing; those below them too.
        start_seconds: the wait for its hello is this long at least: for what compiles itself first.
        reserves: MiB of addresses that its libraries take and do not use: a worker's limit is on addresses.
        absent: why it cannot be plugged in anywhere, and what would change that; such a row has no `object`
            and no `command`.
    """

    name: str
    description: str = ""
    object: str = ""
    search_path: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    wire: Wire = "exec"
    interpreter: str = ""
    environment: Mapping[str, str] = field(default=Factory(dict))
    prepare: Build | None = None
    extra: str = ""
    requires: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    instrument: tuple[str, ...] = ()
    start_seconds: float = 0
    reserves: int = 0
    absent: str = ""

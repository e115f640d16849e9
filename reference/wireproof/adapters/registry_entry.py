"""Entry of the adapter registry: the program or object to start, and its requirements."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from attrs import Factory, field, frozen

Wire = Literal["exec", "jsonl"]


@frozen
class Build:
    """Build of a driver in the user's cache, once for each version of its source.

    Attributes:
        source: the folder of the driver, absolute or below `tests/peers`.
        steps: commands, run in a copy of that folder; `{build}` is replaced by the path of the copy.
        shared: folders under `tests/peers/_shared`, by name, with the common code of several drivers; the
            copy has each of them as `_shared/NAME`.
    """

    source: Path | str
    steps: tuple[tuple[str, ...], ...]
    shared: tuple[str, ...] = ()


@frozen
class Entry:
    """A row of the registry: it has an `object`, a `command`, or the reason for having neither.

    Attributes:
        name: the name that users write.
        description: one line.
        object: `module:attribute` of a Python object, of a class or of a function that makes one.
        search_path: folders that are added to `sys.path` before `object` is imported.
        command: program and arguments of a process; `{build}` is replaced by the folder of `prepare`.
        wire: the framing that the command uses.
        interpreter: the Python that runs `object`, if not this one; may contain `{build}`.
        environment: variables that are added to the environment of the process.
        prepare: the build that must be made first.
        extra: the extra of this package that installs the modules that `object` imports.
        requires: the modules that its binding imports and `extra` installs, the library's own first.
        formats: the formats that listings show; the hello decides.
        instrument: the modules of its codec, with their submodules, whose coverage guides fuzzing.
        start_seconds: least time limit of its hello, for an adapter that compiles code at its start.
        case_seconds: least time limit of a case, for an adapter that starts a program for each.
        reserves: MiB of addresses that its libraries reserve without use: a worker's limit is on addresses.
        modules: the modules that its process imports and `extra` installs, checked before the start.
        cleanup: program and arguments that remove what the process may have left elsewhere; it runs after the
            process, however that ended.
        relay: `module:function` that connects to a server as the path between writers and readers: `relay`.
        absent: why there is no such adapter, and what would change that; such a row has no `object` and no
            `command`.
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
    case_seconds: float = 0
    reserves: int = 0
    relay: str = ""
    absent: str = ""
    modules: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()

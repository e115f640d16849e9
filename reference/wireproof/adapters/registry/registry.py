"""Registry of adapters: it finds and starts the adapter that a user names. See `adapter-contract.md`.

reference, columnar           an adapter of this package
kafka-python, sarama@1.44.0   a peer: `peers`; or one of the entry-point group `wireproof.adapters`
py:module:attribute           a Python object, of a class or of a function that makes one
exec:command arguments        a process that exchanges frames
kafka-broker:HOST:PORT        a running server of a kind that a family has: `live_servers`
kafka-client:command          a program that uses the public interface of a client, in the same table
jsonl:command arguments       a process that exchanges JSON lines
"""

import ast
import importlib
import inspect
import os
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, get_args

from attrs import evolve, frozen

import wireproof
from wireproof.adapters.contract import Hello
from wireproof.adapters.controller import Controller, InProcess
from wireproof.adapters.errors import AdapterStartError, UnknownAdapter
from wireproof.adapters.message_framing import Frames, Framing, Lines
from wireproof.adapters.process.controller import HELLO_SECONDS, MEMORY, MIB, Process, Program
from wireproof.adapters.process.recording import Recorder
from wireproof.adapters.python_object import Caller, line_of
from wireproof.adapters.registry import live_servers, peers
from wireproof.adapters.registry.driver_build import built, note_version
from wireproof.adapters.registry.registered import Entry, Wire
from wireproof.cases.observable_fields import unknown_part
from wireproof.formats import FAMILIES, FORMATS
from wireproof.install_hint import install_command
from wireproof.suggestions import suggestion
from wireproof.wire.options import Profile
from wireproof.wire.text import one_line

GROUP: Final = "wireproof.adapters"
OPS: Final = ("decode", "encode", "scan", "sequence")
"""The methods of an adapter object, of which it has any."""
FRAMINGS: Final[dict[Wire, type[Framing]]] = {"exec": Frames, "jsonl": Lines}

# --- names ---


LIST: Final = "run `wireproof adapters` for the list"
"""The advice for a name that is similar to no adapter."""


def entries() -> dict[str, Entry]:
    """Return every registered adapter by name; raise `AdapterFileError` for an unreadable file of a peer."""
    own = {name: entry() for name, entry in BUILTIN.items()}
    own |= {name: peers.read(path) for name, path in peers.files().items()}
    return own | _third_party() | own  # a third party cannot replace an adapter of ours


def names() -> list[str]:
    """Return the name of every registered adapter; read no file of a peer."""
    return list({**BUILTIN, **peers.files(), **_third_party()})


def _third_party() -> dict[str, Entry]:
    """Return the entries of other packages: their own, or a new one for an adapter object."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - its import is slow, and most adapters are ours

    found = {}
    for point in entry_points(group=GROUP):
        try:
            loaded = point.load()
        except Exception as error:  # noqa: BLE001 - a foreign package; its row stays listed with the reason
            entry = Entry(point.name, f"cannot be loaded: {line_of(error)}", object=point.value)
        else:
            about = (inspect.getdoc(loaded) or "").partition("\n")[0]
            entry = loaded if isinstance(loaded, Entry) else Entry(point.name, about, object=point.value)
        found[entry.name] = entry
    return found


def resolve(spec: str) -> Entry:
    """Return the entry for `spec`; raise `UnknownAdapter`."""
    kind, _, rest = spec.partition(":")
    if kind in ("exec", "jsonl"):
        wire: Wire = "exec" if kind == "exec" else "jsonl"
        try:
            words = tuple(shlex.split(rest))
        except ValueError as error:
            raise UnknownAdapter(f"{spec}: {error}") from None
        if not words:
            raise UnknownAdapter(f"{spec}: a command is missing after the colon")
        return Entry(spec, command=words, wire=wire)
    if kind == "py":
        module, _, name = rest.partition(":")
        if module.endswith(".py") or not (module and name):
            advice = object_advice(module) or "a Python object is written py:module:attribute"
            raise UnknownAdapter(f"{spec}: {advice}")
        return Entry(spec, object=rest)
    # What names a server is known to its family alone, and loading the families takes long.
    return _of_this_package(spec) or live_servers.entry_of_server(spec) or _of_other_packages(spec)


def is_registered(spec: str) -> bool:
    """Return whether a spec names an installed adapter, and no command, object or address of its own.

    A file from somebody else may name any command; only a registered name may be started on its word.
    """
    return spec.partition(":")[0].partition("@")[0] in names()


def _of_this_package(spec: str) -> Entry | None:
    """Return the entry of `NAME` or `NAME@VERSION`, with `:OPTION,…` behind it for a client program."""
    if spec in BUILTIN:
        return BUILTIN[spec]()
    head, _, options = spec.partition(":")
    name, at, version = head.partition("@")
    path = peers.files().get(name)
    if path is None:
        return None
    chosen = tuple(filter(None, options.split(",")))
    return peers.with_version(path, version, chosen) if at else peers.read(path, chosen)


def _of_other_packages(spec: str) -> Entry:
    """Return the entry of an adapter of another package; raise `UnknownAdapter` with advice."""
    rows = _third_party()  # the import of other packages is slow
    if spec in rows:
        return rows[spec]
    name, at, _ = spec.partition(":")[0].partition("@")
    if at and name in (*BUILTIN, *rows):
        raise UnknownAdapter(f"{spec}: {name} is no peer of this package, so no version can be chosen")
    advice = object_advice(spec) or _program_advice(spec) or suggestion(name, names(), LIST)
    raise UnknownAdapter(f"unknown adapter {spec}: {advice}")


# --- objects ---


def load_object(entry: Entry) -> Any:  # noqa: ANN401 - any object may be at the path
    """Return the adapter object of `entry`; call the object first if it is a class or function."""
    module, _, path = entry.object.partition(":")
    sys.path.extend(folder for folder in entry.search_path if folder not in sys.path)
    done = "imported"
    try:
        found = importlib.import_module(module)
        thing = _attribute(entry, found, path)
        done = "made"
        return thing() if inspect.isclass(thing) or inspect.isroutine(thing) else thing
    except AdapterStartError:
        raise
    except ImportError as error:
        if entry.extra:
            text = f"{install_command(entry.extra)} ({line_of(error)})"
            raise AdapterStartError(f"{entry.name} needs further packages: {text}") from error
        fault = _place_of(error)
        if isinstance(error, ModuleNotFoundError) and error.name is not None:
            fault += f"; install it for {sys.executable}"
            if f"{module}.".startswith(f"{error.name}."):
                fault = f"there is no module {error.name} in {Path.cwd()} or among the installed packages"
        raise AdapterStartError(f"{entry.name} cannot be {done}: {fault}") from None
    except Exception as error:  # noqa: BLE001 - foreign code runs here for the first time
        raise AdapterStartError(f"{entry.name} cannot be {done}: {_place_of(error)}") from None


def object_advice(text: str) -> str:
    """Return how an object in a Python file, given with or without `.py`, is written; empty for no file."""
    text, _, name = text.partition(":")
    file = Path(text if text.endswith(".py") else f"{text}.py")
    if not file.is_file():
        return ""
    path = file.resolve()
    here = path.is_relative_to(Path.cwd())
    module = ".".join((path.relative_to(Path.cwd()) if here else Path(path.name)).with_suffix("").parts)
    return f"write py:{module}:{name or _likely_name(path)}{'' if here else f' in {path.parent}'}"


def _program_advice(text: str) -> str:
    """Return how a program in a file is named; empty if `text` is no file."""
    path = Path(text)
    if not path.is_file():
        return ""
    command = text if "/" in text else f"./{text}"
    if os.access(path, os.X_OK):
        return f"write {shlex.quote(f'exec:{command}')}"
    return "it cannot be executed: build it, and write exec:COMMAND, or exec:'INTERPRETER FILE'"


def _likely_name(path: Path) -> str:
    try:
        body = ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        body = []
    nodes = [node for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    with_ops = [node for node in nodes if any(getattr(part, "name", "") in OPS for part in node.body)]
    return next((node.name for node in (*with_ops, *nodes)), "NAME")


def _place_of(error: Exception) -> str:
    """Return an error with the file and the line of the foreign code that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    outside = [
        frame for frame in frames if frame.filename not in (__file__, importlib.__file__) and frame.line
    ]
    where = f"{Path(outside[-1].filename).name} line {outside[-1].lineno}: " if outside else ""
    return f"{where}{line_of(error)}"


def _attribute(entry: Entry, module: Any, path: str) -> Any:  # noqa: ANN401 - walks a module
    """Return `a.b` of a module, or `NAME[key]` of one of its tables; raise `AdapterStartError` if none."""
    path, _, key = path.partition("[")
    try:
        thing = attrgetter(path)(module)
    except AttributeError:
        own = {
            name: thing for name, thing in vars(module).items()
            if getattr(thing, "__module__", "") == module.__name__
        }  # fmt: skip
        known = [
            name for name, thing in own.items()
            if inspect.isclass(thing) or inspect.isroutine(thing) or any(hasattr(thing, op) for op in OPS)
        ]  # fmt: skip
        raise AdapterStartError(
            f"{entry.name}: {module.__name__} has no {path}: {suggestion(path, known)}"
        ) from None
    return thing[key.removesuffix("]")] if key else thing


# --- running ones ---


def open_adapter(
    spec: str,
    *,
    in_process: bool = False,
    hello_seconds: float = HELLO_SECONDS,
    memory: int | None = MEMORY,
    check: bool = True,
    recorder: Recorder | None = None,
) -> Controller:
    """Start the adapter for `spec`; raises `UnknownAdapter`, or `AdapterStartError`.

    With `in_process` a Python object is called in this process. `hello_seconds` limits the wait for the
    hello, unless `Entry.start_seconds` is longer. `memory` is in bytes: of the address space of a Python
    worker, of the resident size of another process tree; None sets no limit. With `check`, claims with an
    unknown name are refused. `recorder` gets the messages and the stderr of a process.
    """
    entry = resolve(spec)
    if entry.absent:
        raise AdapterStartError(f"{entry.name} cannot be plugged in: {entry.absent}")
    if in_process and entry.object:
        if entry.environment or entry.interpreter or entry.packages:
            raise AdapterStartError(f"{entry.name} needs a process of its own: leave out --in-process")
        caller = caller_here(entry)
        if check:
            check_claims(entry.name, caller.hello)
        return InProcess(caller)
    live_servers.check_modules(entry)
    home = built(entry.name, entry.prepare) if entry.prepare else None
    folder = str(home or "")
    program = Program(
        entry.name,
        tuple(part.replace("{build}", folder) for part in _command(entry, memory)),
        FRAMINGS[entry.wire],
        {name: value.replace("{build}", folder) for name, value in _environment(entry).items()},
        None if entry.object else memory,
        max(hello_seconds, entry.start_seconds),
        cleanup=partial(live_servers.clean_up, entry),
        is_ours=bool(entry.cleanup),
    )
    process = Process(recorder.recorded(program) if recorder else program)
    try:
        if check:
            check_claims(entry.name, process.hello)
    except BaseException:
        process.close()
        raise
    pin = entry.prepare.pin if entry.prepare else None
    if pin is not None and not re.search(r"\d", process.hello.version):
        process.hello = evolve(process.hello, version=pin.version)
    if home is not None:
        note_version(home, entry.name, process.hello.version)
    return process


def caller_here(entry: Entry) -> Caller:
    """Return the object of an adapter in this process; its module may be in the working directory."""
    if os.getcwd() not in sys.path:  # noqa: PTH109 - the text that sys.path would hold
        sys.path.append(os.getcwd())  # noqa: PTH109 - the same
    return Caller(load_object(entry))


def _command(entry: Entry, memory: int | None) -> tuple[str, ...]:
    if entry.command:
        return entry.command
    python = entry.interpreter or sys.executable
    limit = (f"--memory={memory // MIB + entry.reserves}",) if memory is not None else ()
    return (python, "-m", "wireproof.adapters.object_worker", *limit, entry.name)


def _environment(entry: Entry) -> dict[str, str]:
    """Return variables for the process; a worker in another Python can import only this package."""
    if not entry.object:
        return dict(entry.environment)
    package = os.path.dirname(os.path.dirname(wireproof.__file__))  # noqa: PTH120 - the text of a search path
    seen = [package] if entry.interpreter else [path for path in (entry.packages, *sys.path) if path]
    return {"PYTHONPATH": os.pathsep.join(seen), "PYTHONHASHSEED": "0", **entry.environment}


REFERENCE: Final = "reference"
COLUMNAR: Final = "columnar"


def _reference() -> Entry:
    return Entry(
        REFERENCE,
        "the reference codecs of this package",
        object="wireproof.adapters.reference:Reference",
        formats=tuple(FAMILIES),
    )


def _columnar() -> Entry:
    return Entry(
        COLUMNAR,
        "the fast decoders of this package, and the reference for what they hand over",
        object="wireproof.adapters.reference:Columnar",
        extra="columnar",
        requires=("numba", "pyarrow"),
        formats=tuple(name for name, family in FAMILIES.items() if family.fast_decoders),
        start_seconds=120,
        reserves=1536,  # MiB of address space for LLVM and Arrow, before the first case
    )


BUILTIN: Final[Mapping[str, Callable[[], Entry]]] = {REFERENCE: cache(_reference), COLUMNAR: cache(_columnar)}
"""Functions that return the entries, by name: an entry has the formats of all families, which it loads."""


@frozen
class UnknownName:
    """A name in a hello that does not exist: of a pattern the part; a revision is in no claim."""

    kind: str
    format_id: str
    word: str
    part: str
    valid: tuple[str, ...]


def unknown_names(hello: Hello) -> Iterator[UnknownName]:
    for format_id, claim in hello.revisions.items():
        if format_id not in FORMATS:
            yield UnknownName("revision", "", format_id, format_id, tuple(FORMATS))
            continue
        for kind, claimed, valid in (
            ("codec", claim.codecs, _atoms("codec")),
            ("profile", claim.profiles, get_args(Profile)),
            ("feature", claim.features, _atoms("feature")),
        ):
            for word in claimed or ():
                if word not in valid:
                    yield UnknownName(kind, format_id, word, word, valid)
        for pattern in claim.observes:
            if found := unknown_part(FORMATS[format_id], pattern):
                yield UnknownName("observes", format_id, pattern, *found)


def check_claims(name: str, hello: Hello) -> None:
    """Raise `AdapterStartError` with the first unknown name and a suggestion."""
    for unknown in unknown_names(hello):
        if unknown.kind == "observes":
            raise AdapterStartError(
                f"{name}: its hello observes {one_line(unknown.word, 80)!r} of {unknown.format_id}, "
                f"which has no {one_line(unknown.part, 80)!r} there: "
                f"{suggestion(field_of(unknown.part), unknown.valid)}"
            )
        what = f"{unknown.kind} of {unknown.format_id}" if unknown.format_id else unknown.kind
        raise AdapterStartError(
            f"{name}: its hello claims the {what} {one_line(unknown.word, 80)!r}, which does not exist: "
            f"{suggestion(unknown.word, unknown.valid)}"
        )


@cache
def _atoms(kind: str) -> tuple[str, ...]:
    capabilities = (atom.partition(":") for row in FORMATS.values() for atom in row.capabilities)
    return tuple(dict.fromkeys(name for found, _, name in capabilities if found == kind))


def field_of(part: str) -> str:
    """Return the name in a part of a pattern: `magic` for `[magic=2]`."""
    return part.removeprefix("[").partition("=")[0]

"""One changed codec in a forked child: planted, held to its cases, and gone.

A change inside functions is planted by giving the functions their new code, which costs nothing. Any
other change (a table, a default, a decorator, a class; a function that ran while the package was
imported) is planted by importing the whole package again.
"""

import contextlib
import gc
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import pickle
import resource
import select
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import mutation_judge
from attrs import frozen
from mutation_sites import path_of

from wireproof.cases.case import Case

CASE_SECONDS = 2.0
"""CPU seconds of one case, the limit that a fixture has unless it says otherwise."""

MEMORY = 1 << 30
"""Bytes of address space that a child may add to what it inherits."""

WALL = 30.0
"""Seconds after which a child that says nothing is late, however little of the processor it got."""


@frozen
class Found:
    """The result of a change: the case that killed it and the reason; `by` is empty if it survived."""

    by: str
    why: str
    seconds: float = 0.0

    @property
    def killed(self) -> bool:
        """Return True if anything noticed the change."""
        return bool(self.by)


class Ground:
    """The unchanged codec, ready to be forked from."""

    def __init__(self, at_import: set[tuple[str, int]]) -> None:
        """`at_import`: module and line of all that ran inside functions while the package was imported."""
        self._at_import = at_import
        self._functions: dict[tuple[str, str, int], list[FunctionType]] = {}
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                self._functions.setdefault(_key(each.__code__), []).append(each)
        gc.freeze()

    def tried(
        self,
        module: str,
        source: str,
        cases: Sequence[Case],
        parents: Sequence[Case] = (),
        remade: float = 1.0,
    ) -> Found:
        """Plant `source` as `module` in a child; hold it to `cases`, then to the families of `parents`."""
        began = time.monotonic()
        out, into = os.pipe()
        child = os.fork()
        if not child:
            os.close(out)
            _said(into, self._child(module, source, cases, parents, remade))
        os.close(into)
        said = _heard(out, child)
        return Found(said[0], said[1], round(time.monotonic() - began, 3))

    def _child(
        self, module: str, source: str, cases: Sequence[Case], parents: Sequence[Case], remade: float
    ) -> tuple[str, str]:
        _bounded()
        judge: Any = mutation_judge
        try:
            if not self._swapped(module, source):
                packed = pickle.dumps((list(cases), list(parents)))
                judge = _imported(module, source)
                cases, parents = pickle.loads(packed)
        except MemoryError:
            return "import", "memory"
        except Exception as error:  # noqa: BLE001 - a codec that cannot be imported is noticed by every case
            return "import", f"raised {type(error).__name__}"
        golden = [case for case in cases if case.family is None and case not in parents]
        found: tuple[str, str] = judge.first_failure(cases, CASE_SECONDS)
        if not found[0]:
            found = judge.first_untrue([*parents, *golden], remade)
        return found if found[0] else judge.first_broken(parents, remade)

    def _swapped(self, module: str, source: str) -> bool:
        """Return True if only functions had to change."""
        path = str(path_of(module))
        old = compile(path_of(module).read_text(encoding="utf-8"), path, "exec")
        pairs = _pairs(old, compile(source, path, "exec"))
        if pairs is None or any(
            (module, line) in self._at_import for one, _ in pairs for line in _lines(one)
        ):
            return False
        for one, two in pairs:
            for function in self._functions.get(_key(one), ()):
                function.__code__ = two
        return True


def _key(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _lines(code: CodeType) -> set[int]:
    """The lines inside a function, without its head."""
    lines = {line for _, _, line in code.co_lines() if line}
    return lines - {code.co_firstlineno} or lines


def _pairs(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """The functions that differ, outermost first; None where anything outside of functions does."""
    ones, twos = _nested(old), _nested(new)
    if len(ones) != len(twos) or _bare(old) != _bare(new):
        return None
    found: list[tuple[CodeType, CodeType]] = []
    for one, two in zip(ones, twos, strict=True):
        if one == two:
            continue
        if not one.co_flags & 0x02:  # no function: the body of a class
            inner = _pairs(one, two)
            if inner is None:
                return None
            found += inner
        elif one.co_freevars != two.co_freevars:
            return None
        else:
            found += [(one, two), *_inside(one, two)]
    return found


def _inside(one: CodeType, two: CodeType) -> list[tuple[CodeType, CodeType]]:
    """Functions made by a function that has run already keep code of their own."""
    ones, twos = _nested(one), _nested(two)
    if len(ones) != len(twos):
        return []
    pairs = [pair for pair in zip(ones, twos, strict=True) if pair[0] != pair[1]]
    return pairs + [deeper for pair in pairs for deeper in _inside(*pair)]


def _nested(code: CodeType) -> list[CodeType]:
    return [const for const in code.co_consts if isinstance(const, CodeType)]


def _bare(code: CodeType) -> tuple[Any, ...]:
    consts = tuple(repr(const) for const in code.co_consts if not isinstance(const, CodeType))
    return code.co_code, code.co_names, code.co_varnames, consts


class _Planted(importlib.machinery.SourceFileLoader):
    """Loads one module from a source of its own."""

    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        """The code of the changed source; never kept."""
        return compile(self._source, self.get_filename(fullname), "exec")


class _Finder(importlib.abc.MetaPathFinder):
    """Finds that one module, and no other."""

    def __init__(self, name: str, path: str, source: str) -> None:
        self._name, self._path, self._source = name, path, source

    def find_spec(self, fullname: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        """The module's spec."""
        if fullname != self._name:
            return None
        loader = _Planted(fullname, self._path, self._source)
        return importlib.machinery.ModuleSpec(fullname, loader, origin=self._path)


def _imported(module: str, source: str) -> Any:
    """The judge, with the whole package imported anew around the changed module."""
    for name in list(sys.modules):
        if name.partition(".")[0] in ("wireproof", "mutation_judge", "layout_check"):
            del sys.modules[name]
    sys.meta_path.insert(0, _Finder(f"wireproof.{module}", str(path_of(module)), source))
    return importlib.import_module("mutation_judge")


def _bounded() -> None:
    now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)


def _said(pipe: int, found: tuple[str, str]) -> None:
    """Tell the parent, and leave without any of the parent's goodbyes."""
    os.write(pipe, json.dumps(found).encode())
    os._exit(0)


def _heard(pipe: int, child: int) -> tuple[str, str]:
    """Return the message of a child; a dead or a late child counts as noticed too."""
    said, until = b"", time.monotonic() + WALL
    while True:
        ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
        piece = os.read(pipe, 4096) if ready else b""
        if not piece:
            break
        said += piece
    if not ready:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    os.close(pipe)
    _, status = os.waitpid(child, 0)
    if said:
        by, why = json.loads(said)
        return by, why
    return ("process", "timeout") if not ready else ("process", f"died with status {status}")

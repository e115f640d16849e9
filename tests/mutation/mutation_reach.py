"""Which cases execute which lines of the reference codec, and how long each takes: measured once.

Three ways lead into the codec: the import (`IMPORT`), the case itself, and the layout of a golden case,
from which its families are made.
"""

import sys
import time
from array import array
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

from attrs import Factory, define
from mutation_sites import PACKAGE, ROOMS

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data
from wireproof.formats import FORMATS

PREFIXES = tuple(f"{PACKAGE / room}/" for room in ROOMS)

OPTIMIZED = 0x01
"""The flag of a function's code; modules and bodies of classes run while they are imported, all of them."""

Line = tuple[str, int]
"""Module, named from the package on, and line."""


@define
class Known:
    """The measurements of one case: nanoseconds, and the lines that it and its layout execute."""

    case: Case
    ns: int
    lines: set[Line] = Factory(set)
    layout: set[Line] = Factory(set)


@define
class Reach:
    """What reaches a line.

    Attributes:
        cases: of each line, the indices of the cases that execute it.
        layouts: of each line, the indices of the golden cases whose layout executes it.
        ns: nanoseconds of each case, judged, without a trace.
    """

    cases: "dict[Line, array[int]]" = Factory(dict)
    layouts: "dict[Line, array[int]]" = Factory(dict)
    ns: "array[int]" = Factory(lambda: array("Q"))

    def of(self, module: str, lines: Iterable[int], *, layouts: bool = False) -> list[int]:
        """The indices of the cases that execute any of `lines`, ascending."""
        table = self.layouts if layouts else self.cases
        return sorted({index for line in lines for index in table.get((module, line), ())})

    def anywhere(self, module: str) -> list[int]:
        """The indices of the cases that execute any line of `module`."""
        return self.of(module, [line for name, line in self.cases if name == module])

    def of_layouts(self, module: str) -> list[int]:
        """The indices of the golden cases whose layout executes any line of `module`."""
        return self.of(module, [line for name, line in self.layouts if name == module], layouts=True)

    def by_case(self, cases: list[Case]) -> dict[str, Known]:
        """The same by the ids of the cases that were measured."""
        known = [Known(case, ns) for case, ns in zip(cases, self.ns, strict=True)]
        for line, indices in self.cases.items():
            for index in indices:
                known[index].lines.add(line)
        for line, indices in self.layouts.items():
            for index in indices:
                known[index].layout.add(line)
        return {one.case.id: one for one in known}


def lines_of(call: Callable[[], object]) -> set[Line]:
    """Return the lines of the codec that `call` executes; ignore whatever it raises."""
    seen: set[tuple[str, int]] = set()

    def local(frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            seen.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def entered(frame: FrameType, _: str, __: object) -> Any:
        if frame.f_code.co_flags & OPTIMIZED and frame.f_code.co_filename.startswith(PREFIXES):
            seen.add((frame.f_code.co_filename, frame.f_lineno))
            return local
        return None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        call()
    except Exception:  # noqa: BLE001 - a refusal executes lines too
        pass
    finally:
        sys.settrace(before)
    return {(_module(name), line) for name, line in seen}


def _module(filename: str) -> str:
    return filename[len(str(PACKAGE)) + 1 : -3].replace("/", ".")


def measured(cases: list[Case], judged: Callable[[Case], object], known: dict[str, Known]) -> Reach:
    """Return the reach of `cases` under the judge `judged`; a case in `known` is not measured again."""
    reach = Reach()
    for index, case in enumerate(cases):
        before = known.get(case.id)
        one = before if before is not None and before.case == case else _one(case, judged)
        reach.ns.append(one.ns)
        _add(reach.cases, one.lines, index)
        _add(reach.layouts, one.layout, index)
    return reach


def _one(case: Case, judged: Callable[[Case], object]) -> Known:
    start = time.perf_counter_ns()
    judged(case)
    took = time.perf_counter_ns() - start
    lines, layout = lines_of(lambda: judged(case)), set[Line]()
    if case.family is None and isinstance(case.expect, Accept) and isinstance(case.input, Data):
        layout = lines_of(lambda: laid_out(case))
    return Known(case, took, lines, layout)


def laid_out(case: Case) -> None:
    """Read the input of a golden case with a trace."""
    assert isinstance(case.input, Data)
    formats.decode_with_trace(FORMATS[case.format_id], case.input.data, case.options)


def _add(table: "dict[Line, array[int]]", lines: set[Line], index: int) -> None:
    for line in lines:
        table.setdefault(line, array("I")).append(index)

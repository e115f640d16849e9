"""Where the reference codec can be changed, one change at a time: cosmic-ray's operators over its modules.

Three kinds of change are not made at all: in annotations (no arithmetic of types means anything: each would
be noticed by the import alone), at the bare `*` of a signature, and in the texts of refusals (`raise …` with
an f-string: words for people, judged by nobody).
"""

import ast
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

import wireproof

PACKAGE = Path(wireproof.__file__).parent
ROOMS = ("wire", "kafka", "iggy", "heka")
OUTSIDE = {
    "wire.reject_classes": "the closed list of classes; no code",
    "wire.scan_items": "a row of a scan; no code",
    "wire.observed_fields": "patterns of what adapters show: the judge's",
    "wire.options": "the defaults of options; no code",
    "wire.rejection": "what refusals and remarks carry; no code but texts and prefixes of paths, the judge's",
    "wire.remark_classes": "what the judge allows at a remark; the codecs read no row of it",
    "wire.trace": "a row of a layout; no code",
    "wire.json_values": "the JSON form of values and its schema: how adapters talk, no rule of a format",
}
"""Modules of the floor that are no codec, and why; the unit tests hold them."""

PARAMETRIC = {"core/VariableReplacer", "core/VariableInserter", "core/NoOp"}
"""Operators that want arguments, and the one that changes nothing."""


@frozen
class Site:
    """One change: `operator` at its `occurrence` in `module`, as `wire.reader`.

    Attributes:
        line, column, stop: where the changed tokens begin, and one past their end if on that line.
        text: the line as it stands; with operator and `column` it names the site when lines move.
    """

    module: str
    operator: str
    occurrence: int
    line: int
    column: int
    text: str

    @property
    def name(self) -> str:
        """Return `wire.reader:120:NumberReplacer:17`: unique in one state of the code."""
        return f"{self.module}:{self.line}:{self.operator.removeprefix('core/')}:{self.occurrence}"


def path_of(module: str) -> Path:
    """The file of a module named from the package on."""
    return PACKAGE.joinpath(*module.split(".")).with_suffix(".py")


def modules() -> list[str]:
    """The modules of the reference codec, floor by floor."""
    names = [f"{room}.{path.stem}" for room in ROOMS for path in sorted((PACKAGE / room).glob("[!_]*.py"))]
    return [name for name in names if name not in OUTSIDE]


@cache
def operators() -> dict[str, Any]:
    """Every operator of cosmic-ray that needs no arguments, by name."""
    from cosmic_ray.plugins import get_operator, operator_names  # noqa: PLC0415 - an extra, for this alone

    return {name: get_operator(name)() for name in sorted(operator_names()) if name not in PARAMETRIC}


def sites(module: str, cache_dir: Path) -> list[Site]:
    """Every site of a module but the silent ones; kept under `cache_dir` by the module's bytes."""
    source = path_of(module).read_text(encoding="utf-8")
    key = hashlib.blake2b((source + Path(__file__).read_text()).encode(), digest_size=8).hexdigest()
    kept = cache_dir / f"sites-{module}-{key}.json"
    if not kept.exists():
        rows = [asdict(site) for site in _found(module, source)]
        kept.write_text(json.dumps(rows), encoding="utf-8")
    return [Site(**row) for row in json.loads(kept.read_text(encoding="utf-8"))]


def _found(module: str, source: str) -> Iterator[Site]:
    from cosmic_ray.ast import ast_nodes, get_ast  # noqa: PLC0415 - as above

    silent, lines = _silent(source), source.splitlines()
    nodes = list(ast_nodes(get_ast(source)))
    for name, operator in operators().items():
        count = 0
        for node in nodes:
            for (line, column), _ in operator.mutation_positions(node):
                if not _star(name, lines[line - 1], column) and not any(
                    start <= (line, column) < stop for start, stop in silent
                ):
                    yield Site(module, name, count, line, column, lines[line - 1].strip())
                count += 1


def _star(operator: str, line: str, column: int) -> bool:
    """Return True if `line` has the bare star of a signature at `column`."""
    return ("Operator_Mul_" in operator and line[column:].startswith(("*, ", "*,\n"))) or line.strip() == "*,"


def _silent(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The ranges of annotations and of the words of refusals."""
    tree = ast.parse(source)
    nodes: list[ast.AST | None] = []
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef():
                nodes.append(node.returns)
            case ast.arg():
                nodes.append(node.annotation)
            case ast.AnnAssign(annotation=ast.Name(id="TypeAlias"), value=ast.expr()):
                nodes += [node.annotation, node.value]
            case ast.AnnAssign():
                nodes.append(node.annotation)
            case ast.Raise():
                nodes += [part for part in ast.walk(node) if isinstance(part, ast.JoinedStr)]
            case ast.Assign(targets=[ast.Name(id="text")], value=ast.JoinedStr()):
                nodes.append(node.value)
    return [_range(node) for node in nodes if node is not None]


def _range(node: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def changed(site: Site) -> str:
    """The source of the site's module with the change made."""
    from cosmic_ray.mutating import mutate_code  # noqa: PLC0415 - as above

    source = path_of(site.module).read_text(encoding="utf-8")
    mutated: str | None = mutate_code(source, operators()[site.operator], site.occurrence)
    if mutated is None:
        raise LookupError(f"{site.name} is no site of the code as it stands")
    return mutated


def statement(module: str, line: int) -> range:
    """The lines of the innermost statement at `line`; of a compound one, its head."""
    best = range(line, line + 1)
    for node in ast.walk(ast.parse(path_of(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.stmt | ast.match_case | ast.ExceptHandler):
            first, stop = _head(node)
            if first <= line < stop:
                best = range(first, stop)
    return best


def _head(node: Any) -> tuple[int, int]:
    first = getattr(node, "lineno", None) or node.pattern.lineno
    body = getattr(node, "body", None)
    stop = node.end_lineno + 1 if not isinstance(body, list) else max(body[0].lineno, first + 1)
    return min([first, *(part.lineno for part in getattr(node, "decorator_list", ()))]), stop

"""The exported layouts, compiled by Kaitai itself, read what the reference reads: each field of each case."""

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml as pyyaml
from folders import TESTS
from goldens import load
from machine import needs

from wireproof.adapters.driver_build import built
from wireproof.adapters.registry_entry import Build
from wireproof.cases.case import Case
from wireproof.report import inferred_kaitai as kaitai
from wireproof.report import layout_tree
from wireproof.report.inferred_kaitai import SPECIFIED_FORMATS, ident
from wireproof.report.layout_tree import SCALARS, STEP, FieldNode, Shapes

CASES = load().cases


def trees(format_id: str) -> Iterator[tuple[Case, bytes, list[tuple[str, FieldNode]]]]:
    """Return each case of a revision with its frame and with the fields of its trace."""
    mine = layout_tree.cases_of(format_id, CASES)
    traces = [layout_tree.trace_of(case) for case in mine]
    shapes = Shapes.of(traces)
    for case, trace in zip(mine, traces, strict=True):
        yield case, layout_tree.frame_of(case), list(layout_tree.leaves(shapes.tree(trace)))


COMPILER = TESTS / "kaitai"


@pytest.fixture(scope="module")
def readers() -> dict[str, Any]:
    """Return the class of each revision, compiled from the text of its specification."""
    home = built("kaitai", Build(COMPILER, (("npm", "ci", "--loglevel=error", "--no-audit", "--no-fund"),)))
    specs = {name: pyyaml.safe_load(text) for name, text in kaitai.specifications(CASES)}
    done = subprocess.run(
        ["node", "compile.mjs"], cwd=home, input=json.dumps(specs), capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = {}
    for name, text in json.loads(done.stdout).items():
        module: dict[str, Any] = {}
        exec(text, module)  # what the compiler made of our own specification
        found[name] = module["".join(part.capitalize() for part in name.split("_"))]
    return found


def at(found: Any, path: str) -> Any:
    for name, index in STEP.findall(path):
        found = getattr(found, ident(name))
        found = found[int(index)] if index else found
    return getattr(found, "value", found)


@pytest.mark.tools
@needs("npm", "node")
@pytest.mark.parametrize("format_id", SPECIFIED_FORMATS)
def test_a_compiled_layout_reads_every_field_of_every_accepted_case(
    readers: dict[str, Any], format_id: str
) -> None:
    reader = readers[ident(format_id.replace("/", "_").replace(".", "_"))]
    seen = 0
    for case, frame, parts in trees(format_id):
        read = reader.from_bytes(frame)
        for path, leaf in parts:
            want = leaf.value if leaf.type in SCALARS else frame[leaf.start : leaf.end]
            assert at(read, path) == want, f"{case.id} {path}"
        assert read._io.is_eof() or layout_tree.has_trailing_bytes(case), case.id
        seen += len(parts)
    assert seen


def test_the_text_is_yaml_of_the_same_tree() -> None:
    for format_id in SPECIFIED_FORMATS[:4]:
        tree = kaitai.spec(format_id, CASES)
        assert pyyaml.safe_load(kaitai.yaml(tree)) == tree

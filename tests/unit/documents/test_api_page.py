"""The page of the public API names what exists, and everything that a public module exports."""

import importlib
import re
import tomllib
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
from documentation import tables, text_of, words
from each import each
from folders import TOP

import wireproof
from wireproof import adapters, strategies
from wireproof.adapters.registry.registry import GROUP

PAGE = text_of("api.md")

SECTIONS = ("Adapters", "Hypothesis strategies", "Reference codec", "Spark")

SOURCES = {"wireproof.kafka_log", "wireproof.heka_stream", "wireproof.iggy_log"}
"""Names that Spark finds; no module has them."""

NAMES = [words(row[0])[0] for section in SECTIONS for row in tables(PAGE, section)[0]]


@each("name", [name for name in NAMES if name not in SOURCES])
def test_every_name_can_be_imported(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    if module.startswith("wireproof.spark"):
        pytest.importorskip("pyspark")
    assert callable(getattr(importlib.import_module(module), attribute))


def test_every_data_source_has_a_module_that_spark_finds() -> None:
    assert set(NAMES) >= SOURCES
    for name in SOURCES:
        assert find_spec(f"pyspark_{name.replace('.', '_')}") is not None


@pytest.mark.parametrize("module", [wireproof, adapters, strategies], ids=lambda module: module.__name__)
def test_everything_that_a_public_module_exports_is_named(module: ModuleType) -> None:
    exported = {f"{module.__name__}.{name}" for name in module.__all__ if not name.startswith("__")}
    assert exported == {name for name in NAMES if name.rpartition(".")[0] == module.__name__} - SOURCES


def test_every_option_of_the_pytest_plugin_is_named() -> None:
    text = (TOP / "reference/wireproof/pytest_plugin.py").read_text("utf-8")
    assert {*re.findall(r'"(--codec[a-z-]*)"', text)} == {*re.findall(r"`(--codec[a-z-]*)`", PAGE)}


def test_the_entry_point_groups_are_those_of_the_package() -> None:
    groups = [words(row[0])[0] for row in tables(PAGE, "Entry points")[0]]
    assert groups == [GROUP]
    (sample,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert [*tomllib.loads(sample)["project"]["entry-points"]] == groups


def test_the_example_prints_what_its_comment_shows(capsys: pytest.CaptureFixture[str]) -> None:
    (source,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(source, {})
    comments = re.findall(r"print\(.*\)  # (.*)", source)
    assert capsys.readouterr().out.splitlines() == comments


def test_the_schemas_are_in_the_package() -> None:
    names = {path.name for path in (TOP / "reference/wireproof/schemas").glob("*.json")}
    assert names == {"adapter.schema.json", "events.schema.json", "fixture.schema.json"}


@pytest.mark.documents
@pytest.mark.parametrize("page", ["README.md", "api.md", "adopting.md"])
def test_the_examples_of_a_page_pass_mypy_as_a_user_runs_it(page: str, tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api", reason="mypy is of the extra lint")
    examples = re.findall(r"```python\n(.*?)```", text_of(page), re.DOTALL)
    paths = [tmp_path / f"example{number}.py" for number in range(len(examples))]
    for path, source in zip(paths, examples, strict=True):
        path.write_text(source, encoding="utf-8")
    settings = tmp_path / "mypy.ini"
    settings.write_text(
        "[mypy]\nstrict = True\n[mypy-kafka.*]\nignore_missing_imports = True\n", encoding="utf-8"
    )
    printed, _, status = api.run(["--config-file", str(settings), *map(str, paths)])
    assert (status, len(paths)) == (0, max(1, len(paths))), printed

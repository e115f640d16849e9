"""architecture.md shows the layers of the import contract, the derived families, and files that exist."""

import re
import tomllib

from documentation import DOCS, tables, text_of, words
from each import each
from folders import TOP

from wireproof.cases.derived import FAMILIES

PAGE = text_of("architecture.md")
PACKAGE = DOCS.parent / "wireproof"


def test_the_layers_are_those_that_import_linter_checks() -> None:
    tools = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["tool"]
    layers = tools["importlinter"]["contracts"][0]["layers"]
    rows = tables(PAGE, "Layers")[0]
    assert [set(words(row[1])) for row in rows] == [set(re.findall(r"\w+", layer)) for layer in layers]
    assert [int(row[0]) for row in rows] == list(reversed(range(len(layers))))


def test_every_derived_family_has_a_row() -> None:
    assert [words(row[0])[0] for row in tables(PAGE, "Cases")[1]] == [*FAMILIES, "join", "chunk"]


@each("path", sorted(set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", PAGE))))
def test_every_module_that_is_named_exists(path: str) -> None:
    assert (PACKAGE / path).is_file()


@each("folder", sorted(set(re.findall(r"`((?:tests|fixtures|fuzz)/(?:\w+/)*)`", PAGE))))
def test_every_folder_that_is_named_exists(folder: str) -> None:
    assert (TOP / folder).is_dir()


def test_the_sections_that_the_code_refers_to_are_there() -> None:
    headings = {heading.lower() for heading in re.findall(r"^#+ (.*)", PAGE, re.MULTILINE)}
    assert {"layers", "cases", "verdicts", "events", "fuzzing", "scanning", "strength"} <= headings

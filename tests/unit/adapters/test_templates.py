"""The adapter templates: written, built as printed, passing on their format, failing with a planted fault."""

import shlex
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from command_line import Command
from each import each
from machine import needs

from wireproof.adapters.registry.driver_build import built
from wireproof.adapters.registry.peers import templates_folder
from wireproof.adapters.registry.registered import Build
from wireproof.adapters.registry.registry import open_adapter
from wireproof.adapters.registry.templates import TEMPLATES, AdapterTemplate, client_templates, shape_lines
from wireproof.formats import FORMATS
from wireproof.wire.json_values import json_schema
from wireproof.wire.rejection import REJECT_CLASSES

FAULTS = {
    "python": ("length == 0", "False"),
    "node": ("length === 0", "false"),
    "go": ("length == 0", "length < 0"),
    "java": ("length == 0", "length < 0"),
    "rust": ("length == 0", "false"),
    "c": ("length == 0", "0"),
}
"""Changes that let a name have no bytes."""

CASES = "iggy.identifier/**"

FOUND = ("iggy.identifier/0.0.30/identifier/string-empty", "iggy.identifier/0.0.30/encode/empty")


def checked(wireproof: Command, spec: str) -> tuple[int, str]:
    done = wireproof("check", spec, "--run", CASES, "--no-families")
    assert done.err == ""
    return done.code, done.out


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of built templates; templates with a long build come from the user's cache."""
    return {"": tmp_path_factory.mktemp("templates")}


def home(language: str, ready: dict[str, Path], wireproof: Command) -> Path:
    """The template as `adapters new` writes it and its own command builds it."""
    template = TEMPLATES[language]
    if language in ready:
        return ready[language]
    if language in ("java", "rust"):
        words = tuple(word.replace("{dir}", "{build}") for word in template.build)
        ready[language] = built(f"template of {language}", Build(templates_folder() / language, (words,)))
    else:
        ready[language] = ready[""] / language
        _, *build, check = wireproof("adapters", "new", language, ready[language], code=0).out.splitlines()
        for command in build:
            subprocess.run(shlex.split(command), check=True, capture_output=True, timeout=300)
        assert shlex.split(check) == ["wireproof", "check", template.spec(ready[language]), "--run", CASES]
    return ready[language]


LANGUAGES = [
    pytest.param(name, marks=[pytest.mark.tools, needs(*template.tools)]) if name != "python" else name
    for name, template in TEMPLATES.items()
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_template_conforms_and_a_fault_in_it_is_found(
    wireproof: Command, ready: dict[str, Path], tmp_path: Path, language: str
) -> None:
    template = TEMPLATES[language]
    folder = home(language, ready, wireproof)
    code, out = checked(wireproof, template.spec(folder))
    assert code == 0, out
    probed = wireproof("adapters", "probe", template.spec(folder), code=0)
    assert probed.out.splitlines()[0].endswith(": 50 cases, 0 findings")

    faulty = tmp_path / "faulty"
    shutil.copytree(folder, faulty)
    source = faulty / template.source
    right, wrong = FAULTS[language]
    text = source.read_text(encoding="utf-8")
    assert text.count(right) == 1
    source.write_text(text.replace(right, wrong), encoding="utf-8")
    build(template, faulty)
    code, out = checked(wireproof, template.spec(faulty))
    assert code == 1
    for name in FOUND:
        assert f"FAIL  {name}" in out


ANSWERS = {
    "python": (
        '"ops": []',
        '"ops": ["decode"]',
        'raise RefusedError("other", 0, "decode is not',
        "return {}, 61 #",
    ),
    "node": (
        "ops: []",
        "ops: ['decode']",
        "throw new Refused('other', 0, 'decode",
        "return { value: {} } // ('",
    ),
    "go": (
        "[]string{}",
        '[]string{"decode"}',
        'nil, 0, Refused{"other", 0, "decode is not written"}',
        "object{}, 61, nil",
    ),
    "java": (
        "List.of()",
        'List.of("decode")',
        'throw new Refused("other", 0, "decode is not written");',
        "return new Decoded(Map.of(), 61);",
    ),
    "rust": (
        '"ops": []',
        '"ops": ["decode"]',
        'refused("other", 0, "decode is not written")',
        "Ok((json!({}), 61))",
    ),
    "c": ('OPS "[]"', 'OPS "[\\"decode\\"]"', 'refuse("other", 0); /*', '*json = strdup("{}"), FINE; /*'),
}
"""Changes of a template without a codec: decode is claimed, and answers an empty value."""


def build(template: AdapterTemplate, folder: Path) -> None:
    if template.build:
        words = shlex.split(template.command(template.build, folder))
        subprocess.run(words, check=True, capture_output=True, timeout=300)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_template_of_a_format_builds_and_is_right_until_decode_is_written_wrongly(
    wireproof: Command, tmp_path: Path, language: str
) -> None:
    template, folder = TEMPLATES[language], tmp_path / "mine"
    done = wireproof("adapters", "new", language, folder, "--format", "kafka.batch/v2", code=0)
    assert shlex.split(done.out.splitlines()[-2])[-2:] == ["--run", "kafka.batch/v2/**"]
    source = folder / template.source
    text = source.read_text(encoding="utf-8")
    assert "iggy" not in text
    for shape in ("RecordBatch:", "baseOffset: integer", "headers: list of [bytes, bytes or null]"):
        assert shape in text
    assert all(name in text for name in REJECT_CLASSES)
    assert done.out.splitlines()[-1].startswith("wireproof show kafka.batch/v2/batch/two-records ")
    build(template, folder)
    probed = wireproof("adapters", "probe", template.spec(folder), code=0)
    assert probed.out.splitlines()[0].endswith(" cases, 0 findings")
    assert "as claimed" not in probed.out
    with closing(open_adapter(template.spec(folder))) as controller:  # its classes are still to be mapped
        assert controller.hello.errors == "coarse"

    ops, claimed, place, answer = ANSWERS[language]
    begin, _, end = text.replace(ops, claimed).partition(place)
    source.write_text(begin + answer + end, encoding="utf-8")
    build(template, folder)
    done = wireproof(
        "check", template.spec(folder), "--run", "kafka.batch/v2/batch/one-record", "--no-families", code=1
    )
    assert "wrong-value" in done.out
    assert 'want    baseOffset = "' in done.out


@each("format_id", FORMATS)
def test_the_shape_of_each_format_has_all_fields_of_its_values(format_id: str) -> None:
    row = FORMATS[format_id]
    lines = list(shape_lines(row))
    for node in json_schema(row.value, format_id)["$defs"].values():
        for name in node["properties"]:
            assert any(line.startswith(f"  {name}: ") for line in lines)
    assert not any("None" in line or "{" in line for line in lines)


def test_a_format_that_is_none_is_named_with_the_nearest_one(wireproof: Command, tmp_path: Path) -> None:
    for word, advice in (
        ("kafka.bach/v2", "did you mean kafka.batch/v2?"),
        ("kafka.batch", "kafka.batch/v1"),
    ):
        done = wireproof("adapters", "new", "c", tmp_path / "mine", "--format", word, code=2)
        assert advice in done.one_line()
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("language", list(client_templates()))
def test_a_client_template_is_written_with_the_commands_that_build_and_check_it(
    wireproof: Command, tmp_path: Path, language: str
) -> None:
    template, folder = client_templates()[language], tmp_path / "mine"
    done = wireproof("adapters", "new", "--client", language, folder, code=0)
    assert (folder / template.source).read_text(encoding="utf-8") == template.text
    assert not (folder / "adapter.toml").exists()
    note, *steps, check_command, exam = done.out.splitlines()
    assert f"{template.runtime}. Next:" in note
    build = template.command(template.build, folder)
    assert steps == [step for step in (template.library, build) if step]
    assert "kafka-client:" in check_command
    assert str(folder) in check_command
    assert f"--run '{template.exam}'" in exam
    assert str(folder) in exam


def test_a_template_is_written_over_nobodys_work(wireproof: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("", encoding="utf-8")
    assert "not empty" in wireproof("adapters", "new", "python", tmp_path, code=2).one_line()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


def test_a_template_whose_tools_are_missing_is_written_and_says_so(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = wireproof("adapters", "new", "go", tmp_path / "mine", code=0)
    assert done.one_line() == "wireproof: this needs go on the PATH"
    assert (tmp_path / "mine" / "main.go").exists()

"""Continuous integration: action, the files of adopting.md, the workflow of a release, what builds fetch."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import action_steps
import pytest
import yaml
from action_steps import page
from documentation import steps_of
from each import each
from folders import TOP
from machine import need
from markdown_commands import Source
from packaging.requirements import Requirement

from tests.mutants.registry import spec_of
from wireproof.adapters.registry.registered import Entry
from wireproof.adapters.registry.registry import entries

MUTANT = spec_of("mutant:iggy-identifier-unchecked")

ACTION = TOP / ".github/actions/codec/action.yml"
WORKFLOW = TOP / ".github/workflows/codec.yml"


def steps() -> dict[str, Any]:
    return action_steps.steps(ACTION)


def ran(name: str, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run a step in `folder` with the inputs' defaults, or those given."""
    need("bash")
    env = action_steps.environment(ACTION, name, inputs)
    path = os.pathsep.join((str(Path(sys.executable).parent), str(folder), os.environ["PATH"]))
    return subprocess.run(
        action_steps.words(ACTION, name),
        cwd=folder, env=os.environ | {"GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "PATH": path} | env,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A folder with the command `wireproof` of this checkout."""
    script = tmp_path / "wireproof"
    script.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m wireproof \"$@\"\n")
    script.chmod(0o755)
    return tmp_path


@pytest.mark.documents
def test_the_reference_conforms_and_its_results_are_kept(room: Path) -> None:
    done = ran("Conformance", room, adapter="reference", run="iggy.identifier/**", property="5")
    assert (done.returncode, done.stderr) == (0, "")
    assert (room / "wireproof.jsonl").read_text().count("\n") > 20
    assert "<testsuite" in (room / "wireproof.xml").read_text()
    assert (room / "wireproof.md").read_text().startswith("## wireproof")


@pytest.mark.documents
def test_a_codec_that_does_not_conform_fails_its_job(room: Path) -> None:
    told = {"adapter": MUTANT, "run": "iggy.identifier/**", "property": "0"}
    done = ran("Conformance", room, **told)
    assert done.returncode == 1
    assert "::error" in done.stdout


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, []),
        (
            {"run": "*.batch/**\n!x iggy.poll/0.11/*", "skip": "**/size/**"},
            ["--run", "*.batch/**", "--run", "!x", "--run", "iggy.poll/0.11/*", "--skip", "**/size/**"],
        ),
        ({"families": "false"}, ["--no-families"]),
        ({"large": "true", "property": "200", "seed": "7"}, ["--large", "--property", "200", "--seed", "7"]),
        (
            {"shard": "2/4", "baseline": "known bugs.toml"},
            ["--shard", "2/4", "--baseline", "known bugs.toml"],
        ),
    ],
    ids=["defaults", "selection", "push", "night", "shard"],
)
def test_the_inputs_are_the_options_of_check(
    tmp_path: Path, inputs: dict[str, str], words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "wireproof"
    script.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\" > arguments\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))  # `ran` puts its folder first
    (tmp_path / "kafka.batch" / "v2").mkdir(parents=True)  # what a pattern would name if it were one of files
    done = ran("Conformance", tmp_path, adapter="exec:./my codec", **inputs)
    assert (done.returncode, done.stderr) == (0, "")
    given = (tmp_path / "arguments").read_text().splitlines()
    assert given[:3] == ["check", "exec:./my codec", "--out"]
    assert given[given.index("--annotations") + 1 :] == words


@pytest.mark.documents
def test_a_codec_that_cannot_be_imported_has_its_reason_in_the_summary(room: Path) -> None:
    (room / "mine.py").write_text("import no_such_library")
    done = ran("Conformance", room, adapter="py:mine:Mine", families="false")
    assert done.returncode == 4
    assert ran("Summary", room, adapter="py:mine:Mine").returncode == 0
    assert "No module named" in (room / "summary.md").read_text()
    assert "<error" in (room / "wireproof.xml").read_text()


@pytest.mark.campaigns
@pytest.mark.parametrize(("gate", "code"), [("false", 0), ("true", 1)])
def test_what_fuzzing_finds_is_kept_and_gates_where_it_is_asked_to(room: Path, gate: str, code: int) -> None:
    found: list[Path] = []
    for minutes in ("0.15", "1", "3"):  # a busy machine starts few inputs in the first of them
        told = {"adapter": MUTANT, "minutes": minutes, "workers": "1"}
        done = ran("Fuzzing", room, **told, **{"fail-on-findings": gate})
        found = list((room / "wireproof-fuzz/findings").rglob("*.json"))
        if found:
            break
    assert found
    assert done.returncode == code
    assert ("::warning" in done.stdout) is (gate == "false")


def test_every_input_is_used_and_every_expression_names_one() -> None:
    text = ACTION.read_text()
    for name in page(ACTION)["inputs"]:
        assert f"inputs.{name}" in text.partition("runs:")[2]


def test_the_ready_workflow_gives_the_action_inputs_that_it_has() -> None:
    (job,) = page(WORKFLOW)["jobs"].values()
    (step,) = (step for step in job["steps"] if step["uses"].startswith("./"))
    assert (TOP / step["uses"] / "action.yml").resolve() == ACTION
    assert step["with"].keys() <= page(ACTION)["inputs"].keys()
    at_night = {name for name, value in step["with"].items() if "schedule" in str(value)}
    assert at_night == {"families", "large", "property", "minutes"}


@pytest.fixture
def pip(room: Path) -> Path:
    """A file with the arguments of the `python` that the step Install runs."""
    script = room / "python"
    script.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{room}/arguments'\n")
    script.chmod(0o755)
    return room / "arguments"


@pytest.mark.parametrize(
    ("version", "source"),
    [
        ("", f"{ACTION.parent}/../../..[fuzz,property]"),
        ("0.1.0", "wireproof[fuzz,property]==0.1.0"),
        ("1.2.0rc1", "wireproof[fuzz,property]==1.2.0rc1"),
        ("v0.1.0", "wireproof[fuzz,property] @ git+https://github.com/owner/wireproof@v0.1.0"),
        ("1ab2c3d", "wireproof[fuzz,property] @ git+https://github.com/owner/wireproof@1ab2c3d"),
    ],
)
def test_an_exact_version_is_installed_from_the_index_and_a_revision_from_the_repository(
    room: Path, pip: Path, version: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(room / "python"))
    done = ran("Install", room, version=version, install="-e .")
    assert (done.returncode, done.stderr) == (0, "")
    assert pip.read_text().splitlines() == ["-m", "pip", "install", "--quiet", source, "-e", "."]


def test_the_summary_shows_the_result_and_names_the_artifact(room: Path) -> None:
    (room / "wireproof.md").write_text("## wireproof\n\n| codec | pass |\n")
    (room / "wireproof-fuzz/findings/x").mkdir(parents=True)
    (room / "wireproof-fuzz/findings/x/1.json").touch()
    assert ran("Summary", room, adapter=MUTANT, artifact="mine-3.12").returncode == 0
    text = (room / "summary.md").read_text()
    assert text.startswith("## wireproof\n\n| codec | pass |\n")
    assert "Findings of fuzzing: 1. All results are in the artifact `mine-3.12`." in text


def test_without_a_result_the_summary_says_where_to_look(room: Path) -> None:
    assert ran("Summary", room, adapter="none").returncode == 0
    assert "The check of `none` has no result: see the log" in (room / "summary.md").read_text()


@each("path", sorted((TOP / ".github").rglob("*.yml")), ids=lambda path: path.name)
def test_other_actions_are_pinned_to_a_commit_with_the_version_beside_it(path: Path) -> None:
    used = re.findall(r"uses: *(\S+?)@(.*)", path.read_text())
    pinned = [name for name, rest in used if not name.startswith("<")]
    assert all(
        re.fullmatch(r"[0-9a-f]{40} # v\d+\.\d+\.\d+", rest) for name, rest in used if name in pinned
    ), used


# --- adopting.md ---


FILES: Final = ("wireproof.yml", ".gitlab-ci.yml")
PROJECT: Final = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def source(name: str) -> str:
    """Return the text of a file that the page has its reader save."""
    (found,) = (one.text for one in steps_of("adopting.md") if isinstance(one, Source) and one.name == name)
    return found


def job(name: str) -> tuple[dict[str, str], list[str]]:
    """Return the variables and the commands of the one job of a file."""
    page: dict[str, Any] = yaml.safe_load(source(name))
    if "jobs" not in page:
        (one,) = page.values()
        return one["variables"], one["script"]
    (one,) = page["jobs"].values()
    return one["env"], [step["run"] for step in one["steps"] if "run" in step]


def extents(name: str) -> dict[str, str]:
    """Return the options of a push and of the night."""
    written = job(name)[0]["EXTENT"]
    if found := re.fullmatch(r"\$\{\{ github.event_name == 'schedule' && '(.+)' \|\| '(.+)' \}\}", written):
        return {"push": found[2], "night": found[1]}
    page = (TOP / "reference/docs/adopting.md").read_text(encoding="utf-8")
    found = re.search(r"give a pipeline schedule the variable `EXTENT` with\s+`([^`]+)`", page)
    return {"push": written, "night": found[1]}


@pytest.fixture
def pipeline_room(tmp_path: Path) -> Path:
    """A folder with the adapter of the page, a quick `wireproof`, and a `pip` that notes its arguments."""
    (tmp_path / "mine.py").write_text(source("mine.py"), encoding="utf-8")
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    fewer = "--no-families --run 'kafka.batch/v2/crc/*'"  # all cases and their families take minutes
    for name, line in (
        ("pip", f"printf '%s\\n' \"$@\" > '{tmp_path}/arguments'"),
        ("wireproof", f"exec '{sys.executable}' -m wireproof \"$@\" {fewer}"),
    ):
        (bin_folder / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        (bin_folder / name).chmod(0o755)
    return tmp_path


def run(folder: Path, command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(folder / "bin"), os.environ["PATH"]))
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", command],
        cwd=folder, env=os.environ | variables | {"PATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.documents
@pytest.mark.parametrize(("name", "when"), [*((name, "push") for name in FILES), (FILES[0], "night")])
def test_the_commands_are_green_with_the_known_failures_and_red_without(
    pipeline_room: Path, name: str, when: str
) -> None:
    need("bash")
    variables, commands = job(name)
    variables = variables | {"EXTENT": extents(name)[when]}
    assert (
        run(pipeline_room, f"wireproof check py:mine:Mine {variables['EXTENT']} --out run.jsonl").returncode
        == 1
    )
    write = f"'{sys.executable}' -m wireproof baseline add known.toml run.jsonl --owner you"
    assert run(pipeline_room, write).returncode == 0
    known = (pipeline_room / "known.toml").read_text(encoding="utf-8")
    for command in commands:
        done = run(pipeline_room, command, **variables)
        assert (done.returncode, done.stderr) == (0, ""), command
    assert (pipeline_room / "arguments").read_text().splitlines() == ["install", variables["WIREPROOF"]]
    assert "<testsuite" in (pipeline_room / "junit.xml").read_text(encoding="utf-8")
    assert "<html" in (pipeline_room / "page.html").read_text(encoding="utf-8")
    (pipeline_room / "known.toml").write_text(known.partition("\n[[")[0], encoding="utf-8")
    assert run(pipeline_room, commands[-1], **variables).returncode == 1


@pytest.mark.parametrize("name", FILES)
def test_all_that_is_needed_is_the_name_of_the_project_and_an_extra_that_it_has(name: str) -> None:
    variables, commands = job(name)
    wanted = Requirement(variables["WIREPROOF"])
    assert wanted.name == PROJECT["name"]
    assert wanted.extras <= set(PROJECT["optional-dependencies"])
    assert "<" not in source(name)
    assert commands[0] == 'pip install "$WIREPROOF"'


# --- a release ---


GITHUB = TOP / ".github"
RELEASE = yaml.safe_load((GITHUB / "workflows" / "release.yml").read_text("utf-8"))
JOBS: dict[str, Any] = RELEASE["jobs"]
DOCKERFILE = (GITHUB / "image" / "Dockerfile").read_text("utf-8")
REHEARSAL = (TOP / ".ci" / "release-rehearsal").read_text("utf-8")
PUBLISHING = ("testpypi", "pypi", "image", "files")


def needed(name: str) -> set[str]:
    """The jobs before a job, and those before them."""
    before = JOBS[name].get("needs", [])
    direct = {before} if isinstance(before, str) else set(before)
    return direct.union(*(needed(one) for one in direct))


def uses(name: str) -> list[str]:
    return [step["uses"].partition("@")[0] for step in JOBS[name]["steps"] if "uses" in step]


def test_nothing_is_published_before_every_version_of_python_was_tested() -> None:
    for name in PUBLISHING:
        assert {"build", "test"} <= needed(name), name
    assert JOBS["test"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert [one.partition("*")[2] for one in JOBS["test"]["strategy"]["matrix"]["file"]] == [
        ".whl",
        ".tar.gz",
    ]


def test_what_is_tested_is_what_was_built() -> None:
    assert not any("checkout" in one for one in uses("test"))
    assert "sha256sum --check" in str(JOBS["test"]["steps"])


def test_only_a_tag_is_published_for_good() -> None:
    assert [name for name in PUBLISHING if JOBS[name].get("if") != "github.ref_type == 'tag'"] == ["testpypi"]


def test_the_index_gets_it_by_trusted_publishing_and_never_by_a_password() -> None:
    for name in ("testpypi", "pypi"):
        job = JOBS[name]
        assert job["permissions"] == {"id-token": "write"}
        assert job["environment"] == name
        assert "password" not in str(job)


def test_rights_are_those_that_a_job_needs() -> None:
    assert RELEASE["permissions"] == {"contents": "read"}
    writes = {
        name: job["permissions"] for name, job in JOBS.items() if "write" in str(job.get("permissions"))
    }
    assert writes.keys() == set(PUBLISHING)


def test_the_rehearsal_is_what_the_workflow_builds_with() -> None:
    assert "bash .ci/release-rehearsal release" in str(JOBS["build"]["steps"])
    assert ".github/image/install.sh" in REHEARSAL
    assert "127.0.0.1" in REHEARSAL
    hosts = set(re.findall(r"https?://([^/\s\"$:]+)", REHEARSAL))
    assert hosts == {"127.0.0.1"}


# --- the image ---


def instructions(text: str) -> list[list[str]]:
    """The instructions of a Dockerfile, each with its words."""
    lines = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", text)).splitlines()
    return [shlex.split(line) for line in lines if line]


def test_the_image_has_two_stages_of_which_the_last_one_runs_without_rights() -> None:
    rows = instructions(DOCKERFILE)
    stages = [place for place, row in enumerate(rows) if row[0] == "FROM"]
    assert len(stages) == 2
    last = rows[stages[-1] :]
    assert not [row for row in last if row[0] == "RUN"], "what builds is not in what runs"
    (user,) = (row[1] for row in last if row[0] == "USER")
    number, _, group = user.partition(":")
    assert int(number) > 0
    assert int(group) > 0
    assert ["ENTRYPOINT", "[wireproof]"] in last
    assert "org.opencontainers.image.licenses=Apache-2.0" in [word for row in last for word in row]


# --- what a peer's build fetches ---


PEERS = TOP / "tests" / "peers"
BUILT = {name: entry for name, entry in entries().items() if entry.prepare is not None}
REQUIREMENTS = sorted(path for path in PEERS.rglob("requirements.txt") if path.parent.name[0] != "_")
"""Of the bundled versions; folders such as `_before-0.9.0` are of chosen releases, pinned when built."""

PINNING = {"mvn": {"-C"}, "cargo": {"--locked"}, "pip": {"--require-hashes"}, "npm": {"ci"}, "$npm": {"ci"}}
"""Of each tool that fetches, the word that makes it compare digests; Go always compares those of go.sum."""


def commands(entry: Entry) -> Iterator[list[str]]:
    for step in entry.prepare.steps:
        yield list(step)
        if step[0] == "sh":
            shared = step[1].startswith("_shared/")
            script = PEERS / step[1] if shared else PEERS / entry.prepare.source / step[1]
            lines = script.read_text("utf-8").replace("\\\n", " ").splitlines()
            yield from (shlex.split(line, comments=True) for line in lines if line)


def fetching(words: list[str]) -> str:
    """The tool of the table that a command runs; empty if it runs none, or fetches no package with it."""
    if "--package-lock-only" in words:
        return ""
    names = {Path(word).name for word in words if not word.startswith("npm=")}
    return next((tool for tool in PINNING if tool in names), "")


@each("name", BUILT)
def test_a_build_compares_the_digests_of_what_it_fetches(name: str) -> None:
    for words in commands(BUILT[name]):
        assert PINNING.get(fetching(words), set()) <= set(words), shlex.join(words)


def test_each_tool_of_the_table_is_used_by_some_build() -> None:
    used = {fetching(words) for entry in BUILT.values() for words in commands(entry)}
    assert used - {""} == PINNING.keys()


@each("path", REQUIREMENTS, ids=lambda path: path.parent.name)
def test_every_requirement_has_one_version_and_digests(path: Path) -> None:
    text = path.read_text("utf-8").replace("\\\n", " ")
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    assert rows
    for name, *hashes in rows:
        assert re.fullmatch(r"[\w.-]+==[\w.]+", name)
        assert hashes
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one) for one in hashes), name


@each("path", sorted(PEERS.rglob("go.mod")), ids=lambda path: path.parent.name)
def test_a_go_module_with_requirements_has_their_digests(path: Path) -> None:
    if "require" in path.read_text("utf-8"):
        assert path.with_name("go.sum").is_file()

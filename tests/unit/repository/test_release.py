"""The workflow of a release, its rehearsal and the image: what each must contain, and that they agree."""

import re
import shlex
from typing import Any

import yaml
from folders import TOP

import wireproof

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


# --- the version ---


def test_the_list_of_changes_has_this_version() -> None:
    assert f"### {wireproof.__version__}" in (TOP / "reference" / "docs" / "releases.md").read_text("utf-8")

"""What an index would show of the project."""

import tomllib
from typing import Any, Final

from folders import TOP

PROJECT: Final[dict[str, Any]] = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]


def test_no_later_version_of_python_is_excluded() -> None:
    assert PROJECT["requires-python"] == ">=3.11"


def test_authors_licence_systems_and_versions_are_named() -> None:
    assert PROJECT["authors"]
    assert PROJECT["license"]
    kinds = {text.partition(" :: ")[0] for text in PROJECT["classifiers"]}
    assert kinds >= {"Operating System", "Programming Language", "Topic", "Development Status"}


def test_the_extra_for_properties_brings_no_client_of_a_cloud() -> None:
    names = " ".join(PROJECT["optional-dependencies"]["property"])
    assert "hypothesis" in names
    assert not any(name in names for name in ("boto3", "moto", "flask"))

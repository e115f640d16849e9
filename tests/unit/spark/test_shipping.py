"""The parts that executors get, as settings of Spark; errors in them are one line. Needs no Spark."""

import zipfile
from pathlib import Path
from unittest.mock import Mock

import pytest
from command_line import Command
from each import each
from machine import needs

from wireproof import __version__
from wireproof.spark import session
from wireproof.spark.errors import SourceError
from wireproof.spark.session import ClusterEnv

MASTER = "spark://127.0.0.1:7077"
JAVA_OPTIONS = "spark.driver.defaultJavaOptions"


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / f"wireproof-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("wireproof/__init__.py", "")
    return path


def test_nothing_given_is_nothing_set() -> None:
    assert ClusterEnv().settings() == {}
    assert ClusterEnv(MASTER).settings() == {}


def test_a_wheel_travels_as_a_zip_file_that_is_unpacked_and_searched_first(wheel: Path) -> None:
    found = ClusterEnv(MASTER, wheel=wheel, conf=("spark.executorEnv.PYTHONPATH=/mine",)).settings()
    copy, _, folder = found["spark.archives"].partition("#")
    assert Path(copy).suffix == ".zip"
    assert Path(copy).read_bytes() == wheel.read_bytes()
    assert found["spark.executorEnv.PYTHONPATH"] == f"./{folder}:/mine"


def test_an_environment_brings_the_python_of_the_executors(tmp_path: Path, wheel: Path) -> None:
    archive = tmp_path / "environment.tar.gz"
    archive.write_bytes(b"")
    given = ("spark.archives=more.zip", "spark.executor.memory=2g")
    found = ClusterEnv("yarn", archive, wheel, given).settings()
    assert found["spark.pyspark.python"] == "./wireproof-environment/bin/python"
    assert found["spark.archives"].split(",")[1:] == [f"{archive}#wireproof-environment", "more.zip"]
    assert found["spark.executor.memory"] == "2g"
    own = ClusterEnv("yarn", archive, conf=("spark.pyspark.python=./e/python",)).settings()
    assert own["spark.pyspark.python"] == "./e/python", "what is given stays"


@each(
    "where, active, option",
    [
        (ClusterEnv(), False, "-XX:TieredStopAtLevel=1"),
        (ClusterEnv("local[2]"), False, "-XX:TieredStopAtLevel=1"),
        (ClusterEnv(conf=(f"{JAVA_OPTIONS}=-Xint",)), False, "-Xint"),
        (ClusterEnv(), True, None),
        (ClusterEnv(MASTER), False, None),
    ],
)
def test_java_compiles_quickly_where_a_verb_makes_a_local_session(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, where: ClusterEnv, active: bool, option: str | None
) -> None:
    made = Mock()
    monkeypatch.setattr(session, "session", made)
    monkeypatch.setattr(session, "_active_session", lambda: made if active else None)
    with session.spark_of(where, tmp_path):
        assert made.call_args.kwargs["conf"].get(JAVA_OPTIONS) == option


@each(
    "where, text",
    [
        (ClusterEnv(archive=Path("x.tar.gz")), "--archive and --wheel are for executors"),
        (ClusterEnv("local[2]", wheel=Path("x.whl")), "--archive and --wheel are for executors"),
        (ClusterEnv(MASTER, archive=Path("none.tar.gz")), "--archive none.tar.gz: not found"),
        (ClusterEnv(MASTER, archive=Path(__file__)), "Spark unpacks only .tar.gz, .tgz, .zip"),
        (ClusterEnv(MASTER, wheel=Path("none.whl")), "--wheel none.whl: not found"),
        (
            ClusterEnv(MASTER, wheel=Path(__file__)),
            f"not a wheel of wireproof {__version__}, the version that runs here",
        ),
        (ClusterEnv(conf=("executor.memory=1g",)), "--conf executor.memory=1g: expected spark.NAME=VALUE"),
        (ClusterEnv(conf=("spark.memory",)), "--conf spark.memory: expected spark.NAME=VALUE"),
    ],
)
def test_a_mistake_is_named(where: ClusterEnv, text: str) -> None:
    with pytest.raises(SourceError, match=text.replace("[", r"\[")):
        where.settings()


@needs("[spark]")
@pytest.mark.parametrize("verb", [("scan", "x", "--out"), ("fuzz", "reference", "--spark", "--dir")])
def test_the_verbs_say_it_before_anything_is_started(
    wireproof: Command, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    done = wireproof(*verb, tmp_path / "out", "--wheel", "x.whl")
    assert (done.code, done.out) == (2, "")
    assert done.err == "wireproof: --archive and --wheel are for executors: choose a cluster with --master\n"
    assert not (tmp_path / "out").exists()

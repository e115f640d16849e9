"""Choose the cluster of a job, and send its executors an environment or the wheel of this package.

Both are sent as archives, which Spark unpacks in the working directory of an executor. A wheel on the search
path without unpacking would be a zip file, from which neither fixtures nor compiled kernels can be read.
"""

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from wireproof import __version__
from wireproof.spark.errors import SourceError

ENVIRONMENT: Final = "wireproof-environment"
PACKAGE: Final = "wireproof-package"
"""The directories of an executor into which the archives are unpacked."""

SUFFIXES: Final = (".tar.gz", ".tgz", ".zip")
"""The archives that Spark unpacks, which it knows by their names."""

ARCHIVES_SETTING: Final = "spark.archives"
PYTHON_SETTING: Final = "spark.pyspark.python"
PYTHONPATH_SETTING: Final = "spark.executorEnv.PYTHONPATH"


@frozen
class ClusterEnv:
    """The place where a job runs: this machine or a cluster.

    Attributes:
        master: of Spark; None is all cores of this machine.
        archive: a packed environment with `bin/python`, as venv-pack and conda-pack make it.
        wheel: of this package, for executors whose Python has all other packages.
        conf: settings of Spark, each `NAME=VALUE`.
    """

    master: str | None = None
    archive: Path | None = None
    wheel: Path | None = None
    conf: tuple[str, ...] = ()

    @property
    def local(self) -> bool:
        """Return True if tasks run on this machine, in the environment of this process."""
        return self.master is None or self.master.startswith("local")

    def settings(self) -> dict[str, str]:
        """Return the settings of Spark for this place; a wheel is copied for the driver to serve.

        Raises:
            SourceError: a file does not exist or executors cannot use it, or a setting has no value.
        """
        if self.local and (self.archive or self.wheel):
            raise SourceError("--archive and --wheel are for executors: choose a cluster with --master")
        settings = dict(map(_setting, self.conf))
        if self.archive:
            _prepend(settings, ARCHIVES_SETTING, f"{_check_archive(self.archive)}#{ENVIRONMENT}", ",")
            settings.setdefault(PYTHON_SETTING, f"./{ENVIRONMENT}/bin/python")
        if self.wheel:
            _prepend(settings, ARCHIVES_SETTING, f"{_copy_as_zip(self.wheel)}#{PACKAGE}", ",")
            _prepend(settings, PYTHONPATH_SETTING, f"./{PACKAGE}", ":")
        return settings


def cluster_env_of(options: Mapping[str, Any]) -> ClusterEnv:
    """Make the object from the options of a command."""
    return ClusterEnv(options["master"], options["archive"], options["wheel"], tuple(options["given"]))


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and name.startswith("spark.")):
        raise SourceError(f"--conf {text}: expected spark.NAME=VALUE")
    return name, value


def _prepend(settings: dict[str, str], name: str, value: str, separator: str) -> None:
    """Add a value before the one that the user has set."""
    settings[name] = separator.join(filter(None, [value, settings.get(name, "")]))


def _check_archive(archive: Path) -> Path:
    if not archive.is_file():
        raise SourceError(f"--archive {archive}: not found; make one with `venv-pack -o environment.tar.gz`")
    if not archive.name.endswith(SUFFIXES):
        raise SourceError(f"--archive {archive}: Spark unpacks only {', '.join(SUFFIXES)}")
    return archive.absolute()


@cache
def _copy_as_zip(wheel: Path) -> Path:
    """Copy the wheel, once in this process, to a name that Spark recognizes as an archive.

    The copy is removed when this process ends.
    """
    if not wheel.is_file():
        raise SourceError(f"--wheel {wheel}: not found; make one with `pip wheel --no-deps wireproof`")
    if not (wheel.name.startswith(f"wireproof-{__version__}-") and wheel.suffix == ".whl"):
        raise SourceError(
            f"--wheel {wheel}: not a wheel of wireproof {__version__}, the version that runs here"
        )
    folder = Path(tempfile.mkdtemp(prefix="wireproof-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(shutil.copy(wheel, folder / f"{PACKAGE}.zip"))

"""Where a job runs, and what its executors are given: a whole environment, or the wheel of this package.

Both travel as archives, which Spark unpacks in the folder where an executor stands: a wheel on the search
path as it is would be a zip file, from which neither fixtures nor compiled kernels can be read.
"""

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from wireproof import __version__
from wireproof.spark.errors import SourceError

ENVIRONMENT: Final = "wireproof-environment"
PACKAGE: Final = "wireproof-package"
"""The folders of an executor into which the archives are unpacked."""

SUFFIXES: Final = (".tar.gz", ".tgz", ".zip")
"""Archives that Spark unpacks, which goes by their names."""

ARCHIVES: Final = "spark.archives"
PYTHON: Final = "spark.pyspark.python"
SEARCHED: Final = "spark.executorEnv.PYTHONPATH"


@frozen
class Where:
    """Where a job runs.

    Attributes:
        master: of Spark; None is all cores of this machine.
        archive: a packed environment with `bin/python` in it, as venv-pack and conda-pack make them.
        wheel: of this package, for executors whose Python has the rest.
        given: settings of Spark, each `NAME=VALUE`.
    """

    master: str | None = None
    archive: Path | None = None
    wheel: Path | None = None
    given: tuple[str, ...] = ()

    @property
    def local(self) -> bool:
        """Whether tasks run on this machine, in the environment of this process."""
        return self.master is None or self.master.startswith("local")

    def settings(self) -> dict[str, str]:
        """The settings of Spark that come of it; a wheel is copied to where the driver can offer it.

        Raises:
            SourceError: no such file, one that executors cannot use, or a setting without its value.
        """
        if self.local and (self.archive or self.wheel):
            raise SourceError("--archive and --wheel are for executors: name their cluster with --master")
        found = dict(map(_setting, self.given))
        if self.archive:
            _add(found, ARCHIVES, f"{_unpackable(self.archive)}#{ENVIRONMENT}", ",")
            found.setdefault(PYTHON, f"./{ENVIRONMENT}/bin/python")
        if self.wheel:
            _add(found, ARCHIVES, f"{_zip(self.wheel)}#{PACKAGE}", ",")
            _add(found, SEARCHED, f"./{PACKAGE}", ":")
        return found


def where_of(more: Mapping[str, Any]) -> Where:
    """From the options of a command, which bear the names of the attributes."""
    return Where(more["master"], more["archive"], more["wheel"], tuple(more["given"]))


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and name.startswith("spark.")):
        raise SourceError(f"--conf {text}: not spark.NAME=VALUE")
    return name, value


def _add(found: dict[str, str], name: str, more: str, sign: str) -> None:
    """What is ours comes first, and what the user has set stays."""
    found[name] = sign.join(filter(None, [more, found.get(name, "")]))


def _unpackable(archive: Path) -> Path:
    if not archive.is_file():
        raise SourceError(f"--archive {archive}: not found; venv-pack -o environment.tar.gz makes one")
    if not archive.name.endswith(SUFFIXES):
        raise SourceError(f"--archive {archive}: Spark unpacks {', '.join(SUFFIXES)}")
    return archive.absolute()


def _zip(wheel: Path) -> Path:
    """A copy under a name by which Spark knows that it can be unpacked; it goes with this process."""
    if not wheel.is_file():
        raise SourceError(f"--wheel {wheel}: not found; `pip wheel --no-deps wireproof` makes one")
    if not (wheel.name.startswith(f"wireproof-{__version__}-") and wheel.suffix == ".whl"):
        raise SourceError(f"--wheel {wheel}: no wheel of wireproof {__version__}, which runs here")
    room = Path(tempfile.mkdtemp(prefix="wireproof-"))
    atexit.register(shutil.rmtree, room, ignore_errors=True)
    return Path(shutil.copy(wheel, room / f"{PACKAGE}.zip"))

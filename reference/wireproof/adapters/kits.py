"""Adapter kits: one file a language, with a small codec that conforms; where to begin with one's own.

They stand in `tests/templates`, are written by `adapters new`, and are tested as any adapter is.
"""

import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.adapters.packaged import templates_folder

FORMAT: Final = "iggy.identifier/**"
"""What the codec of every kit reads and writes."""


class KitError(ValueError):
    """A kit cannot be written; one line says why."""


@frozen
class Kit:
    """The kit of one language; `{dir}` stands for the folder that it was written to.

    Attributes:
        language: as `adapters new` takes it, and the folder under `tests/templates`.
        source: the file that is to be edited.
        run: the words of the command that is the adapter.
        build: the words of the command that makes it; none where there is nothing to build.
        tools: the programs that both need.
    """

    language: str
    source: str
    run: tuple[str, ...]
    build: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    def command(self, words: Sequence[str], folder: Path) -> str:
        """A command as a shell takes it."""
        return shlex.join(word.replace("{dir}", str(folder)) for word in words)

    def spec(self, folder: Path) -> str:
        """The adapter, as `check` takes it."""
        return f"exec:{self.command(self.run, folder)}"

    @property
    def missing(self) -> list[str]:
        """The programs that the PATH does not have."""
        return [tool for tool in self.tools if shutil.which(tool) is None]


KITS: Final = {
    kit.language: kit
    for kit in (
        Kit("python", "kit.py", ("python3", "{dir}/kit.py"), tools=("python3",)),
        Kit("node", "kit.mjs", ("node", "{dir}/kit.mjs"), tools=("node",)),
        Kit("go", "main.go", ("{dir}/kit",), ("go", "build", "-C", "{dir}", "-o", "kit", "."), ("go",)),
        Kit(
            "java",
            "src/main/java/Kit.java",
            ("java", "-jar", "{dir}/target/kit.jar"),
            ("mvn", "-q", "-f", "{dir}/pom.xml", "package"),
            ("java", "mvn"),
        ),
        Kit(
            "rust",
            "src/main.rs",
            ("{dir}/target/release/kit",),
            ("cargo", "build", "--quiet", "--release", "--manifest-path", "{dir}/Cargo.toml"),
            ("cargo",),
        ),
        Kit("c", "kit.c", ("{dir}/kit",), ("cc", "-O2", "-o", "{dir}/kit", "{dir}/kit.c"), ("cc",)),
    )
}
"""By language."""


def write(kit: Kit, folder: Path) -> None:
    """Write the kit; raises `KitError` where `folder` holds anything: nobody's work is written over."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise KitError(f"{folder} is there and not empty: name a new folder")
    source = templates_folder() / kit.language
    made = shutil.ignore_patterns("target", "__pycache__")
    shutil.copytree(source, folder, dirs_exist_ok=True, ignore=made)

"""Adapter templates: one file for each language, with a small conforming codec, as the start of an adapter.

They are in `tests/templates`. The command `adapters new` copies one; the tests check them like any adapter.
"""

import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.adapters.packaged_folders import templates_folder

_CASES: Final = re.compile(r"--run '([^']+)'")
"""The head of a template shows the command that checks it."""


class TemplateError(ValueError):
    """A template cannot be written; the message is one line."""


@frozen
class AdapterTemplate:
    """The template of one language; `{dir}` is replaced by the folder that it was written to.

    Attributes:
        language: the argument of `adapters new`, and the folder under `tests/templates`.
        source: the file to edit.
        run: the words of the command that is the adapter.
        build: the words of the command that builds it; empty if there is nothing to build.
        tools: the programs that both need.
    """

    language: str
    source: str
    run: tuple[str, ...]
    build: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    def command(self, words: Sequence[str], folder: Path) -> str:
        """Return a command quoted for a shell."""
        return shlex.join(word.replace("{dir}", str(folder)) for word in words)

    def spec(self, folder: Path) -> str:
        """Return the adapter in the form that `check` accepts."""
        return f"exec:{self.command(self.run, folder)}"

    @property
    def text(self) -> str:
        """Return the source."""
        return (templates_folder() / self.language / self.source).read_text("utf-8")

    @property
    def cases(self) -> str:
        """Return the pattern of the cases that its codec is for, which its source shows."""
        found = _CASES.search(self.text)
        assert found is not None, f"{self.source} shows no cases"
        return found[1]

    @property
    def missing(self) -> list[str]:
        """Return the programs that are not on the PATH."""
        return [tool for tool in self.tools if shutil.which(tool) is None]


TEMPLATES: Final = {
    template.language: template
    for template in (
        AdapterTemplate("python", "adapter.py", ("python3", "{dir}/adapter.py"), tools=("python3",)),
        AdapterTemplate("node", "adapter.mjs", ("node", "{dir}/adapter.mjs"), tools=("node",)),
        AdapterTemplate(
            "go", "main.go", ("{dir}/adapter",), ("go", "build", "-C", "{dir}", "-o", "adapter", "."), ("go",)
        ),
        AdapterTemplate(
            "java",
            "src/main/java/Adapter.java",
            ("java", "-jar", "{dir}/target/adapter.jar"),
            ("mvn", "-q", "-f", "{dir}/pom.xml", "package"),
            ("java", "mvn"),
        ),
        AdapterTemplate(
            "rust",
            "src/main.rs",
            ("{dir}/target/release/adapter",),
            ("cargo", "build", "--quiet", "--release", "--manifest-path", "{dir}/Cargo.toml"),
            ("cargo",),
        ),
        AdapterTemplate(
            "c",
            "adapter.c",
            ("{dir}/adapter",),
            ("cc", "-O2", "-o", "{dir}/adapter", "{dir}/adapter.c"),
            ("cc",),
        ),
    )
}
"""By language."""


def write(template: AdapterTemplate, folder: Path) -> None:
    """Write the template; raise `TemplateError` if `folder` is not empty, so that no file is overwritten."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TemplateError(f"{folder} is there and not empty: name a new folder")
    source = templates_folder() / template.language
    ignored = shutil.ignore_patterns("target", "__pycache__")
    shutil.copytree(source, folder, dirs_exist_ok=True, ignore=ignored)

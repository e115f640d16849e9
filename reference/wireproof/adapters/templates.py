"""Templates of adapters and of client programs, one of each for a language, which `adapters new` copies.

The adapter templates are in `tests/templates`: one file with a small conforming codec, as the start of an
adapter. The client templates are the programs of bundled clients: a consumer and a producer of a library by
its public interface. The tests check both like any adapter.
"""

import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.adapters import peers
from wireproof.adapters.packaged_folders import templates_folder
from wireproof.family import object_at
from wireproof.formats import FAMILIES

_CASES: Final = re.compile(r"--run '([^']+)'")
"""The head of a template shows the command that checks it."""

_NO_TEMPLATE: Final = ("target", "__pycache__", "node_modules", "adapter.toml", "baseline.toml", "library")
"""Files that are not copied: results of builds, and what belongs to a bundled client alone."""


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
        client: the bundled client whose program it is; empty for an adapter.
        client_cases: the pattern of the cases that show most about a client.
        exam: the pattern of all cases for a client; empty for an adapter, whose `cases` are all.
        library: how the library is installed, if the build does not fetch it.
        runtime: the version of a tool that the library needs, if it is a new one.
    """

    language: str
    source: str
    run: tuple[str, ...]
    build: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    client: str = ""
    client_cases: str = ""
    exam: str = ""
    library: str = ""
    runtime: str = ""

    @property
    def folder(self) -> Path:
        """Return the folder that is copied."""
        return peers.files()[self.client].parent if self.client else templates_folder() / self.language

    @property
    def system(self) -> str:
        """Return the system of a client, the folder of its peer."""
        return self.folder.parent.name

    def command(self, words: Sequence[str], folder: Path) -> str:
        """Return a command quoted for a shell."""
        return shlex.join(word.replace("{dir}", str(folder)) for word in words)

    def spec(self, folder: Path) -> str:
        """Return the adapter in the form that `check` accepts."""
        kind = f"{self.system}-client" if self.client else "exec"
        return f"{kind}:{self.command(self.run, folder)}"

    @property
    def text(self) -> str:
        """Return the source."""
        return (self.folder / self.source).read_text("utf-8")

    @property
    def cases(self) -> str:
        """Return the pattern of the cases that it is for; the source of a codec shows it."""
        if self.client:
            return self.client_cases
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
"""The templates of adapters, by language."""


def client_templates() -> dict[str, AdapterTemplate]:
    """Return the templates of client programs, by language."""
    places = (family.client_templates for family in FAMILIES.values())
    return {language: one for place in places if place for language, one in object_at(place).items()}


def write(template: AdapterTemplate, folder: Path) -> None:
    """Write the template; raise `TemplateError` if `folder` is not empty, so that no file is overwritten."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TemplateError(f"{folder} is there and not empty: name a new folder")
    ignored = shutil.ignore_patterns(*_NO_TEMPLATE)
    shutil.copytree(template.folder, folder, dirs_exist_ok=True, ignore=ignored)

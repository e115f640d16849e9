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

from wireproof.adapters.packaged_folders import peers_folder, templates_folder

_CASES: Final = re.compile(r"--run '([^']+)'")
"""The head of a template shows the command that checks it."""

_CLIENT_CASES: Final = "kafka.log/mixed/delivered/*"
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
        client: the bundled client whose program it is, as `SYSTEM/NAME`; empty for an adapter.
        library: how the library is installed, if the build does not fetch it.
    """

    language: str
    source: str
    run: tuple[str, ...]
    build: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    client: str = ""
    library: str = ""

    @property
    def folder(self) -> Path:
        """Return the folder that is copied."""
        return peers_folder() / self.client if self.client else templates_folder() / self.language

    def command(self, words: Sequence[str], folder: Path) -> str:
        """Return a command quoted for a shell."""
        return shlex.join(word.replace("{dir}", str(folder)) for word in words)

    def spec(self, folder: Path) -> str:
        """Return the adapter in the form that `check` accepts."""
        kind = f"{self.client.partition('/')[0]}-client" if self.client else "exec"
        return f"{kind}:{self.command(self.run, folder)}"

    @property
    def text(self) -> str:
        """Return the source."""
        return (self.folder / self.source).read_text("utf-8")

    @property
    def cases(self) -> str:
        """Return the pattern of the cases that it is for; the source of a codec shows it."""
        if self.client:
            return _CLIENT_CASES
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

CLIENT_TEMPLATES: Final = {
    template.language: template
    for template in (
        AdapterTemplate(
            "python",
            "client.py",
            ("python3", "{dir}/client.py"),
            tools=("python3",),
            client="kafka/confluent-kafka-client",
            library="pip install confluent-kafka",
        ),
        AdapterTemplate(
            "node",
            "client.mjs",
            ("node", "{dir}/client.mjs"),
            ("npm", "ci", "--prefix", "{dir}"),
            ("node", "npm"),
            client="kafka/platformatic-kafka-client",
        ),
        AdapterTemplate(
            "go",
            "main.go",
            ("{dir}/client",),
            ("go", "build", "-C", "{dir}", "-o", "client", "."),
            ("go",),
            client="kafka/franz-go-client",
        ),
        AdapterTemplate(
            "java",
            "src/main/java/Client.java",
            ("java", "-jar", "{dir}/target/client.jar"),
            ("mvn", "-q", "-f", "{dir}/pom.xml", "package"),
            ("java", "mvn"),
            client="kafka/kafka-clients-client",
        ),
        AdapterTemplate(
            "rust",
            "src/main.rs",
            ("{dir}/target/release/client",),
            ("cargo", "build", "--quiet", "--release", "--manifest-path", "{dir}/Cargo.toml"),
            ("cargo",),
            client="kafka/rdkafka-client",
        ),
        AdapterTemplate(
            "c",
            "client.c",
            ("{dir}/client",),
            (
                *("cc", "-O2", "-o", "{dir}/client", "{dir}/client.c"),
                *("-I/usr/include/cjson", "-lrdkafka", "-lcjson"),
            ),
            ("cc",),
            client="kafka/librdkafka-client",
            library="apt-get install librdkafka-dev libcjson-dev",
        ),
    )
}
"""The templates of client programs, by language."""


def write(template: AdapterTemplate, folder: Path) -> None:
    """Write the template; raise `TemplateError` if `folder` is not empty, so that no file is overwritten."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TemplateError(f"{folder} is there and not empty: name a new folder")
    ignored = shutil.ignore_patterns(*_NO_TEMPLATE)
    shutil.copytree(template.folder, folder, dirs_exist_ok=True, ignore=ignored)

"""Templates of adapters and of client programs, one of each for a language, which `adapters new` copies.

The adapter templates are in `tests/templates`: one file with a small conforming codec, as the start of an
adapter. For another format, the codec is replaced by a place for it (`codec.txt`) and the shape of values.
The client templates are the programs of bundled clients: a consumer and a producer of a library by its public
interface. The tests check both like any adapter.
"""

import re
import shlex
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from wireproof.adapters.registry import peers
from wireproof.adapters.registry.peers import templates_folder
from wireproof.family import object_at
from wireproof.formats import FAMILIES, Format
from wireproof.wire.json_values import DECIMAL_PATTERN, DERIVED, HEX_PATTERN, json_schema
from wireproof.wire.rejection import REJECT_CLASSES

_CASES: Final = re.compile(r"--run '([^']+)'")
"""The head of a template shows the command that checks it."""

_EXAMPLE: Final = re.compile("As it stands it is a whole codec of .*")
_NO_CODEC: Final = "As it stands it has no codec, and claims nothing of its format."
"""The sentence at the head of a template, and the one of an adapter without a codec."""

_ERRORS: Final = re.compile(r"""(?<=["'])exact(?=\\?["'](?!:))""")
"""What the head of a template claims of its classes of refusals; a comment above it has a colon behind it."""

_CODEC: Final = "--- the codec: yours goes here"
_WIRE: Final = "--- the wire:"
"""The lines before which the codec of a template begins and ends."""

_PLACE: Final = "codec.txt"
"""The file with what stands in the place of the codec: empty operations, `FORMAT` and `SHAPE`."""

_NO_TEMPLATE: Final = (
    "target", "__pycache__", "node_modules", "adapter.toml", "baseline.toml", "library", _PLACE,
)  # fmt: skip
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
        return peers.files()[self.client].parent if self.client else templates_folder() / self.language

    @property
    def system(self) -> str:
        return self.folder.parent.name

    def command(self, words: Sequence[str], folder: Path) -> str:
        return shlex.join(word.replace("{dir}", str(folder)) for word in words)

    def spec(self, folder: Path) -> str:
        """Return the adapter in the form that `check` accepts."""
        kind = f"{self.system}-client" if self.client else "exec"
        return f"{kind}:{self.command(self.run, folder)}"

    @property
    def text(self) -> str:
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
        return [tool for tool in self.tools if shutil.which(tool) is None]


TEMPLATES: Final = {
    template.language: template
    for template in (
        AdapterTemplate("python", "adapter.py", ("python3", "{dir}/adapter.py"), tools=("python3",)),
        AdapterTemplate("node", "adapter.mjs", ("node", "{dir}/adapter.mjs"), tools=("node",)),
        AdapterTemplate("go", "main.go", ("{dir}/adapter",),
                        ("go", "build", "-C", "{dir}", "-o", "adapter", "."), ("go",)),
        AdapterTemplate("java", "src/main/java/Adapter.java", ("java", "-jar", "{dir}/target/adapter.jar"),
                        ("mvn", "-q", "-f", "{dir}/pom.xml", "package"), ("java", "mvn")),
        AdapterTemplate("rust", "src/main.rs", ("{dir}/target/release/adapter",),
                        ("cargo", "build", "--quiet", "--release", "--manifest-path", "{dir}/Cargo.toml"),
                        ("cargo",)),
        AdapterTemplate("c", "adapter.c", ("{dir}/adapter",),
                        ("cc", "-O2", "-o", "{dir}/adapter", "{dir}/adapter.c"), ("cc",)),
    )
}  # fmt: skip
"""The templates of adapters, by language."""


def client_templates() -> dict[str, AdapterTemplate]:
    places = (family.client_templates for family in FAMILIES.values())
    return {language: one for place in places if place for language, one in object_at(place).items()}


def write(template: AdapterTemplate, folder: Path, row: Format | None = None) -> None:
    """Write the template to a new folder, without its codec if there is a `row`; raises `TemplateError`."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TemplateError(f"{folder} is there and not empty: name a new folder")
    ignored = shutil.ignore_patterns(*_NO_TEMPLATE)
    shutil.copytree(template.folder, folder, dirs_exist_ok=True, ignore=ignored)
    if row is not None:
        # The source of a template with the place of a codec of `row` and the shape of its values.
        place = (template.folder / _PLACE).read_text("utf-8").replace("FORMAT", row.format_id)
        place = re.sub(
            "^(.*)SHAPE$",
            lambda found: "\n".join(f"{found[1]}{line}".rstrip() for line in shape_lines(row)),
            place,
            flags=re.MULTILINE,
        )
        lines = template.text.splitlines(keepends=True)
        begin, end = (next(n for n, line in enumerate(lines) if mark in line) for mark in (_CODEC, _WIRE))
        head = "".join(lines[:begin]).replace(template.cases, f"{row.format_id}/**")
        head = _ERRORS.sub("coarse", head)  # the classes of a new codec are still to be mapped
        (folder / template.source).write_text(
            _EXAMPLE.sub(_NO_CODEC, head) + place + "".join(lines[end:]), encoding="utf-8"
        )


def shape_lines(row: Format) -> Iterator[str]:
    """Yield the shape of the values of a format as text, and the classes of refusals."""
    yield f"A value of {row.format_id} in JSON. An integer is a decimal string; bytes are lower-case hex,"
    yield "also of text; null is not empty. What is computed follows from other fields: decode returns it,"
    yield "and encode may not get it. What is derived is compared only if observes names it."
    for name, node in json_schema(row.value, row.format_id)["$defs"].items():
        yield ""
        yield f"{name}:"
        for field, part in node["properties"].items():
            note = "derived" if DERIVED in part else "" if field in node["required"] else "computed"
            yield f"  {field}: {_shape(part)}{note and f', {note}'}"
    yield ""
    yield from textwrap.wrap(
        f"Classes of refusals: {', '.join(REJECT_CLASSES)}.", 100, break_on_hyphens=False
    )


def _shape(node: Mapping[str, Any]) -> str:
    words = str(node.get("type"))
    match node:
        case {"$ref": reference}:
            words = str(reference).rpartition("/")[2]
        case {"anyOf": parts}:
            words = " or ".join(map(_shape, parts))
        case {"enum": names}:
            words = " or ".join(f'"{name}"' for name in names)
        case {"type": "array", "prefixItems": parts}:
            words = f"[{', '.join(map(_shape, parts))}]"
        case {"type": "array", "items": part}:
            words = f"list of {_shape(part)}"
        case {"pattern": pattern}:
            words = _TEXTS.get(pattern, "number as text")
    return words


_TEXTS: Final = {f"^{DECIMAL_PATTERN}$": "integer", f"^{HEX_PATTERN}$": "bytes"}
"""The names of JSON texts by their pattern."""

"""The documents of `reference/docs` as pages of the site, and the links between them, rules and cases.

markdown-it-py renders the Markdown. Anchors (`<a id="…"></a>`) are the only HTML of a document that is used;
other HTML is shown as text.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Final

from attrs import frozen
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

import wireproof
from wireproof.files import read_limited_text

MOST: Final = 16 * 1024 * 1024
"""Bytes of a document."""

HOME: Final = "reference/docs"
"""The folder of the documents in the repository, from which their links are relative."""

ELSEWHERE: Final = (
    (re.compile(r"fixtures/([\w.-]+)/rules\.toml"), r"rules.html#\1"),
    (re.compile(r"fixtures/history\.toml"), "history.html"),
    (re.compile(r"reference/wireproof/schemas/([\w.]+)"), r"schemas/\1"),
)
"""Files of the repository outside the documents folder that have a page in the site, with its path."""

ANCHOR: Final = re.compile(r'<a id="([\w-]+)">|</a>')
NOT_IN_SLUG: Final = re.compile(r"[^\w\- ]")

CITED: Final = re.compile(
    r"(?P<name>\w+)\.md|(?P<other>RFC \d+)|§(?P<section>\d+(?:\.\d+)*)|\b(?P<id>[A-Z]{1,2}\d+)\b"
)
"""The parts of a citation: `kafka.md §7 C07`, `kafka.md §3; RFC 8878 §3.1`."""

_MARKDOWN: Final = MarkdownIt("commonmark").enable("table")


@frozen
class Document:
    """A document.

    Attributes:
        name: name of the file without its extension.
        text: the Markdown.
    """

    name: str
    text: str

    @property
    def page(self) -> str:
        """Return the path of its page in the site."""
        return f"documents/{self.name}.html"

    @property
    def title(self) -> str:
        """Return its first heading."""
        return self.text.partition("\n")[0].lstrip("# ")

    @cached_property
    def tokens(self) -> Sequence[Token]:
        """Parse it; each heading has an id."""
        tokens = _MARKDOWN.parse(self.text)
        used: dict[str, int] = {}
        for token, inline in pairwise(tokens):
            if token.type == "heading_open":
                slug = _slug(inline)
                used[slug] = used.get(slug, -1) + 1
                token.attrSet("id", f"{slug}-{used[slug]}" if used[slug] else slug)
        return tokens

    @cached_property
    def anchors(self) -> frozenset[str]:
        """Return the names to which a link can lead."""
        headings = (str(token.attrs["id"]) for token in self.tokens if token.type == "heading_open")
        return frozenset([*headings, *filter(None, ANCHOR.findall(self.text))])


def _slug(inline: Token) -> str:
    """Return the id that GitHub gives to a heading with this content."""
    text = "".join(part.content for part in inline.children or () if part.type in ("text", "code_inline"))
    return NOT_IN_SLUG.sub("", text.lower()).replace(" ", "-")


def folder() -> Path:
    """Return the folder of the documents: in the wheel if they are there, else that of the checkout."""
    package = Path(wireproof.__file__).parent
    packaged = package / "_docs"
    return packaged if packaged.is_dir() else package.parent / "docs"


def documents() -> Mapping[str, Document]:
    """Return all documents by name, also the specifications."""
    paths = sorted(folder().glob("*.md"))
    return {path.stem: Document(path.stem, read_limited_text(path, MOST)) for path in paths}


# --- a page ---


@frozen
class Library:
    """The documents, with the pages that they link to.

    Attributes:
        documents: by name.
        subject_page: returns the path of the page of a rule, a case or a format; empty for any other word.
    """

    documents: Mapping[str, Document]
    subject_page: Callable[[str], str]

    def render(self, document: Document) -> Markup:
        """Return a document as HTML, with links to pages of the site, also from names of rules and cases."""
        tokens = [self._adapted(token) for token in document.tokens]
        return Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))  # noqa: S704 - made of escaped parts

    def _adapted(self, token: Token) -> Token:
        match token.type:
            case "inline":
                return token.copy(children=list(self._children(token.children or ())))
            case "html_block":
                return token.copy(content=str(escape(token.content)))
            case _:
                return token

    def _children(self, children: Sequence[Token]) -> Iterator[Token]:
        linked: list[bool] = []  # whether each of the links around a token is kept
        for token in children:
            match token.type:
                case "link_open":
                    target = self.target(str(token.attrs["href"]))
                    linked.append(bool(target))
                    if target:
                        yield token.copy(attrs={"href": target})
                case "link_close":
                    if linked.pop():
                        yield token
                case "code_inline" if not linked and (page := self.subject_page(token.content)):
                    yield Token("link_open", "a", 1, attrs={"href": f"../{page}"})
                    yield token
                    yield Token("link_close", "a", -1)
                case "html_inline" if not ANCHOR.fullmatch(token.content):
                    yield token.copy(type="text")
                case _:
                    yield token

    def target(self, link: str) -> str:
        """Return the target of a document's link in the site; empty for a file that is not in the site."""
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return link
        path, _, anchor = link.partition("#")
        whole = posixpath.normpath(posixpath.join(HOME, path))
        name = posixpath.basename(whole).removesuffix(".md")
        if whole == f"{HOME}/{name}.md" and name in self.documents:
            return f"{name}.html" + (f"#{anchor}" if anchor else "")
        for pattern, place in ELSEWHERE:
            if match := pattern.fullmatch(whole):
                return f"../{match.expand(place)}"
        return ""

    def cite(self, text: str, root: str) -> Markup:
        """Return a citation with a link for each section and id that its document has.

        Args:
            text: such as `kafka.md §1.1, §1.5`.
            root: the path from the page to the top of the site.
        """
        done, found, document = 0, Markup(), None
        for match in CITED.finditer(text):
            found += text[done : match.start()]
            done = match.end()
            if match["name"] or match["other"]:
                document = self.documents.get(match["name"] or "")
            anchor = _anchor(match)
            if document is not None and (not anchor or anchor in document.anchors):
                href = f"{root}{document.page}" + (f"#{anchor}" if anchor else "")
                found += Markup('<a href="{}">{}</a>').format(href, match[0])
            else:
                found += match[0]
        return found + text[done:]


def _anchor(match: re.Match[str]) -> str:
    if match["section"]:
        return f"s{match['section'].replace('.', '-')}"
    return (match["id"] or "").lower()

"""Rules of formats, one normative sentence each, and the documents that they cite: `fixtures/sources.toml`.

A rule cites `kdoc:recordbatch` or `ksrc:DefaultRecordBatch#L569`: the key of a document, a name from its
table `parts`, and lines. Whoever doubts an expectation opens the link. The table of a document also has its
normative sentences in our own words, and the layouts that it prints.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, get_args

from attrs import Factory, frozen

from wireproof.files import read_limited_text
from wireproof.strict_parsing import MAX_TOML_SIZE, FieldError, parse_toml, structure

SOURCES_FILE: Final = "sources.toml"

DocumentKind = Literal["text", "standard", "code"]
"""A format document; a standard that it names; the source code of an implementation."""

BASES: Final = (*get_args(DocumentKind), "suite")
"""The basis of a rule: a kind of document, or the suite itself."""

_CITATION: Final = re.compile(r"([a-z][a-z0-9-]*)(?::([A-Za-z0-9_./-]+))?(#L[0-9]+(?:-L[0-9]+)?)?")
_SENTENCE_ID: Final = re.compile(r"[a-z][a-z0-9-]*")


@frozen
class Sentence:
    """A sentence that says what bytes mean, or what a program does with them.

    writing-a-case.md#a-sentence-of-a-format-document explains its fields.
    """

    id: str
    text: str
    cites: tuple[str, ...]
    cases: tuple[str, ...] = ()
    exclusion: str = ""
    open: str = ""
    one_kind: str = ""


@frozen
class SourceDocument:
    """A document that rules cite, in the version that was read; the addresses of its parts begin with `url`.

    The `reader` of code is the implementation: two readers do not share code. Its sentences are listed so
    that nothing in it is forgotten; the tests compare the layouts that it prints with those of the formats.
    """

    title: str
    kind: DocumentKind
    url: str
    parts: Mapping[str, str] = Factory(dict)
    reader: str = ""
    sentences: tuple[Sentence, ...] = ()
    layouts: tuple[Mapping[str, Any], ...] = ()


@frozen
class Citation:
    """A place in a document; `url` leads to it, and `reader` is the implementation, for code."""

    text: str
    title: str
    url: str
    kind: DocumentKind
    reader: str = ""


@frozen
class Basis:
    """What an expectation rests on: ids of rules, and the first place that they cite.

    The rules are `likely` if nobody wrote which rule a case tests: they were found by field and class.
    """

    rules: tuple[str, ...] = ()
    likely: bool = False
    place: Citation | None = None


Sources = Mapping[str, SourceDocument]
"""Documents by their keys."""


def read_sources(path: Path) -> dict[str, SourceDocument]:
    """Return the documents of a file, none if it is missing; raises ValueError with key and fault."""
    if not path.exists():
        return {}
    found = {}
    for key, table in parse_toml(read_limited_text(path, MAX_TOML_SIZE)).items():
        try:
            found[key] = structure(table, SourceDocument, "the document")
        except FieldError as error:
            raise ValueError(f"{key}: {error}") from None
        _check_document(key, found[key])
    return found


def _check_document(key: str, document: SourceDocument) -> None:
    if not document.url.startswith("https://"):
        raise ValueError(f"{key}: url must begin with https://")
    if (document.kind == "code") != bool(document.reader):
        raise ValueError(f"{key}: a document of kind code, and no other, has a `reader`")
    for sentence in document.sentences:
        if not _SENTENCE_ID.fullmatch(sentence.id):
            raise ValueError(f"{key}: {sentence.id}: the id of a sentence has a-z, 0-9 and '-'")


def resolve(text: str, sources: Sources) -> Citation:
    """Return the place that a citation names; raises ValueError if it names none."""
    found = _CITATION.fullmatch(text)
    if found is None:
        raise ValueError(f"{text} is not KEY, KEY:PART or KEY:PART#L12-L34")
    key, part, lines = found.groups()
    document = sources.get(key)
    if document is None:
        raise ValueError(f"{text}: {SOURCES_FILE} has no document {key}")
    if part is not None and part not in document.parts:
        raise ValueError(f"{text}: the document {key} has no part {part}")
    url = document.url + (document.parts[part] if part else "") + (lines or "")
    return Citation(text, document.title, url, document.kind, document.reader)


def cited(texts: Iterable[str], sources: Sources) -> list[Citation]:
    """Return the places that the citations of a rule name; lint reports those that name none."""
    return resolve_all(texts, sources)[0]


def resolve_all(texts: Iterable[str], sources: Sources) -> tuple[list[Citation], list[str]]:
    """Return the places that citations name, and what is wrong with the others."""
    found, faults = [], []
    for text in texts:
        try:
            found.append(resolve(text, sources))
        except ValueError as error:
            faults.append(str(error))
    return found, faults


def allows_must(basis: str, citations: Iterable[Citation]) -> bool:
    """Return whether a rule may decide cases of level `must`: architecture.md#verdicts.

    The text of the format or a standard decides; code does if two independent readers agree.
    """
    readers = {citation.reader for citation in citations if citation.kind == "code"}
    return basis in ("text", "standard") or (basis == "code" and len(readers) > 1)


# --- rules ---

ID_COMPONENT: Final = r"[a-z0-9][a-z0-9.+-]*"
"""One component of an id, which is also the name of a page or a file."""

RuleKind = Literal["refusing", "value", "resource", "encode"]
"""The effect of a rule: a rejection, a value, a limit of time or memory, an encoding."""


@frozen
class Rule:
    """A rule of a format: writing-a-case.md#a-rule explains its fields."""

    id: str
    kind: RuleKind
    text: str
    document: str
    section: str
    practice: str = ""
    exclusion: str = ""
    cites: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    basis: str = ""
    reason: str = ""
    level: Literal["", "must", "should"] = ""


def lacks_cases(kind: str, accepted: int, refused: int) -> bool:
    """Return whether a rule of a kind has too few cases; a refused case names its twin, which is accepted."""
    match kind:
        case "refusing":
            return not refused
        case "value":
            return accepted < 2
        case _:
            return not (refused or accepted)


def read_rules(path: Path) -> Iterator[Rule]:
    """Yield the rules of a file; raises ValueError with the rule and the fault."""
    page = parse_toml(read_limited_text(path, MAX_TOML_SIZE))
    if set(page) != {"rule"} or not isinstance(page["rule"], list):
        raise ValueError("holds [[rule]] tables and nothing else")
    for row in page["rule"]:
        name = row.get("id", "a rule") if isinstance(row, dict) else "a rule"
        try:
            rule = structure(row, Rule, "the rule")
        except FieldError as error:
            raise ValueError(f"{name}: {error}") from None
        if rule.basis and rule.basis not in BASES:
            raise ValueError(f"{name}: basis must be one of {', '.join(BASES)}")
        if not re.fullmatch(ID_COMPONENT, rule.id):
            raise ValueError(
                f"{rule.id}: an id has a-z, 0-9, '.', '+' and '-', and begins with none of these signs"
            )
        yield rule

"""The normative sentences of the format documents, in our own words: `sentences.toml` of the fixtures.

A sentence leads from a place in a document to rules, and through them to cases. `lint_sentences` checks that
each of them has a case that can fail, or the reason why it has none.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.cases.case_json import FixtureError
from wireproof.cases.fixtures import Suite
from wireproof.cases.rules import ID_COMPONENT
from wireproof.files import read_limited_text
from wireproof.strict_parsing import MAX_TOML_SIZE, FieldError, parse_toml, structure

SENTENCES_FILE: Final = "sentences.toml"


@frozen
class Sentence:
    """A sentence of a format document that says what bytes mean, or what a program does with them.

    Attributes:
        id: the key of the document and a number: `kdoc-12`.
        text: the sentence, in our own words.
        cites: its places, as `resolve` of `sources` reads them.
        rules: the rules that test it.
        cases: the cases that test it, if only some cases of its rules do.
        exclusion: why no case can test it.
        open: what is missing, for a sentence that a case could test, but none does yet.
        one_kind: why no case fails on a refusal, or none on a wrong answer.
    """

    id: str
    text: str
    cites: tuple[str, ...]
    rules: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    exclusion: str = ""
    open: str = ""
    one_kind: str = ""


def sentences_of(suite: Suite) -> tuple[Sentence, ...]:
    """Return the sentences in the folders of the fixtures, in their order; raise `FixtureError`."""
    sentences = tuple(sentence for root in suite.roots for sentence in _read(root / SENTENCES_FILE))
    for name, number in Counter(sentence.id for sentence in sentences).items():
        if number > 1:
            raise FixtureError(f"{SENTENCES_FILE}: {name} is there twice")
    return sentences


def _read(path: Path) -> list[Sentence]:
    try:
        return list(read_sentences(path))
    except (OSError, ValueError) as error:
        raise FixtureError(f"{path}: {error}") from None


def read_sentences(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a file, none if it is missing; raise ValueError with sentence and fault."""
    if not path.exists():
        return
    page = parse_toml(read_limited_text(path, MAX_TOML_SIZE))
    if set(page) != {"sentence"} or not isinstance(page["sentence"], list):
        raise ValueError("must have [[sentence]] tables and nothing else")
    for row in page["sentence"]:
        yield _sentence(row)


def _sentence(row: object) -> Sentence:
    name = row.get("id", "a sentence") if isinstance(row, dict) else "a sentence"
    try:
        sentence = structure(row, Sentence, "the sentence")
    except FieldError as error:
        raise ValueError(f"{name}: {error}") from None
    if not re.fullmatch(ID_COMPONENT, sentence.id):
        raise ValueError(f"{name}: an id has a-z, 0-9, '.', '+' and '-', and begins with a letter or a digit")
    return sentence

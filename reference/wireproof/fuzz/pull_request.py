"""The text of a pull request that adds a promoted case; its parts are those of the template in `.github`."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.made_case import input_bytes
from wireproof.cases.rules import Rule
from wireproof.cases.sources import cited
from wireproof.fuzz.promote import Promoted
from wireproof.runner.signature import Signature
from wireproof.runner.summaries import short_expect
from wireproof.wire.safe_text import escape_unsafe

MAX_HEX: Final = 512
"""Bytes that the text shows in hex."""

LICENCE: Final = "The bytes are mine to give, or their licence permits it, and I give them under Apache-2.0."


@frozen
class PromotedFinding:
    """The origin of a promoted case.

    Attributes:
        adapter: the codec that failed; empty if none is known.
        signature: how it failed; None if that is unknown.
        redacted: whether the payload was replaced by filler.
    """

    adapter: str = ""
    signature: Signature | None = None
    redacted: bool = False


def pull_request(promoted: Promoted, finding: PromotedFinding, suite: Suite, root: Path) -> str:
    """Return the text; `root` is the folder of fixtures, to which the files are relative."""
    case = promoted.case
    parts = {
        "What changes, and why": _what(promoted, finding),
        "The source of a new case": (*_sources(case, promoted.rules, suite), *_origin(case, finding)),
        "How it was checked": _checks(case, finding),
    }
    lines = [line for name, part in parts.items() for line in (f"## {name}", "", *part, "")]
    files = ", ".join(f"`{path.relative_to(root).as_posix()}`" for path in promoted.files)
    return escape_unsafe(
        "\n".join([f"# New case: {case.id}", "", *lines, f"Files below `fixtures`: {files}", ""])
    )


def _what(promoted: Promoted, finding: PromotedFinding) -> Iterator[str]:
    case = promoted.case
    yield f"{case.title}. {case.why}"
    yield ""
    yield f"- expected: {short_expect(case.expect)}, level `{case.level}`"
    if case.twin:
        yield f"- twin: `{case.twin}`{' (new)' if promoted.twin else ''}"
    if finding.adapter:
        yield f"- found with `{finding.adapter}`" + (f": {finding.signature}" if finding.signature else "")
    data = input_bytes(case)
    shown = data[:MAX_HEX].hex() + ("…" if len(data) > MAX_HEX else "")
    yield from ("", f"{len(data)} bytes:", "", "```", shown, "```")


def _sources(case: Case, new: Sequence[Rule], suite: Suite) -> Iterator[str]:
    names = {rule.id for rule in new}
    for name in case.rules:
        if name in names or name not in suite.rules:
            yield f"- `{name}` is new: word it, and cite the sentence or the code that decides it"
            continue
        rule = suite.rules[name]
        links = ", ".join(f"[{place.title}]({place.url})" for place in cited(rule.cites, suite.sources))
        yield f"- `{name}`: {rule.text} {rule.document} {rule.section}{f': {links}' if links else ''}"


def _origin(case: Case, finding: PromotedFinding) -> Iterator[str]:
    filler = "replaced by filler; the failure is the same" if finding.redacted else "as it was found"
    yield f"- origin of the bytes: {case.source.document}; their payload is {filler}"
    yield f"- [ ] {LICENCE}"
    if not finding.redacted:
        yield "- [ ] They contain nothing that must stay private (`promote --redact` replaces a payload)."


def _checks(case: Case, finding: PromotedFinding) -> Iterator[str]:
    yield "The reference gave the same answer in three fresh processes, and `lint` accepted the new fixtures."
    if finding.adapter:
        yield ""
        yield f"    wireproof check {shlex.quote(finding.adapter)} --run {case.id} --no-families"
    yield ""
    yield "- [ ] `lint --freeze` recorded the digest of the input, and `lint` reports no problem."

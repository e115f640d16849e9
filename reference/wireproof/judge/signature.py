"""Signatures: findings with equal signatures are grouped as one finding."""

import re
from typing import Final

from attrs import frozen

from wireproof.cases.case import Case
from wireproof.judge.verdicts import Verdict

BEFORE: Final = "before"
"""Begins the path of a verdict about the entries delivered before a rejection."""

_INDEX: Final = re.compile(r"\[\d+\]")


@frozen(order=True)
class Signature:
    """Findings with equal signatures count as one finding."""

    implementation: str
    format: str
    op: str
    kind: str
    cls: str
    path: str

    def __str__(self) -> str:
        """Return one line without the empty parts."""
        parts = (self.implementation, self.format, self.op, self.kind, self.cls, self.path)
        return " · ".join(part for part in parts if part)


def without_indices(path: str) -> str:
    """Return `records[3].headers[0].key` as `records[].headers[].key`."""
    return _INDEX.sub("[]", path)


def signature(implementation: str, case: Case, verdict: Verdict) -> Signature:
    """Return the signature of a verdict on an implementation, named without its transport or arguments."""
    rest = signature_parts(verdict.label, verdict.cls, verdict.path, verdict.broken)
    return Signature(implementation, case.format_id, case.op, *rest)


def signature_parts(kind: str, cls: str, path: str, broken: str) -> tuple[str, str, str]:
    """Return the kind, class and path of a signature.

    A wrong value before the fault is the same finding for any fault at any place. The kind of `blocked` is
    the id of the twin, which would make each of them a separate finding.
    """
    path = broken or without_indices(path)
    name, _, of_kind = kind.partition(":")
    early = path.partition(".")[0] == BEFORE
    if early and of_kind == "wrong-value":
        path = path.removeprefix(BEFORE).removeprefix(".")
    return name if name == "blocked" else kind, "" if early else cls, path


_ENDED: Final = re.compile(r"died (?:with|by) ([A-Za-z0-9 ]+)")
_FRAMES: Final = (
    re.compile(r"panicked at (?:[^ ]*/)?([^ /:]+\.rs:\d+)"),  # Rust
    re.compile(r"#\d+ 0x[0-9a-f]+ in ([^ ]+)"),  # the sanitizers of Clang
    re.compile(r"File \"(?:[^\"]*/)?([^\"/]+)\", line \d+,? in (\w+)"),  # Python
    re.compile(r"\bat ([\w$.]+)\([\w]+\.java:\d+\)"),  # Java
    re.compile(r"\b([\w./*()]+)\(\{?0x[0-9a-f, x.{}]*\)"),  # Go
)


def shape_of_finding(verdict: Verdict) -> str:
    """Return what findings of one signature may differ in: the difference, or the top frames of a crash."""
    if verdict.name != "crash":
        return verdict.shape
    ended = _ENDED.search(verdict.text)
    found = next((frames for one in _FRAMES if (frames := one.findall(verdict.text))), [])
    # What lies below three frames depends on the input.
    names = (" ".join(frame) if isinstance(frame, tuple) else frame for frame in found[:3])
    return " < ".join((ended.group(1).strip() if ended else "", *names)).strip(" <")

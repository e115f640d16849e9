"""What a document in Markdown has its reader type and save, and what it shows as printed.

In what is shown a line of `…` alone stands for any lines, `…` within a line for any text of that line. In
what is typed a word with `…` stands for the last word printed before that it fits.
"""

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from attrs import evolve, frozen

GAP: Final = "…"

PARTS: Final = re.compile(
    r"^## (?P<section>.+?)$|^```(?P<language>\w+)\n(?P<block>.*?)^```$"
    r"|[Ss]aved as `(?P<name>[^`\n]+)`|`(?P<inline>wireproof [^`\n]+)`",
    re.MULTILINE | re.DOTALL,
)
"""The parts of a document that matter, in order; the rest is prose."""

WRITTEN: Final = re.compile(r"(?:--out|--seeds|-o|--html|--junit|--to|>) ([\w./-]+)")
"""The files and folders that a command says it will write."""


@frozen
class Command:
    """A typed command, and the output that the document shows; None if it shows none."""

    section: str
    line: int
    typed: str
    shown: str | None = None


@frozen
class Source:
    """A block of code, and the file that the reader saves it as, if the document names one."""

    section: str
    line: int
    language: str
    text: str
    name: str = ""


class DocumentError(ValueError):
    """A document that nobody can follow."""


# --- the steps of a document ---


def steps(text: str) -> list[Command | Source]:
    """Commands and sources from top to bottom.

    Raises:
        DocumentError: output is shown, or a file named, and above it stands nothing that it is of.
    """
    found: list[Command | Source] = []
    section = ""
    for part in PARTS.finditer(text):
        line = text.count("\n", 0, part.start()) + 1
        match part.lastgroup, part["language"]:
            case "section", _:
                section = part["section"]
            case "inline", _:
                found.append(Command(section, line, part["inline"]))
            case "name", _:
                found.append(_named(found, part["name"], line))
            case _, "sh" | "bash":
                found += [Command(section, line, typed) for typed in _lines(part["block"])]
            case _, "console":
                found += [Command(section, line, *one) for one in _prompts(part["block"])]
            case _, "text":
                found.append(_shows(found, part["block"], line))
            case _, language:
                found.append(Source(section, line, language, part["block"]))
    return [step for one in found for step in (one, *_replays(one))]


def _named(found: list[Command | Source], name: str, line: int) -> Source:
    match found:
        case [*_, Source(name="")]:
            return evolve(found.pop(), name=name)
    raise DocumentError(f"line {line}: {name} is to be saved, and no block of code stands above it")


def _shows(found: list[Command | Source], shown: str, line: int) -> Command:
    match found:
        case [*_, Command(shown=None)]:
            return evolve(found.pop(), shown=shown)
    raise DocumentError(f"line {line}: something is shown, and no command that prints it stands above it")


def _lines(block: str) -> Iterator[str]:
    """The commands of a script: one a line, longer ones with `\\` at the end of a line."""
    for line in re.sub(r"\s*\\\n\s*", " ", block).splitlines():
        if line and not line.startswith("#"):
            yield line


def _prompts(block: str) -> Iterator[tuple[str, str]]:
    """Yield each command at a prompt, and the lines below it."""
    starts = [part.start() for part in re.finditer(r"^\$ ", block, re.MULTILINE)]
    for start, end in pairwise([*starts, len(block)]):
        lines = block[start + 2 : end].splitlines(keepends=True)
        count = next(n for n in range(1, len(lines) + 1) if n == len(lines) or _closed("".join(lines[:n])))
        yield "".join(lines[:count]).rstrip("\n"), "".join(lines[count:])


def _closed(typed: str) -> bool:
    try:
        shlex.split(typed)
    except ValueError:
        return False
    return True


def _replays(step: Command | Source) -> Iterator[Command]:
    """A failure that is shown ends with the command that shows it again, but not how many are like it."""
    if isinstance(step, Command) and step.shown:
        for part in re.finditer(
            r"^(?:FAIL|TIMEOUT) .*?^  replay  (.*?)$\n?", step.shown, re.MULTILINE | re.DOTALL
        ):
            failure = re.sub(r"^  like .*\n", "", part[0].rstrip(), flags=re.MULTILINE)
            yield Command(step.section, step.line, part[1], f"{GAP}\n{failure}\n{GAP}\n")


# --- what is held to it ---


def departs(shown: str, printed: str) -> str:
    """Return the shown lines that were not printed where they should be."""
    runs = list(_runs(_stripped(shown)))
    lines = _stripped(printed)
    at = 0
    for number, run in enumerate(runs):
        last = len(lines) - len(run)
        low = last if number == len(runs) - 1 else at
        high = min(last, 0) if number == 0 else last
        starts = range(max(low, at), high + 1)
        found = next((n for n in starts if all(map(_like, run, lines[n:]))), None)
        if found is None:
            return f"not printed, from line {at + 1} on:\n" + "\n".join(run or lines[at : at + 1])
        at = found + len(run)
    return ""


def _stripped(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _runs(shown: list[str]) -> Iterator[list[str]]:
    """The lines between the gaps; before the first and behind the last there may be none."""
    gaps = [number for number, line in enumerate(shown) if line.strip() == GAP]
    for before, behind in pairwise([-1, *gaps, len(shown)]):
        yield shown[before + 1 : behind]


def _like(shown: str, printed: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, shown.split(GAP))), printed) is not None


def filled(typed: str, printed: str) -> str:
    """The command with its shortened words made whole by what was printed before.

    Raises:
        DocumentError: nothing was printed that a shortened word fits.
    """

    def whole(part: re.Match[str]) -> str:
        word = r"[^\s']*".join(map(re.escape, part[0].split(GAP)))
        if not (fits := re.findall(rf"(?<![^\s']){word}(?![^\s'])", printed)):
            raise DocumentError(f"nothing that was printed fits {part[0]}")
        return str(fits[-1])

    return re.sub(rf"[^\s']*{GAP}[^\s']*", whole, typed)


def written(typed: str) -> list[str]:
    """The files and folders that must be there when the command has ended."""
    return WRITTEN.findall(typed)

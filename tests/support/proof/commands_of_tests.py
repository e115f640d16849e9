"""A plugin of pytest that writes the exit code and the first line on stderr of each command of a test.

It imports nothing of the project but the class in which a test gets the end of a command, and the reader of
documents, so that it also records commits that do not have it.
"""

import os
import re
import sys
from pathlib import Path
from typing import Any, Final

SUPPORT: Final = Path.cwd() / "tests" / "support"
OUT: Final = Path(os.environ["WIREPROOF_COMMANDS"])

MASKS: Final = (
    (re.compile(re.escape(sys.prefix)), "ENVIRONMENT"),
    (re.compile(re.escape(str(Path.cwd()))), "CHECKOUT"),
    (re.compile(r"(/\S*)?/(pytest-of-\w+|tmp|cache)/\S*?(?=[/\s:'\"]|$)"), "TMP"),
    (re.compile(r"/popen-gw\d+"), ""),
    (re.compile(r"(?<=/)(test_\w+?)\d+(?=[/\s:'\"]|$)"), r"\1"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"\b\d+(\.\d+)? (ms|s|MiB)\b"), "N"),
    (re.compile(r"pid \d+"), "pid N"),
)


def write(words: str, code: int, err: str) -> None:
    """Write a line: the words, the code, and what a command that refused said first."""
    first = next(iter(err.splitlines()), "") if code >= 2 else ""
    for mask, name in MASKS:
        words, first = mask.sub(name, words), mask.sub(name, first)
    line = f"{' '.join(words.split())}\t{code} {' '.join(first.split())}\n"
    with OUT.open("a", encoding="utf-8", errors="replace") as out:
        out.write(line)


sys.path.insert(0, str(SUPPORT))
import command_line  # noqa: E402 - it is found by the line above
import document_runner  # noqa: E402

_Done = command_line.Done
_runs = document_runner.Follower.runs


def _done(code: int, out: str, err: str) -> Any:
    write(" ".join(sys.argv), code, err)
    return _Done(code, out, err)


def _run_of_document(self: Any, typed: str) -> Any:
    done = _runs(self, typed)
    write(f"document: {typed}", done.returncode, done.stderr)
    return done


command_line.Done = _done
document_runner.Follower.runs = _run_of_document

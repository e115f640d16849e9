"""The case that a user names: by an id, a token, or a finding of a fuzzer, a run, a scan or a campaign.

kafka.batch/v2/crc/flipped-bit      a fixture, or a derived case
wp1:…, @FILE                        a token
wireproof-fuzz#1f2e3d               a finding of `fuzz`: its directory, and its name or a part of its line
#3                                  the third finding of the last `check` of this project
run.jsonl#3                         the third finding of `report run.jsonl`
verdicts#wrong-reject               a sample of `scan` or `fuzz --spark`
"""

from collections.abc import Sequence
from pathlib import Path

import click
from attrs import frozen

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.id_patterns import PatternError
from wireproof.cases.token import from_token
from wireproof.cli.common.last_run import last_run
from wireproof.cli.show import case_named
from wireproof.fuzz import findings
from wireproof.install_hint import install_command
from wireproof.judge.signature import Signature
from wireproof.report.failure_groups import failure_groups_of
from wireproof.run.events import read_events


@frozen
class NamedCase:
    """A case; for a finding also its adapter and signature, want and got, and the way to fail."""

    case: Case
    adapter: str = ""
    signature: Signature | None = None
    want: str = ""
    got: str = ""
    way: findings.WayToFail | None = None


def find_named(suite: Suite, text: str) -> NamedCase:
    """Return the case that `text` names; raises `PatternError`, or the error of the file that it names."""
    place, sign, word = text.rpartition("#")
    if not sign or text.startswith(("wp1:", "@")):
        return NamedCase(case_named(suite, text))
    path = Path(place)
    if not place:
        return _counted(suite, [(one.spec, one.name) for one in last_run().findings], word, "#")
    if path.is_file():
        found = [(one.run.spec, group.first) for one in read_events(path) for group in failure_groups_of(one)]
        return _counted(suite, [(spec, event.token or event.id) for spec, event in found], word, f"{path}#")
    if any(_folders(path)):
        return _of_fuzzing(path, word)
    # A sample of a table; a sample of the reference has neither adapter nor signature.
    try:
        from wireproof.spark.sample_case import load_sample  # noqa: PLC0415 - an extra
    except ImportError as error:
        text = f"a sample of a table needs further packages: {install_command('spark')} ({error})"
        raise click.ClickException(text) from None
    sample = load_sample(text)
    return NamedCase(sample.case, sample.adapter, sample.signature if sample.adapter else None)


def _counted(suite: Suite, found: Sequence[tuple[str, str]], word: str, place: str) -> NamedCase:
    """Return a finding by its number; each has the adapter as the user wrote it, and the id or token."""
    if not word.isdecimal() or not 1 <= int(word[:9]) <= len(found):
        known = f"there are {place}1 to {place}{len(found)}" if found else "there is no finding"
        raise PatternError(f"{place}{word[:40]}: {known}")
    spec, name = found[int(word) - 1]
    return NamedCase(case_named(suite, name), spec)


def _folders(path: Path) -> list[Path]:
    """Return the folders of findings in a directory of `fuzz`, one for each adapter; or `path` itself."""
    return sorted(one for one in (path / "findings").glob("*") if one.is_dir()) or (
        [path] if path.parent.name == "findings" and path.is_dir() else []
    )


def _of_fuzzing(path: Path, word: str) -> NamedCase:
    rows = [(one, folder) for folder in _folders(path) for one in findings.read_findings(folder)]
    fitting = [row for row in rows if row[0].name.startswith(word) or word in str(row[0])]
    if not word or len(fitting) != 1:
        many = f"{len(fitting)} findings" if word and fitting else "no finding"
        shown = "; ".join(f"{one.name} ({one})" for one, _ in (fitting or rows)[:4])
        raise PatternError(f"{path}: {word or 'nothing'} names {many}: {shown or 'there is none'}")
    (finding, folder) = fitting[0]
    token = f"@{folder / finding.token[1:]}" if finding.token.startswith("@") else finding.token
    sign = finding.signature
    return NamedCase(from_token(token), sign.implementation, sign, finding.want, finding.got, finding.way)

"""The results of a run as a table, a line a module, with every survivor that no row of the list explains."""

from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import click
from attrs import define
from mutation_listed import Listed, listed, read
from mutation_sites import path_of


@define
class Row:
    """The counts of a module."""

    tried: int = 0
    equivalent: int = 0
    killed: int = 0
    unseen: int = 0
    hole: int = 0
    unlisted: int = 0
    slowest: float = 0.0

    @property
    def counted(self) -> int:
        """Return the changes that a case could notice."""
        return self.tried - self.equivalent

    @property
    def score(self) -> float:
        """Return the percentage of them that a case notices."""
        return 100 * self.killed / self.counted if self.counted else 100.0


def printed(results: Sequence[Any]) -> float:
    """Print the table and what it leaves open; the score over all, in percent."""
    rows, known = {}, read()
    total, causes = Row(), Counter[str]()
    valid = [result for result in results if result.found.why != "raised SyntaxError"]
    for result in valid:
        row = rows.setdefault(result.site.module, Row())
        kind = _kind(result, known)
        for each in (row, total):
            each.tried += 1
            each.slowest = max(each.slowest, result.found.seconds)
            setattr(each, kind, getattr(each, kind) + 1)
        if result.found.killed:
            causes[_cause(result)] += 1
        elif kind == "unlisted":
            click.echo(
                f"lives: {result.site.name} [{result.cases} cases] col {_column(result)}: {result.site.text}"
            )
    click.echo(f"{len(results) - len(valid)} changes left out: no Python (a star of a call or a pattern)")
    _lines({**rows, "all": total})
    click.echo("killed by: " + ", ".join(f"{name} {count}" for name, count in causes.most_common()))
    low, high = _interval(total.killed, total.counted)
    click.echo(
        f"score {total.score:.1f} % of {total.counted}, 95 % interval {low:.1f} to {high:.1f} if sampled"
    )
    return total.score


def _kind(result: Any, known: list[Listed]) -> str:
    if result.found.killed:
        return "killed"
    row = listed(result.site, _indent(result), known)
    return row.kind if row else "unlisted"


def _indent(result: Any) -> int:
    line = path_of(result.site.module).read_text(encoding="utf-8").splitlines()[result.site.line - 1]
    return len(line) - len(line.lstrip())


def _column(result: Any) -> int:
    return result.site.column - _indent(result)


def _cause(result: Any) -> str:
    """Return the kind of case or event that killed it."""
    by = result.found.by
    if result.found.why in ("timeout", "memory") or by in ("import", "process"):
        return result.found.why if by not in ("import", "process") else by
    if result.found.why == "relation" or by.endswith("~"):
        return "families made anew"
    return f"derived {by.partition('~')[2].partition(':')[0]}" if "~" in by else "golden"


def _lines(rows: dict[str, Row]) -> None:
    heads = ("tried", "equivalent", "killed", "unseen", "hole", "unlisted", "score", "slowest")
    click.echo(f"{'module':<18}" + "".join(f"{head:>11}" for head in heads))
    for name, row in rows.items():
        counts = "".join(f"{getattr(row, head):>11}" for head in heads[:6])
        click.echo(f"{name:<18}{counts}{row.score:>10.1f}%{row.slowest:>10.2f}s")


def _interval(killed: int, counted: int) -> tuple[float, float]:
    """Wilson's interval of a share, in percent."""
    if not counted:
        return 0.0, 100.0
    z, p = NormalDist().inv_cdf(0.975), killed / counted
    middle = (p + z * z / (2 * counted)) / (1 + z * z / counted)
    half = z * (p * (1 - p) / counted + z * z / (4 * counted**2)) ** 0.5 / (1 + z * z / counted)
    return 100 * (middle - half), 100 * (middle + half)

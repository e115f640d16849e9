"""The mutation score of the reference codec: which share of small changes do its cases notice?

    PYTHONPATH=reference:tests/support python tests/mutation/mutation_score.py --work .mutation

Every operator of cosmic-ray (`pip install 'wireproof[mutation]'`) is applied to every line of the modules
under `wire/`, `kafka/`, `iggy/` and `heka/`, one change at a time. A change is held to the golden and
derived cases that execute the changed statement, golden ones first, judged against their frozen
expectations as the adapter `reference` is; then to the relations of the families of some golden cases,
made anew. The first failure kills it. So do an exception other than `Rejected`, 2 CPU seconds in one
case, 1 GiB of memory, and a package that cannot be imported.

Results are appended to `results.jsonl` under `--work`: a second run goes on where the first one ended,
and tries again what stands in a module that has changed since, and what lived under other cases.
Survivors are listed in `survivors.toml` with the reason of each. The exit code is 1 below `--least`.
"""

import mutation_import  # noqa: I001 - it watches the package being imported, so it comes first
import fnmatch
import hashlib
import json
import os
import pickle
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import click
import layout_check
import mutation_judge
from attrs import asdict, evolve, frozen
from mutation_outside import outside
from mutation_reach import Reach, measured
from mutation_sites import PACKAGE, Site, changed, modules, path_of, sites, statement
from mutation_table import printed
from mutation_trial import Found, Ground
from wireproof.cases.case import Case, Generated
from wireproof.cases.derived import derived_cases
from wireproof.cases.fixtures import load

SHARE = 3
"""Of the derived cases, one in so many takes part, by its id."""

BUDGET = 0.8
"""Seconds of selected cases a change, by what they took when they were measured."""

PARENTS = 12
"""Golden cases whose families are made anew, at most."""

REMADE = 0.5
"""CPU seconds for that."""


@frozen
class Result:
    """A site, what came of it, and the state of the code that this holds for.

    Attributes:
        cases: how many were selected.
        asked: the state of the cases and of the judge; whoever lived is asked again once it changes.
    """

    site: Site
    found: Found
    cases: int
    state: str
    asked: str = ""


@frozen
class Field:
    """All that is measured before the first change.

    Attributes:
        cases: golden ones first, each in the order of the suite.
        golden: how many of them are golden.
    """

    cases: list[Case]
    golden: int
    reach: Reach

    def selected(self, site: Site, seed: int) -> tuple[list[Case], list[Case]]:
        """The cases for a change, and the golden cases whose families are to be made anew."""
        lines, near = statement(site.module, site.line), set[int]()
        found, laid = self.reach.of(site.module, lines), self.reach.of(site.module, lines, layouts=True)
        if not found:  # it ran while the package was imported: a table, a class, what makes a reader
            near = set(self.reach.anywhere(site.module))
            found = sorted({*range(self.golden), *near})
        laid = laid or self.reach.of_layouts(site.module) or list(range(self.golden))
        draw = Random(f"{seed} {site.name}")
        order = sorted(found, key=lambda index: (index >= self.golden, index not in near, draw.random()))
        return self._within(order), [self.cases[index] for index in _some(laid, PARENTS, draw)]

    def _within(self, order: list[int]) -> list[Case]:
        left, kept = int(BUDGET * 1e9), []
        for index in order:
            left -= self.reach.ns[index]
            if left < 0:
                break
            kept.append(self.cases[index])
        return kept


def _some(indices: list[int], most: int, draw: Random) -> list[int]:
    return draw.sample(indices, most) if len(indices) > most else indices


def surveyed(work: Path) -> Field:
    """The field; what is known in `work` of unchanged cases under unchanged code is not measured again."""
    suite = load()
    key = hashlib.blake2b(digest_size=8)
    for module in modules():
        key.update(path_of(module).read_bytes())
    kept = work / f"field-{key.hexdigest()}.pickle"
    old: Field | None = pickle.loads(kept.read_bytes()) if kept.exists() else None
    golden = [
        case for case in suite.cases if not isinstance(case.input, Generated)
    ]  # those take seconds each
    cases = [*golden, *(each for case in suite.cases for each in derived_cases(case) if _taken(each.id))]
    if old is not None and old.cases == cases:
        return old
    cases = [case for case in cases if not mutation_judge.verdict_on(case)]
    known = old.reach.by_case(old.cases) if old is not None else {}
    click.echo(f"measuring what {len(cases)} cases reach, {len(known)} known", err=True)
    reach = measured(cases, mutation_judge.verdict_on, known)
    field = Field(cases, sum(case.family is None for case in cases), reach)
    kept.write_bytes(pickle.dumps(field))
    return field


@cache
def instrument() -> str:
    """The state of the cases and of all that judges by them."""
    key = hashlib.blake2b(f"{load().hash} {SHARE} {BUDGET} {PARENTS} {REMADE}".encode(), digest_size=8)
    judges = (PACKAGE / "cases/derived.py", Path(layout_check.__file__), Path(mutation_judge.__file__))
    for path in judges:
        key.update(path.read_bytes())
    return key.hexdigest()


def _taken(name: str) -> bool:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest()) % SHARE == 0


@cache
def state(module: str) -> str:
    """The state of a module's code."""
    return hashlib.blake2b(path_of(module).read_bytes(), digest_size=8).hexdigest()


def chosen(patterns: tuple[str, ...], sample: int, seed: int, work: Path) -> list[Site]:
    """The sites of the modules that match, at most `sample` of each, in the order of the code."""
    found: list[Site] = []
    for module in modules():
        if any(fnmatch.fnmatch(module, pattern) for pattern in patterns or ("*",)):
            every = [site for site in sites(module, work) if not outside(site)]
            draw = Random(f"{seed} {module}")
            picked = draw.sample(every, sample) if 0 < sample < len(every) else every
            found += sorted(picked, key=lambda site: (site.line, site.column, site.operator))
    return found


def known(path: Path, *, asked: str) -> dict[str, Result]:
    """The results that still hold, by the names of their sites."""
    kept: dict[str, Result] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        row = json.loads(line)
        site, found = Site(**row.pop("site")), Found(**row.pop("found"))
        result = Result(site, found, **row)
        kept[result.site.name] = result
    return {
        name: result
        for name, result in kept.items()
        if result.state == state(result.site.module) and (result.found.killed or asked in ("", result.asked))
    }


def trials(todo: list[Site], field: Field, seed: int) -> Iterator[Result]:
    """Try one site after the other."""
    ground = Ground(mutation_import.SEEN)
    for site in todo:
        cases, parents = field.selected(site, seed)
        found = ground.tried(site.module, changed(site), cases, parents, REMADE)
        yield Result(site, found, len(cases), state(site.module), instrument())


def worked(todo: list[Site], field: Field, seed: int, jobs: int, out: Path) -> None:
    """Try `todo` in `jobs` processes; each appends whole lines to `out`."""
    shares = [todo[number::jobs] for number in range(jobs)]
    children = [child for share in shares[1:] if (child := _forked(share, field, seed, out))]
    _share(shares[0], field, seed, out, shown=True)
    for child in children:
        os.waitpid(child, 0)


def _forked(share: list[Site], field: Field, seed: int, out: Path) -> int:
    child = os.fork()
    if not child:
        _share(share, field, seed, out, shown=False)
        os._exit(0)
    return child


def _share(share: list[Site], field: Field, seed: int, out: Path, *, shown: bool) -> None:
    began, lived = time.monotonic(), 0
    with out.open("a", encoding="utf-8", buffering=1) as file:
        for number, result in enumerate(trials(share, field, seed), 1):
            lived += not result.found.killed
            file.write(json.dumps(asdict(result)) + "\n")
            if shown and number % 50 == 0:
                took = time.monotonic() - began
                click.echo(
                    f"{number} of {len(share)}, {lived} live, {took:.0f} s: {result.site.name}", err=True
                )


@click.command(help=__doc__)
@click.option(
    "--module", "patterns", multiple=True, help="A module such as wire.gzip or kafka.*; repeatable."
)
@click.option("--sample", default=0, help="Sites of each module, drawn with the seed; 0 takes all.")
@click.option("--seed", default=1, help="For the sample and for the order of the cases.")
@click.option("--jobs", default=1, help="Processes at a time.")
@click.option("--show", is_flag=True, help="Try nothing: print the table of the results that there are.")
@click.option("--least", default=0.0, help="Percent of the changes that must be noticed.")
@click.option("--work", type=click.Path(path_type=Path), required=True, help="A folder for what is kept.")
def main(
    *,
    patterns: tuple[str, ...],
    sample: int,
    seed: int,
    jobs: int,
    show: bool,
    least: float,
    work: Path,
) -> None:
    """See the module."""
    work.mkdir(parents=True, exist_ok=True)
    out = work / "results.jsonl"
    picked = chosen(patterns, sample, seed, work)
    done = known(out, asked=instrument())
    todo = [] if show else [site for site in picked if site.name not in done]
    Random(seed).shuffle(todo)  # what is done when a run is cut short is a sample of all modules
    if todo:
        worked(todo, surveyed(work), seed, jobs, out)
    done = known(out, asked="")
    results = [evolve(done[site.name], site=site) for site in picked if site.name in done]
    sys.exit(0 if printed(results) >= least else 1)


if __name__ == "__main__":
    main()

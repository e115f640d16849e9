"""`wireproof lint`: check the fixtures and rules, and freeze the bytes of new ones."""

from collections.abc import Iterator
from pathlib import Path

import click
from attrs import evolve

from wireproof import __version__
from wireproof.cases.case import Accept, Steps
from wireproof.cases.case_json import FixtureError
from wireproof.cases.fixture_writer import freeze, sort_files, unfrozen_cases
from wireproof.cases.fixtures import Suite, load
from wireproof.cases.rules import SourceDocument
from wireproof.cli.common.general_options import with_fixtures
from wireproof.judge.judge import refusal_verdict
from wireproof.lint import states
from wireproof.lint.cases import changed_cases, lint
from wireproof.lint.sources import Problem, basis_lines, count_line, level_line, source_line
from wireproof.run.exit_codes import Exit
from wireproof.wire.text import counted


@click.command("lint")
@click.argument(
    "further", nargs=-1, metavar="[DIR…]", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option(
    "--freeze", "freezing", is_flag=True, help="record digests of new cases; their bytes can no longer change"
)
@click.option(
    "--fix",
    "sorting",
    is_flag=True,
    help="sort cases and keys, and write JSON in its layout; changes no case",
)
@with_fixtures
def command(further: tuple[Path, ...], folders: tuple[Path, ...], freezing: bool, sorting: bool) -> int:
    """Check every fixture against the schema, the rules and the reference; print one line for each problem.

    With DIR or --fixtures, the fixtures of these folders alone are reported. Nothing is frozen if there is a
    problem. Exit code 5 if there is one: it is a fault of the fixtures.
    """
    folders = (*folders, *further)
    suite = _checked(folders)
    for path in sort_files(suite) if sorting else ():
        click.echo(f"{path}: sorted")
    suite = _checked(folders) if sorting else suite
    own = load(without=folders) if folders else None
    alone = suite
    if own is not None:  # the twins that the package has are left out
        cases = tuple(case for case in suite.cases if case.id not in own.by_id)
        files = {case.id: suite.files[case.id] for case in cases}
        alone = Suite(cases, suite.rules, files, suite.hash, sources=suite.sources)
    table = states.state_table(alone) if states.note_files(alone) else None
    if own is not None:
        suite = _of_folders(suite, own)
    problems = [*lint(suite), *refusable(suite)]
    problems += states.state_problems(table, alone) if table else ()
    problems += () if freezing else changed_cases(suite)
    if own is not None:
        problems = [one for one in problems if one.where not in (*own.by_id, *own.rules)]
    if freezing and not problems:
        for path, number in freeze(suite, __version__).items():
            click.echo(f"{path}: {number} more ids are frozen, or changed")
        suite = _checked(folders)
    for line in _figures(suite, own, table) if own is not None or not problems else ():
        click.echo(line)
    for problem in problems:
        click.echo(str(problem))
    click.echo(counted(len(problems), "problem"))
    return Exit.SUITE if problems else Exit.CONFORMS


def _checked(folders: tuple[Path, ...]) -> Suite:
    """Return the whole suite; raise `FixtureError` with what to do about a file that cannot be read."""
    try:
        return load(folders, checked=True)
    except FixtureError as error:
        text = "correct or restore it; nothing behind it is checked: 1 problem"
        raise FixtureError(f"{error}: {text}") from None


def _of_folders(suite: Suite, own: Suite) -> Suite:
    """Return what further folders have beside `own`: their cases, with the twins of these, and all rules."""
    cases = [case for case in suite.cases if case.id not in own.by_id]
    twins = {case.twin for case in cases if case.twin} & own.by_id.keys()
    kept = tuple(case for case in suite.cases if case.id not in own.by_id or case.id in twins)
    return Suite(
        cases=kept,
        rules=suite.rules,
        files={case.id: suite.files[case.id] for case in kept},
        hash=suite.hash,
        frozen={
            name: digest for name, digest in suite.frozen.items() if name in twins or name not in own.by_id
        },
        sources={
            key: _with_open_sentences(document) if document == own.sources.get(key) else document
            for key, document in suite.sources.items()
        },
    )


def _with_open_sentences(document: SourceDocument) -> SourceDocument:
    """Return a document of the package, whose sentences are tested by cases that are left out."""
    left_out = "its cases are those of the package"
    sentences = tuple(evolve(one, open=left_out, cases=()) for one in document.sentences if not one.exclusion)
    return evolve(document, sentences=sentences)


def _figures(suite: Suite, own: Suite | None, table: states.StateTable | None) -> Iterator[str]:
    """Yield the figures; the whole suite may have none if it has a problem, such as an unknown rule."""
    if own is None:
        excluded = sum(1 for rule in suite.rules.values() if rule.exclusion)
        yield f"{len(suite.cases)} cases, {len(unfrozen_cases(suite))} of them not frozen"
        yield f"{source_line(suite)}; {excluded} rules with an exclusion"
        yield from basis_lines(suite)
        yield f"{len(list(refusable(suite)))} must cases of accepted input that a refusal passes"
        yield level_line(suite)
        yield count_line(suite)
    else:
        cases = suite.by_id.keys() - own.by_id.keys()
        fresh = sum(one.id in cases for one in unfrozen_cases(suite))
        rules = len(suite.rules.keys() - own.rules.keys())
        yield f"{counted(len(cases), 'case')}, {fresh} of them not frozen; {counted(rules, 'rule')}"
    yield from states.count_lines(table) if table else ()


def refusable(suite: Suite) -> Iterator[Problem]:
    """Check that every `must` case whose input is to be accepted fails where it is refused."""
    for case in suite.cases:
        if case.level == "must" and isinstance(case.expect, Accept) and not isinstance(case.input, Steps):
            verdict = refusal_verdict(case)
            if verdict.passing:
                yield Problem(case.id, f"its level is must, and a refusal passes as {verdict.label}")

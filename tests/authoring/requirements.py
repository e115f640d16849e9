"""List the cases of each requirement set that is not released, after its definition.

`python -m tests.authoring.requirements` rewrites the tables `cases` of the editions in `fixtures/sets.toml` and
prints the size of each set. The definitions above the tables are written by hand and stay as they are.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from attrs import frozen

from wireproof.cases.case import Case
from wireproof.cases.fixture_writer import expectation_digest
from wireproof.cases.fixtures import Suite, fixtures_folder, load
from wireproof.cases.requirements import SETS_FILE, Edition, RequirementSet, read_sets
from wireproof.strict_parsing import structure


@frozen
class Definition:
    """The rules by which a case belongs to a set.

    Attributes:
        formats: formats with their revisions, such as `kafka.batch/v2`.
        ops: operations of the case.
        profiles: `reader`, `produce`.
        needs: the capabilities that a case may need; a case that needs another one does not belong.
        rules: patterns of rule ids; a case needs one rule that matches.
        without: patterns of rule ids; a case with one that matches does not belong.
    """

    formats: tuple[str, ...]
    ops: tuple[str, ...] = ("decode",)
    profiles: tuple[str, ...] = ("reader",)
    needs: tuple[str, ...] = ()
    rules: tuple[str, ...] = ("*",)
    without: tuple[str, ...] = ()


def definitions(one: RequirementSet) -> list[Definition]:
    """Return the rules of a set; raise `FieldError`."""
    return [structure(dict(row), Definition, "the definition") for row in one.define]


def members(suite: Suite, page: Edition, one: RequirementSet) -> dict[str, str]:
    """Return the list that the definition of a set gives on a suite, without that of the sets it includes."""
    included = {name for other in one.includes for name in _all_members(suite, page, page.named(other))}
    return {
        case.id: f"{case.level} {expectation_digest(case)}"
        for case in suite.cases
        if case.id not in included and any(takes(rule, case) for rule in definitions(one))
    }


def _all_members(suite: Suite, page: Edition, one: RequirementSet) -> dict[str, str]:
    found = members(suite, page, one)
    for other in one.includes:
        found |= _all_members(suite, page, page.named(other))
    return found


def takes(definition: Definition, case: Case) -> bool:
    return (
        case.format_id in definition.formats
        and case.op in definition.ops
        and case.profile in definition.profiles
        and case.level != "info"
        and set(case.needs) <= set(definition.needs)
        and _any_matches(case.rules, definition.rules)
        and not _any_matches(case.rules, definition.without)
    )


def _any_matches(names: Sequence[str], patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def with_lists(text: str, editions: Sequence[Edition], suite: Suite) -> str:
    """Return the text of a file with the lists that the definitions give on a suite; released ones stay."""
    head, *tables = text.split("[[edition]]\n")
    parts = [head]
    for table, page in zip(tables, editions, strict=True):
        parts.append("[[edition]]\n" + (table if page.released else _with_lists(table, page, suite)))
    return "".join(parts).rstrip("\n") + "\n"


def _with_lists(text: str, page: Edition, suite: Suite) -> str:
    head, *tables = text.split("[[edition.set]]\n")
    parts = [head]
    for table, one in zip(tables, page.sets, strict=True):
        by_hand = table.partition("[edition.set.cases]\n")[0].rstrip("\n")
        lines = [f'"{name}" = "{row}"' for name, row in members(suite, page, one).items()]
        parts.append("[[edition.set]]\n" + "\n".join([by_hand, "", "[edition.set.cases]", *lines]) + "\n\n")
    return "".join(parts)


def main() -> None:
    path = fixtures_folder() / SETS_FILE
    path.write_text(with_lists(path.read_text(encoding="utf-8"), read_sets(path).editions, load()), "utf-8")
    for page in read_sets(path).editions:
        for one in page.sets:
            print(f"{page.date}:{one.name}: {len(page.listed(one))} cases")


if __name__ == "__main__":
    main()

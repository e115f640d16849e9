"""List the cases of each requirement set that is not released, after its definition.

`python -m tests.authoring.requirements` rewrites the tables `cases` in `fixtures/requirements/*.toml` and
prints the size of each set. The definitions above the tables are written by hand and stay as they are.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite, fixtures_folder, load
from wireproof.cases.frozen_digests import expectation_digest
from wireproof.cases.requirements import (
    Definition,
    RequirementFile,
    RequirementSet,
    read_requirements,
    requirement_files,
)


def members(suite: Suite, page: RequirementFile, one: RequirementSet) -> dict[str, str]:
    """Return the list that the definition of a set gives on a suite, without that of the sets it includes."""
    included = {name for other in one.includes for name in _all_members(suite, page, page.named(other))}
    return {
        case.id: f"{case.level} {expectation_digest(case)}"
        for case in suite.cases
        if case.id not in included and any(takes(rule, case) for rule in one.define)
    }


def _all_members(suite: Suite, page: RequirementFile, one: RequirementSet) -> dict[str, str]:
    found = members(suite, page, one)
    for other in one.includes:
        found |= _all_members(suite, page, page.named(other))
    return found


def takes(definition: Definition, case: Case) -> bool:
    """Return whether a case belongs to the set."""
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


def with_lists(text: str, page: RequirementFile, suite: Suite) -> str:
    """Return the text of a file with the lists that its definitions give on a suite."""
    head, *tables = text.split("[[set]]\n")
    parts = [head]
    for table, one in zip(tables, page.sets, strict=True):
        by_hand = table.partition("[set.cases]\n")[0].rstrip("\n")
        lines = [f'"{name}" = "{row}"' for name, row in members(suite, page, one).items()]
        parts.append("[[set]]\n" + "\n".join([by_hand, "", "[set.cases]", *lines]) + "\n\n")
    return "".join(parts).rstrip("\n") + "\n"


def rewrite(path: Path, suite: Suite) -> dict[str, int]:
    """Rewrite the lists of a file unless it is released; return how many cases each set has."""
    page = read_requirements(path)
    if not page.released:
        path.write_text(with_lists(path.read_text(encoding="utf-8"), page, suite), encoding="utf-8")
    page = read_requirements(path)
    return {one.name: len(page.listed(one)) for one in page.sets}


def main() -> None:
    """Rewrite the files of this checkout."""
    suite = load()
    for date, path in requirement_files((fixtures_folder(),)).items():
        for name, count in rewrite(path, suite).items():
            print(f"{date}:{name}: {count} cases")


if __name__ == "__main__":
    main()

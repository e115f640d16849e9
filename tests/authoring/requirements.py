"""List the cases of each requirement set that is not released, after its definition.

`python -m tests.authoring.requirements` rewrites the tables `cases` in `fixtures/requirements/*.toml` and
prints the size of each set. The definitions above the tables are written by hand and stay as they are.
"""

from pathlib import Path

from wireproof.cases.fixtures import Suite, fixtures_folder, load
from wireproof.cases.requirements import RequirementFile, members, read_requirements, requirement_files


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

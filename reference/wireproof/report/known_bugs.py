"""The known bugs of `history.toml` for the pages of `docs`: by project, with what catches them."""

from collections.abc import Iterable, Iterator

from attrs import frozen

from wireproof.cases.history import Bug, HistoryCounts, counts


@frozen
class ProjectBugs:
    """The bugs of one project, in the order of the file, and their counts."""

    name: str
    bugs: tuple[Bug, ...]
    counts: HistoryCounts


def by_project(bugs: Iterable[Bug]) -> Iterator[ProjectBugs]:
    """Yield the bugs of each project, in the order of its first bug."""
    found: dict[str, list[Bug]] = {}
    for bug in bugs:
        found.setdefault(bug.project, []).append(bug)
    for name, some in found.items():
        yield ProjectBugs(name, tuple(some), counts(some))


def short_link(link: str) -> str:
    """Return the text of a link: `owner/name#7`, `owner/name@commit`, or the last part of the address."""
    match link.removeprefix("https://").split("/"):
        case ["github.com", owner, name, "issues" | "pull", number]:
            return f"{owner}/{name}#{number}"
        case ["github.com", owner, name, "commit", commit]:
            return f"{owner}/{name}@{commit}"
        case parts:
            return parts[-1]

"""The field reports of `regressions.toml`, for the `why` of the cases that answer them."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path


def links(fixtures: Path) -> Mapping[str, Sequence[str]]:
    """Return, for the id of each case, the first link of every report that names the case."""
    found: dict[str, list[str]] = {}
    for path in sorted(fixtures.glob("*/regressions.toml")):
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["regressions"]:
            for name in row.get("fixtures", ()):
                found.setdefault(name, []).append(row["links"][0])
    return found


def with_links(why: str, reports: Sequence[str]) -> str:
    """Return the reason of a case; links that it does not contain yet are added at its end."""
    said = why.replace(" #", "#")
    missing = [
        link for link in dict.fromkeys(reports) if link not in said and link.replace("@", " ") not in said
    ]
    return f"{why} Reports: {', '.join(missing)}." if missing else why

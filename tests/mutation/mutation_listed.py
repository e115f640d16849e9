"""The survivors that are known, each with its reason: `survivors.toml`.

A row names a site by module, operator, the line as it stands and what stands at the column, so that it
holds when lines move. `kind` is one of

- `equivalent`: no input at all can tell the change from the original; it is outside of the count;
- `unseen`: it changes something that no verdict looks at, and the reason says what does; it counts;
- `hole`: a case could notice it and none does; it counts.
"""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from attrs import frozen
from mutation_sites import Site

FILE = Path(__file__).with_name("survivors.toml")
KINDS = ("equivalent", "unseen", "hole")


@frozen
class Listed:
    """A row of the list; `operator` and `text` may hold `*`, which stands for any characters.

    Attributes:
        module: such as `wire.reader`; `*` too.
        column: of the change in the line, from its first letter on; None for any.
    """

    module: str
    operator: str
    text: str
    kind: str
    reason: str
    column: int | None = None

    def names(self, site: Site, indent: int) -> bool:
        """Return True if the row is about `site`, whose line is indented by `indent`."""
        return (
            _like(self.module, site.module)
            and _like(self.operator, site.operator.removeprefix("core/"))
            and _like(self.text, site.text)
            and self.column in (None, site.column - indent)
        )


def _like(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text) is not None


def read(path: Path = FILE) -> list[Listed]:
    """Every row of the list; raises ValueError for one of no known kind or without a reason."""
    if not path.exists():
        return []
    rows = [Listed(**row) for row in tomllib.loads(path.read_text(encoding="utf-8")).get("survivor", [])]
    for row in rows:
        if row.kind not in KINDS or len(row.reason) < 10:
            raise ValueError(f"{path.name}: {row.module} {row.text}: wants a kind of {KINDS} and a reason")
    return rows


def listed(site: Site, indent: int, rows: Iterable[Listed]) -> Listed | None:
    """The first row that speaks of `site`."""
    return next((row for row in rows if row.names(site, indent)), None)

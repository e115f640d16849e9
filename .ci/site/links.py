"""README.md as the first page, and the links to files that are no documents: they lead to the repository."""  # noqa: INP001 - mkdocs loads it by its path

import os
import posixpath
import re
from pathlib import Path
from typing import Any, Final

from mkdocs.structure.files import File, Files

TOP: Final = Path(__file__).parents[2]
HOME: Final = "reference/docs"
FIRST: Final = "index.md"
LINK: Final = re.compile(r"\[([^\]\n]+)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]+)?\)")
RESULTS: Final = '\n\n<a href="page.html">The results of all implementations</a>\n'
REPOSITORY: Final = os.environ.get("GITHUB_REPOSITORY", "")


def on_files(files: Files, config: Any) -> Files:  # noqa: ANN401 - of mkdocs
    """Add README.md, and below it the link to the matrix, which is made from runs and is no document."""
    text = (TOP / "README.md").read_text(encoding="utf-8") + RESULTS
    files.append(File.generated(config, FIRST, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:  # noqa: ANN401 - as above
    """Lead each link of a page to a page of the site or to the repository; without one, to nothing."""
    home = "" if page.file.src_uri == FIRST else HOME

    def target(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(home, match[2]))
        folder, name = posixpath.split(path)
        if folder == HOME:
            return f"[{match[1]}]({name}{match[3] or ''})"
        if path == "README.md":
            return f"[{match[1]}]({FIRST}{match[3] or ''})"
        if REPOSITORY:
            return f"[{match[1]}](https://github.com/{REPOSITORY}/blob/HEAD/{path}{match[3] or ''})"
        return match[1]

    return LINK.sub(target, markdown)

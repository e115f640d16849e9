"""The `pip install` command of an extra, for messages about a missing package.

The command names the source from which wireproof was installed. The name alone works only after an
installation from an index; in other cases it would install whatever package has this name there.
"""

import shlex
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

NAME: Final = "wireproof"
"""The name of the distribution."""


def install_command(extra: str) -> str:
    """Return the command that installs `extra` from where wireproof itself came from (PEP 610)."""
    origin = _direct_url()
    folder = None  # the one that was installed, unless it is gone
    if "dir_info" in origin:
        from urllib.parse import unquote, urlsplit  # noqa: PLC0415 - only a message needs it

        path = Path(unquote(urlsplit(origin["url"]).path))
        folder = path if path.is_dir() else None
    checkout = _checkout() or folder
    if checkout is None:
        return f"pip install {shlex.quote(f'{NAME}[{extra}]{_url_suffix(origin)}')}"
    editable = folder == checkout and bool(_table(origin, "dir_info").get("editable"))
    place = str(checkout)
    with suppress(OSError):  # the working folder may be gone
        place = "." if checkout == Path.cwd() else place
    return f"pip install {'-e ' if editable else ''}{shlex.quote(f'{place}[{extra}]')}"


def _checkout() -> Path | None:
    """Return the folder of the `pyproject.toml` beside these sources; None for an installed package."""
    folder = Path(__file__).resolve().parents[2]
    return folder if (folder / "pyproject.toml").is_file() and (folder / "fixtures").is_dir() else None


def _direct_url() -> dict[str, Any]:
    """Return the record of the source that pip wrote; empty if wireproof came from an index."""
    # imported here: only a message needs them, and both are slow to import
    from importlib import metadata  # noqa: PLC0415 - see above

    from wireproof.strict_parsing import parse_json  # noqa: PLC0415 - as above

    try:
        found = parse_json(metadata.distribution(NAME).read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, OSError, ValueError):
        return {}
    url = found.get("url") if isinstance(found, dict) else None
    return found if isinstance(url, str) and url.isprintable() and " " not in url else {}


def _table(origin: dict[str, Any], key: str) -> dict[str, Any]:
    table = origin.get(key)
    return table if isinstance(table, dict) else {}


def _url_suffix(origin: dict[str, Any]) -> str:
    """Return ` @ URL` for an archive or a repository at the installed commit; empty for an index."""
    vcs = _table(origin, "vcs_info")
    if not (vcs or "archive_info" in origin):
        return ""
    url = origin["url"]
    if {"vcs", "commit_id"} <= vcs.keys():
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    folder = origin.get("subdirectory")
    return f" @ {url}#subdirectory={folder}" if folder else f" @ {url}"

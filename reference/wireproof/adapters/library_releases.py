"""The releases of a library, as the registry of packages of its language lists them.

The client of each language asks its registry, with the settings of this machine. Cargo and Maven have no
command for it; the lists of their registries are files with a documented address.
"""

import json
import re
import subprocess
import sys
import tempfile
from bisect import bisect
from collections.abc import Callable, Mapping
from typing import Final

from wireproof import __version__
from wireproof.adapters.errors import AdapterError
from wireproof.adapters.registry_entry import Ecosystem, PeerLibrary
from wireproof.release_order import age, is_final

SECONDS: Final = 120
"""Time limit of one question to a registry."""

MAX_LIST: Final = 32 * 1024 * 1024
"""Bytes of a list that are read."""

NEAR: Final = 2
"""Releases before and behind an unknown one that a message names."""

CRATES: Final = "https://index.crates.io"
MAVEN: Final = "https://repo1.maven.org/maven2"


def releases(library: PeerLibrary) -> tuple[str, ...]:
    """Return the releases of a library without its pre-releases, the oldest first.

    Raises `AdapterError` if the registry does not answer.
    """
    names = dict.fromkeys((*(one.name for one in library.former), library.name))
    found = [
        version
        for name in names
        for version in _LISTS[library.ecosystem](name)
        if is_final(version) and library.name_at(version) == name
    ]
    return tuple(sorted({version.removeprefix("v") for version in found}, key=age))


def near(version: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the releases around one that does not exist."""
    place = bisect(known, age(version), key=age)
    return known[max(0, place - NEAR) : place + NEAR]


# --- one list for each ecosystem ---


def _from_go(name: str) -> list[str]:
    return _printed("go", "list", "-m", "-versions", name).split()[1:]


def _from_npm(name: str) -> list[str]:
    versions = json.loads(_printed("npm", "view", name, "versions", "--json"))
    return [versions] if isinstance(versions, str) else list(versions)


def _from_pypi(name: str) -> list[str]:
    printed = _printed(sys.executable, "-m", "pip", "index", "versions", name)
    found = re.search(r"(?m)^Available versions: (.*)$", printed)
    return found[1].split(", ") if found else []


def _from_crates(name: str) -> list[str]:
    rows = [json.loads(line) for line in _fetched(f"{CRATES}/{_index_path(name.lower())}").splitlines()]
    return [row["vers"] for row in rows if not row["yanked"]]


def _index_path(name: str) -> str:
    """Return the path of a crate in the index of its registry."""
    match len(name):
        case 1 | 2:
            return f"{len(name)}/{name}"
        case 3:
            return f"3/{name[0]}/{name}"
        case _:
            return f"{name[:2]}/{name[2:4]}/{name}"


def _from_maven(name: str) -> list[str]:
    group, _, artifact = name.partition(":")
    page = _fetched(f"{MAVEN}/{group.replace('.', '/')}/{artifact}/maven-metadata.xml")
    return re.findall(r"<version>\s*([^<\s]+)\s*</version>", page)


_LISTS: Final[Mapping[Ecosystem, Callable[[str], list[str]]]] = {
    "cargo": _from_crates,
    "go": _from_go,
    "maven": _from_maven,
    "npm": _from_npm,
    "pypi": _from_pypi,
}


def _printed(*command: str) -> str:
    """Return what a client of a registry prints; run it in an empty folder, outside of any project."""
    shown = " ".join(command)
    try:
        with tempfile.TemporaryDirectory(prefix="wireproof-") as folder:
            done = subprocess.run(  # noqa: S603 - the words are those of the table above
                command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AdapterError(f"the releases cannot be listed: `{shown}`: {error}") from None
    if done.returncode:
        last = (done.stderr.strip() or "no output").splitlines()[-1]
        raise AdapterError(f"the releases cannot be listed: `{shown}` ended with {done.returncode}: {last}")
    return done.stdout


def _fetched(address: str) -> str:
    from urllib.request import Request, urlopen  # noqa: PLC0415 - slow to import, and few commands ask a registry

    request = Request(address, headers={"User-Agent": f"wireproof/{__version__}"})  # noqa: S310 - https
    try:
        with urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 - as above
            text: str = answer.read(MAX_LIST).decode("utf-8")
    except (OSError, ValueError) as error:
        raise AdapterError(f"the releases cannot be listed: {address}: {error}") from None
    return text

"""The properties file of a client of an Iggy server: its user, and facts that no request asks for."""

import configparser
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.adapters.errors import AdapterStartError

USER_KEY: Final = "username"
PASSWORD_KEY: Final = "password"  # noqa: S105 - the name of a key
NAME_KEY: Final = "wireproof.server.name"
REVISION_KEY: Final = "wireproof.server.revision"
KEYS: Final = (USER_KEY, PASSWORD_KEY, NAME_KEY, REVISION_KEY)

LONGEST: Final = 255
"""Bytes of a user and of a password: their length is one byte."""

_SECTION: Final = "properties"


@frozen
class IggyClientProperties:
    """The content of a properties file.

    Attributes:
        user, password: of a user that may create, delete and use streams; a new server has the default.
        name: of the server, for reports and known failures.
        revision: of the bytes of a send; empty: found out by the version that the server answers.
    """

    user: str = "iggy"
    password: str = "iggy"  # noqa: S105 - the password of every new server, in its documentation
    name: str = "iggy-server"
    revision: str = ""


def read_properties(path: str) -> IggyClientProperties:
    """Return the content of a properties file, or the default without one; raise `AdapterStartError`."""
    if not path:
        return IggyClientProperties()
    try:
        found = _parsed(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        text = str(error).partition("\n")[0]
        raise AdapterStartError(f"the properties file {path} cannot be read: {text}") from None
    if unknown := found.keys() - set(KEYS):
        raise AdapterStartError(f"{path}: {min(unknown)} is no key; the keys are {', '.join(KEYS)}")
    if long := [key for key in (USER_KEY, PASSWORD_KEY) if len(found.get(key, "").encode()) > LONGEST]:
        raise AdapterStartError(f"{path}: {long[0]} has more than {LONGEST} bytes")
    default = IggyClientProperties()
    return IggyClientProperties(
        found.get(USER_KEY, default.user),
        found.get(PASSWORD_KEY, default.password),
        found.get(NAME_KEY, default.name),
        found.get(REVISION_KEY, default.revision),
    )


def _parsed(text: str) -> dict[str, str]:
    """Return the properties of a text: `#` and `!` begin comments."""
    parser = configparser.ConfigParser(
        delimiters=("=",), comment_prefixes=("#", "!"), interpolation=None, default_section=""
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign] # keys keep their case
    parser.read_string(f"[{_SECTION}]\n{text}")
    return dict(parser[_SECTION])

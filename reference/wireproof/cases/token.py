"""Replay tokens: a whole case in one word.

`wp1:` and the case in JSON, deflated, in URL-safe base64, up to 2 KiB; a longer one is a file, written
`@path` with its sha256. A token is untrusted input: its size is limited before it is inflated.
"""

import base64
import binascii
import hashlib
import re
import zlib
from pathlib import Path
from typing import Any, Final

from attrs import evolve

from wireproof.cases.case import Case, Source
from wireproof.cases.case_json import case_from_json
from wireproof.cases.fixture_writer import case_json
from wireproof.files import read_limited_bytes, replace_text
from wireproof.strict_parsing import parse_json
from wireproof.wire.json_values import canonical_json

PREFIX: Final = "wp1:"
MAX_INLINE_TOKEN: Final = 2048
"""Maximum characters of a token that is not a file."""

MAX_TOKEN_FILE: Final = 64 * 1024 * 1024
"""Maximum characters of a token file."""

WORD: Final = re.compile(r"[A-Za-z0-9_-]*={0,2}")

MAX_INFLATED: Final = 64 * 1024 * 1024


class TokenError(ValueError):
    """A token cannot be read; one line gives the reason."""


def to_token(case: Case) -> str:
    """Return the token of a case; one over 2 KiB is named by its sha256 and must be saved by `save_token`."""
    word = _word(case)
    return word if len(word) <= MAX_INLINE_TOKEN else f"@{_sha256(word)}.wp1"


def _sha256(word: str) -> str:
    return hashlib.sha256(word.encode()).hexdigest()[:32]


def _word(case: Case) -> str:
    """Return the token without what stands behind the case, which change no verdict."""
    bare = evolve(case, source=Source(case.source.origin, case.source.document))
    page: dict[str, Any] = {"format": case.format, "revision": case.revision, "case": case_json(bare)}
    page |= {name: text for name in ("family", "parent") if (text := getattr(case, name))}
    return PREFIX + base64.urlsafe_b64encode(zlib.compress(canonical_json(page), 9)).decode().rstrip("=")


def save_token(case: Case, folder: Path) -> str:
    """Return the token of a case, written to a file in `folder` if it is over 2 KiB."""
    token = to_token(case)
    if token.startswith("@"):
        replace_text(folder / token[1:], _word(case))
        return f"@{folder / token[1:]}"
    return token


def from_token(token: str) -> Case:
    """Return the case of a token or of `@file`; raises `TokenError`."""
    if token.startswith("@"):
        path = Path(token[1:])
        try:
            token = read_limited_bytes(path, MAX_TOKEN_FILE).decode("ascii").strip()
        except (OSError, ValueError) as error:
            raise TokenError(f"the token file {path} cannot be read: {error}") from None
        name = re.fullmatch(r"([0-9a-f]{32})\.wp1", path.name)  # of a file that `save_token` wrote
        if name and name[1] != _sha256(token):
            raise TokenError(f"the token file {path} was changed: its sha256 is not its name")
    if not token.startswith(PREFIX):
        raise TokenError(f"a token begins with {PREFIX}, not with {token[:8]!r}")
    # The JSON of a word. Python's base64 skips invalid characters, so they are checked first.
    word = token.removeprefix(PREFIX)
    if not WORD.fullmatch(word):
        raise TokenError("the token is damaged: it holds a character that no token has")
    try:
        packed = base64.urlsafe_b64decode(word + "=" * (-len(word) % 4))
        inflate = zlib.decompressobj()
        data = inflate.decompress(packed, MAX_INFLATED)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise TokenError(f"the token is damaged: {error}") from None
    if inflate.unconsumed_tail:
        raise TokenError(
            f"the token unpacks to more than {MAX_INFLATED >> 20} MiB: it is no token of wireproof"
        )
    if not inflate.eof:
        raise TokenError("the token is cut off: copy the whole of it")
    if inflate.unused_data:
        raise TokenError("the token is damaged: something follows its end")
    return _case(data)


def _case(data: bytes) -> Case:
    """Return the case of a token's JSON, which is untrusted: no file is opened for it."""
    try:
        page = parse_json(data)
        row = {key: value for key, value in page["case"].items() if value is not None}
        case = case_from_json(row, page["format"], page["revision"], None)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise TokenError(f"the token holds no case: {error}") from None
    texts = [page.get(name) for name in ("family", "parent")]
    if not all(isinstance(text, str | None) for text in texts):
        raise TokenError("the token holds no case: family and parent are texts")
    if not isinstance(case.format, str) or not isinstance(case.revision, str):
        raise TokenError("the token holds no case: format and revision are texts")
    return evolve(case, family=texts[0], parent=texts[1])

"""Replay tokens: a whole case in one word. Design, section 1, "token".

`wp1:` and the case in JSON, deflated, in URL-safe base64, up to 2 KiB; a longer one is a file, written
`@path` with its sha256. A token of a stranger is data like any other: it is bounded before it is inflated.
"""

import base64
import binascii
import hashlib
import json
import zlib
from pathlib import Path
from typing import Any, Final

import cattrs
from attrs import asdict, evolve

from wireproof.cases.case import Accept, Behaviour, Case, Chunks, Data, Either, Expect, Reject, Value
from wireproof.cases.fixtures import case_of

PREFIX: Final = "wp1:"
LONGEST: Final = 2048
"""Characters of a token that is not a file."""

MOST_INFLATED: Final = 64 * 1024 * 1024


class TokenError(ValueError):
    """A token that cannot be read; one line says why."""


def to_row(case: Case) -> dict[str, Any]:
    """A case as its fixture would have it."""
    row: dict[str, Any] = {
        "id": case.id, "title": case.title, "why": case.why, "op": case.op, "level": case.level,
        "rules": list(case.rules), "input": _input(case), "expect": expect_row(case.expect),
        "source": {"origin": case.source.origin, "document": case.source.document},
        "profile": case.profile, "twin": case.twin, "needs": list(case.needs),
        "options": options_row(case), "limits": asdict(case.limits), "flags": list(case.flags),
    }  # fmt: skip
    return row


def _input(case: Case) -> dict[str, Any]:
    match case.input:
        case Data(data):
            return {"hex": data.hex()}
        case Value(value):
            return {"value": value}
        case Chunks(chunks):
            return {"chunks": [chunk.hex() for chunk in chunks]}


def expect_row(expect: Expect) -> dict[str, Any]:
    """What must happen, as JSON."""
    match expect:
        case Accept(value, consumed, remarks, data):
            body = {
                "value": value,
                "consumed": consumed,
                "remarks": list(remarks),
                "bytes": [d.hex() for d in data],
            }
            return {"accept": body}
        case Reject(cls, also, at, before):
            return {"reject": {"class": cls, "also": list(also), "at": at, "before": before}}
        case Either(behaviours):
            return {"either": {"behaviours": [_behaviour(one) for one in behaviours]}}


def _behaviour(behaviour: Behaviour) -> dict[str, Any]:
    return {"id": behaviour.id, **expect_row(behaviour.expect)}


def options_row(case: Case) -> dict[str, Any]:
    """The options that are not the default's, as JSON."""
    options, row = case.options, dict[str, Any]()
    if options.keys is not None:
        row["keys"] = {name: key.hex() for name, key in options.keys.items()}
    if options.aborted:
        row["aborted"] = [[str(one), str(two)] for one, two in options.aborted]
    for name in ("max_message", "fetch_offset"):
        row |= {} if getattr(options, name) is None else {name: getattr(options, name)}
    return row | {
        "resync": options.resync,
        "compression": options.compression,
        "isolation": options.isolation,
    }


def dump(case: Case) -> str:
    """The token of a case; one over 2 KiB is named by its sha256 and must be kept by `keep`."""
    word = _word(case)
    return word if len(word) <= LONGEST else f"@{hashlib.sha256(word.encode()).hexdigest()[:32]}.wp1"


def _word(case: Case) -> str:
    page = {"format": case.format, "revision": case.revision, "family": case.family, "parent": case.parent,
            "case": to_row(case)}  # fmt: skip
    packed = zlib.compress(json.dumps(page, separators=(",", ":")).encode(), 9)
    return PREFIX + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def keep(case: Case, folder: Path) -> str:
    """The token of a case, written to a file in `folder` if it is over 2 KiB."""
    token = dump(case)
    if token.startswith("@"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / token[1:]).write_text(_word(case), encoding="ascii")
        return f"@{folder / token[1:]}"
    return token


def parse(token: str) -> Case:
    """The case of a token or of `@file`; raises `TokenError`."""
    if token.startswith("@"):
        path = Path(token[1:])
        try:
            token = path.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise TokenError(f"the token file {path} cannot be read: {error}") from None
    if not token.startswith(PREFIX):
        raise TokenError(f"a token begins with {PREFIX}, not with {token[:8]!r}")
    return _case(_inflated(token.removeprefix(PREFIX)))


def _inflated(word: str) -> bytes:
    try:
        packed = base64.urlsafe_b64decode(word + "=" * (-len(word) % 4))
        inflate = zlib.decompressobj()
        data = inflate.decompress(packed, MOST_INFLATED)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise TokenError(f"the token is damaged: {error}") from None
    if inflate.unconsumed_tail:
        raise TokenError(f"the token unpacks to more than {MOST_INFLATED >> 20} MiB: it is none of ours")
    if not inflate.eof:
        raise TokenError("the token is cut off: copy the whole of it")
    return data


def _case(data: bytes) -> Case:
    """The case in a token's JSON, which may be anybody's: no file is opened for it."""
    try:
        return _case_of(json.loads(data))
    except TokenError:
        raise
    except (
        cattrs.BaseValidationError, AttributeError, LookupError, OSError, RecursionError, TypeError,
        ValueError,
    ) as error:  # fmt: skip
        raise TokenError(f"the token holds no case: {error}") from None


def _case_of(page: Any) -> Case:  # noqa: ANN401 - JSON
    row = {key: value for key, value in page["case"].items() if value is not None}
    if "file" in row.get("input", ()):
        raise TokenError("the token names a file of another machine")
    family, parent = page.get("family"), page.get("parent")
    if not all(isinstance(name, str | None) for name in (family, parent)):
        raise TokenError("the token holds no case: family and parent are texts")
    case = case_of(row, page["format"], page["revision"], Path())
    return evolve(case, family=family, parent=parent)

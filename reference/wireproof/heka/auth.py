"""Signatures of frames: HMAC over the message bytes. heka.md, section 3.

`Options.keys` holds the key bytes by `<signer>_<version>`; without it nothing is verified and nobody is
a signer. What Go's reader lets through (a claimed signer without HMAC, headers of 13 bytes and less)
is refused: an authentication bypass is never normative.
"""

import hmac
from typing import Final

from attrs import evolve

from wireproof.heka.header import HashFunction, Header
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

DIGESTS: Final[dict[HashFunction | None, str]] = {None: "md5", "MD5": "md5", "SHA1": "sha1"}
"""Section 3, row functions: MD5 when the field is absent."""


def key_name(header: Header) -> str:
    """What the key is looked up by; an absent signer is empty, an absent version 0: section 3, A08, A09."""
    signer = (header.hmac_signer or b"").decode(errors="surrogateescape")
    return f"{signer}_{header.hmac_key_version or 0}"


def digest(header: Header, key: bytes, message: bytes) -> bytes:
    """The HMAC of the message bytes alone: section 3, row digest input."""
    return hmac.digest(key, message, DIGESTS[header.hmac_hash_function])


def verify(reader: Reader, header: Header, message: bytes, options: Options) -> bytes | None:
    """Who signed the message, or None for an unsigned one.

    Raises:
        Rejected: `auth-failed`; `detail` says which of section 3's.
    """
    if options.keys is None:
        return None
    if header.hmac is None:
        if header.hmac_signer:  # A10, A11: a name without a proof
            raise _failed(reader, "hmac", "auth_missing_hmac")
        return None
    if not header.hmac_signer:  # A09
        raise _failed(reader, "hmac_signer", "auth_unnamed_signer")
    key = options.keys.get(key_name(header))
    if key is None:  # A05, A06, A07, A13
        raise _failed(reader, "hmac_signer", "auth_unknown_key")
    if not hmac.compare_digest(digest(header, key, message), header.hmac):  # A04, A12, A15
        raise _failed(reader, "hmac", "auth_bad_digest")
    return header.hmac_signer


def _failed(reader: Reader, name: str, detail: str) -> Exception:
    return reader.reject("auth-failed", f"header.{name}", detail, detail=detail)


def signed(writer: Writer, header: Header, message: bytes, options: Options) -> Header:
    """`header` with its HMAC, where it names a signer, bears none yet, and keys are given.

    Raises:
        Rejected: `invalid-value`, when there is no key for the signer.
    """
    if options.keys is None or not header.hmac_signer or header.hmac is not None:
        return header
    key = options.keys.get(key_name(header))
    if key is None:
        raise writer.invalid("header.hmac_signer", f"no key {key_name(header)!r}")
    return evolve(header, hmac=digest(header, key, message))

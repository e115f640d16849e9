"""Signatures of frames: an HMAC of the message bytes. heka.md, section 3.

`Options.keys` has the keys by `<signer>_<version>`; without keys nothing is verified and no frame has a
signer. Frames that Go's reader accepts without verification (a signer without HMAC, a header of 13 bytes or
less) are rejected: an authentication bypass is never normative.
"""

import hmac
from typing import Final

from attrs import evolve

from wireproof.heka.header import HashFunction, HekaHeader
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

HASH_NAMES: Final[dict[HashFunction | None, str]] = {None: "md5", "MD5": "md5", "SHA1": "sha1"}
"""The hash functions: section 3, row functions. MD5 if the field is absent."""


def key_name(header: HekaHeader) -> str:
    """Return the name of the key: section 3, A08, A09. An absent signer is empty, an absent version is 0."""
    signer = (header.hmac_signer or b"").decode(errors="surrogateescape")
    return f"{signer}_{header.hmac_key_version or 0}"


def hmac_digest(header: HekaHeader, key: bytes, message: bytes) -> bytes:
    """Return the HMAC of the message bytes, without the header: section 3, row digest input."""
    return hmac.digest(key, message, HASH_NAMES[header.hmac_hash_function])


def verify(reader: Reader, header: HekaHeader, message: bytes, options: Options) -> bytes | None:
    """Verify the signature; return the signer, or None for a message without signature.

    Raises:
        Rejected: `auth-failed`, with the `detail` of section 3.
    """
    if options.keys is None:
        return None
    if header.hmac is None:
        if header.hmac_signer:  # A10, A11: a signer without HMAC
            raise _failed(reader, "hmac", "auth_missing_hmac")
        return None
    if not header.hmac_signer:  # A09
        raise _failed(reader, "hmac_signer", "auth_unnamed_signer")
    key = options.keys.get(key_name(header))
    if key is None:  # A05, A06, A07, A13
        raise _failed(reader, "hmac_signer", "auth_unknown_key")
    if not hmac.compare_digest(hmac_digest(header, key, message), header.hmac):  # A04, A12, A15
        raise _failed(reader, "hmac", "auth_bad_digest")
    return header.hmac_signer


def _failed(reader: Reader, name: str, detail: str) -> Exception:
    return reader.reject("auth-failed", f"header.{name}", detail, detail=detail)


def sign(writer: Writer, header: HekaHeader, message: bytes, options: Options) -> HekaHeader:
    """Return `header` with its HMAC if keys are given and it has a signer but no HMAC; else unchanged.

    Raises:
        Rejected: `invalid-value` if there is no key for the signer.
    """
    if options.keys is None or not header.hmac_signer or header.hmac is not None:
        return header
    key = options.keys.get(key_name(header))
    if key is None:
        raise writer.invalid("header.hmac_signer", f"no key {key_name(header)!r}")
    return evolve(header, hmac=hmac_digest(header, key, message))

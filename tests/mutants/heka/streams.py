"""Codecs of Heka streams with one planted fault each, of real readers: heka.md, sections 2, 3 and 7."""

from collections.abc import Iterable, Iterator

from attrs import evolve

from tests.mutants.base import REFERENCE, ReferenceCodec, mutant, patched, variant, walk, with_options
from tests.mutants.heka.helpers import PatchedHeka, in_fields
from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.formats import Decoded, Format
from wireproof.heka.scan import LENGTH_FIELD, RESYNC_MODES
from wireproof.heka.stream import HEADER
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.protobuf import WireField
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item

# --- frames ---


def _modulo(_: Reader, field: WireField) -> WireField:
    return evolve(field, value=field.value & 0xFFFF_FFFF) if field.number == LENGTH_FIELD else field


class _SignedBytes(Reader):
    """A reader to which bytes of 128 and more are negative."""

    def uint8(self, name: str) -> int:
        return self.int8(name)


variant(
    PatchedHeka,
    "heka-header-signed-length",
    "Reads the header length as a signed byte, as C, Scala and heka-py did.",
    "heka.stream/0.10/header/128-bytes",
    reader=_SignedBytes,
)


@mutant(PatchedHeka, "options", "heka-limit-exclusive", "heka.stream/0.10/limit/65536")
def limit_exclusive(request: Request) -> Options:
    """Refuses a message of exactly the limit."""
    return with_options(request, max_message=(request.options.max_message or 65536) - 1)


@mutant(PatchedHeka, "decode", "heka-tail-refused", "heka.stream/0.10/tail/10-bytes")
def tail_refused(request: Request) -> Outcome:
    """Refuses a stream that ends inside a frame."""
    outcome = REFERENCE.decode(request)
    if isinstance(outcome, Accepted) and outcome.consumed != len(request.data):
        return Refused("truncated", outcome.consumed)
    return outcome


class HeaderLengthZero(ReferenceCodec):
    """Delivers a frame of an empty header, as Go does, and steps over it."""

    name = "heka-header-length-zero"
    killed_by = ("heka.stream/0.10/refused/zero-header",)
    system = "heka"

    def decode(self, request: Request) -> Outcome:
        return super().decode(evolve(request, data=request.data.replace(b"\x1e\x00\x1f", b"")))

    def items(self, row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
        for item in super().items(row, chunks, options):
            empty = (item.cls, item.length) == ("bad-length", 3)
            yield evolve(item, kind="frame", cls=None) if empty else item


# --- signatures ---


class HmacSkip(ReferenceCodec):
    """Never verifies, as C, Lua, Python, Scala and Java do."""

    name = "heka-hmac-skip"
    killed_by = ("heka.stream/0.10/hmac/wrong-key",)
    system = "heka"

    def options(self, request: Request) -> Options:
        return with_options(request, keys=None)

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        return _believed(value) if request.options.keys is not None else value


class SignerWithoutHmac(ReferenceCodec):
    """Takes a claimed name for the signer where there is no HMAC, as Go does."""

    name = "heka-signer-without-hmac"
    killed_by = ("heka.stream/0.10/hmac/claimed-signer",)
    system = "heka"

    def read(self, row: Format, data: bytes, options: Options) -> Decoded:
        try:
            return super().read(row, data, options)
        except Rejected as rejected:
            if rejected.detail != "auth_missing_hmac":
                raise
            return super().read(row, data, evolve(options, keys=None))

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        return _believed(value) if request.options.keys is not None else value


@mutant(PatchedHeka, "options", "heka-short-header-unverified", "heka.stream/0.10/hmac/short-header")
def short_header_unverified(request: Request) -> Options:
    """Verifies no header of 13 bytes or less, as Go does."""
    short = len(request.data) > 1 and request.data[1] <= 13
    return with_options(request, keys=None) if short else request.options


# --- scans ---


@mutant(PatchedHeka, "items", "heka-chunks-alone", "heka.stream/0.10/scan/byte-by-byte")
def chunks_alone(row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
    """Scans every chunk as a stream of its own."""
    base = 0
    for chunk in chunks:
        for item in formats.scan(row, [chunk], options):
            yield evolve(item, at=item.at + base)
        base += len(chunk)


# --- parts ---


def _believed(value: Json) -> Json:
    for part in walk(value):
        header = part.get("header")
        if isinstance(header, dict):
            part["signer"] = header["hmac_signer"]
    return value


# --- other parts in the modules of the reference ---

patched(
    PatchedHeka,
    {
        "heka-length-modulo": (
            "Takes message_length modulo 2^32, as Go and Python do.",
            in_fields(HEADER, _modulo),
            "heka.stream/0.10/refused/33-bits",
        ),
        "heka-no-end-rescan": (
            "Waits for a false separator at the end of a stream, as Go and C do.",
            ((RESYNC_MODES, "strict", evolve(RESYNC_MODES["strict"], rescans=False)),),
            "heka.stream/0.10/scan/false-separator",
        ),
    },
)

"""Codecs of Heka streams with one planted fault each, of real readers: heka.md, sections 2, 3 and 7."""

from collections.abc import Iterable, Iterator

from attrs import evolve

from tests.mutants.base import ReferenceCodec, patched, walk, with_options
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


class HeaderSignedLength(ReferenceCodec):
    """Reads the header length as a signed byte, as C, Scala and heka-py did."""

    name = "heka-header-signed-length"
    killed_by = ("heka.stream/0.10/header/128-bytes",)
    system = "heka"
    reader = _SignedBytes


class LimitExclusive(ReferenceCodec):
    """Refuses a message of exactly the limit."""

    name = "heka-limit-exclusive"
    killed_by = ("heka.stream/0.10/limit/65536",)
    system = "heka"

    def options(self, request: Request) -> Options:
        return with_options(request, max_message=(request.options.max_message or 65536) - 1)


class TailRefused(ReferenceCodec):
    """Refuses a stream that ends inside a frame."""

    name = "heka-tail-refused"
    killed_by = ("heka.stream/0.10/tail/10-bytes",)
    system = "heka"

    def decode(self, request: Request) -> Outcome:
        outcome = super().decode(request)
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


class ShortHeaderUnverified(ReferenceCodec):
    """Verifies no header of 13 bytes or less, as Go does."""

    name = "heka-short-header-unverified"
    killed_by = ("heka.stream/0.10/hmac/short-header",)
    system = "heka"

    def options(self, request: Request) -> Options:
        short = len(request.data) > 1 and request.data[1] <= 13
        return with_options(request, keys=None) if short else request.options


# --- scans ---


class ChunksAlone(ReferenceCodec):
    """Scans every chunk as a stream of its own."""

    name = "heka-chunks-alone"
    killed_by = ("heka.stream/0.10/scan/byte-by-byte",)
    system = "heka"

    def items(self, row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
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

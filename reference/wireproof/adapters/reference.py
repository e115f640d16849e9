"""The adapter `reference`: the reference codecs of `formats.py` behind the adapter contract."""

from collections.abc import Mapping
from typing import Final, Literal

from wireproof import __version__
from wireproof.adapters.contract import Claim, Request
from wireproof.cases.case import Op
from wireproof.cases.observable_fields import EVERY_FIELD
from wireproof.cases.outcome import Outcome, Unsupported
from wireproof.cases.reference_answers import decode_answer, encode_answer, scan_answer
from wireproof.formats import FORMATS, Format

_FRAME_OPS: Final[tuple[Op, ...]] = ("decode", "encode")
_STREAM_OPS: Final[tuple[Op, ...]] = ("decode", "encode", "scan")


def claim_of_row(row: Format) -> Claim:
    """Return the claims for everything that a format supports, and for its derived fields too."""
    parts = [atom.partition(":") for atom in row.capabilities]
    codecs = tuple(name for kind, _, name in parts if kind == "codec")
    features = tuple(name for kind, _, name in parts if kind == "feature")
    ops = _STREAM_OPS if row.scan is not None else _FRAME_OPS
    return Claim(
        ops, tuple(dict.fromkeys(("none", *codecs))), ("reader", "produce"), (EVERY_FIELD,), features
    )


class Reference:
    """Adapter that claims every format of `FORMATS` and exact error classes."""

    name = "reference"
    version = __version__
    errors: Literal["exact", "coarse", "none"] = "exact"
    window = 64

    @property
    def revisions(self) -> Mapping[str, Claim]:
        return {format_id: claim_of_row(row) for format_id, row in FORMATS.items()}

    def decode(self, request: Request) -> Outcome:
        """Decode as `formats.decode`."""
        row = _row(request)
        if row is None:
            return _unknown(request)
        return decode_answer(row, request.data, request.options).outcome

    def encode(self, request: Request) -> Outcome:
        """Encode as `formats.encode`."""
        row = _row(request)
        if row is None:
            return _unknown(request)
        return encode_answer(row, request.value, request.options).outcome

    def scan(self, request: Request) -> Outcome:
        """Scan as `formats.scan`."""
        row = _row(request)
        if row is None or row.scan is None:
            return _unknown(request)
        return scan_answer(row, request.chunks, request.options).outcome


def _row(request: Request) -> Format | None:
    return FORMATS.get(f"{request.format}/{request.revision}")


def _unknown(request: Request) -> Unsupported:
    return Unsupported(f"no {request.op} of {request.format}/{request.revision}")

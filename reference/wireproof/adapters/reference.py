"""The adapter `reference`: the reference codecs of `formats.py` behind the adapter contract."""

from collections.abc import Mapping
from typing import Final, Literal

from wireproof import __version__, formats
from wireproof.adapters.contract import Claim, Request
from wireproof.adapters.python_object import refused
from wireproof.cases.case import Op
from wireproof.cases.outcome import Accepted, Outcome, Unsupported
from wireproof.formats import FORMATS, Format
from wireproof.wire.json_values import to_json
from wireproof.wire.rejection import Rejected

_FRAME_OPS: Final[tuple[Op, ...]] = ("decode", "encode")
_STREAM_OPS: Final[tuple[Op, ...]] = ("decode", "encode", "scan")


def claim_of_row(row: Format) -> Claim:
    """Return the claims for everything that a format supports."""
    parts = [atom.partition(":") for atom in row.capabilities]
    codecs = tuple(name for kind, _, name in parts if kind == "codec")
    features = tuple(name for kind, _, name in parts if kind == "feature")
    ops = _STREAM_OPS if row.scan is not None else _FRAME_OPS
    return Claim(ops, tuple(dict.fromkeys(("none", *codecs))), ("reader", "produce"), (), features)


class Reference:
    """Adapter that claims every format of `FORMATS` and exact error classes."""

    name = "reference"
    version = __version__
    errors: Literal["exact", "coarse", "none"] = "exact"
    window = 64

    @property
    def revisions(self) -> Mapping[str, Claim]:
        """The claims, from the table of formats."""
        return {format_id: claim_of_row(row) for format_id, row in FORMATS.items()}

    def decode(self, request: Request) -> Outcome:
        """Decode as `formats.decode`."""
        row = _row(request)
        if row is None:
            return _unknown(request)
        try:
            decoded = formats.decode(row, request.data, request.options)
        except Rejected as rejected:
            return refused(rejected)
        remarks = tuple(remark.cls for remark in decoded.remarks)
        return Accepted(to_json(decoded.value), decoded.consumed, remarks=remarks)

    def encode(self, request: Request) -> Outcome:
        """Encode as `formats.encode`."""
        row = _row(request)
        if row is None:
            return _unknown(request)
        try:
            return Accepted(data=formats.encode(row, request.value, request.options))
        except Rejected as rejected:
            return refused(rejected)

    def scan(self, request: Request) -> Outcome:
        """Scan as `formats.scan`."""
        row = _row(request)
        if row is None or row.scan is None:
            return _unknown(request)
        try:
            items = list(formats.scan(row, request.chunks, request.options))
        except Rejected as rejected:
            return refused(rejected)
        remarks = tuple(remark.cls for item in items for remark in item.remarks)
        return Accepted(formats.items_json(items), sum(item.length for item in items), remarks=remarks)


def _row(request: Request) -> Format | None:
    return FORMATS.get(f"{request.format}/{request.revision}")


def _unknown(request: Request) -> Unsupported:
    return Unsupported(f"no {request.op} of {request.format}/{request.revision}")

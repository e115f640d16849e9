"""The adapter `columnar`: the fast decoders behind the adapter contract, held to every case of the reference.

Where the kernels answer, the value is made of what they found. Where they hand over, the answer is the
reference's and proves nothing of them: `answered` and `handed` count both. Design, section 2, "Two decoders
on purpose".
"""

from collections.abc import Mapping
from typing import Final, Literal

from attrs import evolve

from wireproof import __version__, formats
from wireproof.adapters.contract import Claim, Request
from wireproof.adapters.reference import Reference, claim_of_row
from wireproof.cases.case import Op
from wireproof.cases.outcome import Accepted, Outcome, Unsupported
from wireproof.columnar.decoding import DECODERS, scan_heka_items, scan_items
from wireproof.formats import FORMATS
from wireproof.wire.values import to_json

SCANNERS: Final = {"kafka.log/mixed": scan_items, "heka.stream/0.10": scan_heka_items}
OPS: Final[dict[tuple[bool, bool], tuple[Op, ...]]] = {
    (True, True): ("decode", "scan"),
    (True, False): ("decode",),
    (False, True): ("scan",),
}
"""By whether a format is among the decoders, and among the scanners."""


class Columnar:
    """Decodes what `DECODERS` names, scans what `SCANNERS` names, and writes nothing.

    Attributes:
        answered, handed: answers of the kernels and of the reference so far: decodes, or items of a scan.
    """

    name = "columnar"
    version = __version__
    errors: Literal["exact", "coarse", "none"] = "exact"
    window = 64

    def __init__(self) -> None:
        """Nothing answered yet."""
        self._reference = Reference()
        self.answered = 0
        self.handed = 0

    @property
    def revisions(self) -> Mapping[str, Claim]:
        """What the reference claims, but for encoding."""
        return {
            joined: evolve(claim_of_row(FORMATS[joined]), ops=OPS[joined in DECODERS, joined in SCANNERS])
            for joined in dict.fromkeys((*DECODERS, *SCANNERS))
        }

    def decode(self, request: Request) -> Outcome:
        """The kernels' value, or the reference's outcome."""
        decoder = DECODERS.get(f"{request.format}/{request.revision}")
        if decoder is None:
            return Unsupported(f"no decode of {request.format}/{request.revision}")
        decoded = decoder(request.data, request.options)
        if decoded is None:
            self.handed += 1
            return self._reference.decode(request)
        self.answered += 1
        return Accepted(to_json(decoded.value), decoded.consumed)

    def scan(self, request: Request) -> Outcome:
        """Every item; the chunks are joined, for the kernels want a buffer in one piece."""
        scanner = SCANNERS.get(f"{request.format}/{request.revision}")
        if scanner is None:
            return Unsupported(f"no scan of {request.format}/{request.revision}")
        items, handed = scanner(b"".join(request.chunks), request.options)
        self.handed += handed
        self.answered += len(items) - handed
        remarks = tuple(remark.cls for item in items for remark in item.remarks)
        return Accepted(formats.items_json(items), sum(item.length for item in items), remarks=remarks)

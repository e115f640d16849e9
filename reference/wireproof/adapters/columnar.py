"""The adapter `columnar`: the fast decoders behind the adapter contract, checked with every case.

If the kernels can decode the input, the answer is built from their columns. If they leave the input to the
reference, the answer is the reference's and proves nothing about the kernels. `answered` and
`by_reference` count the two kinds of answers.
"""

from collections.abc import Mapping
from typing import Final, Literal

from attrs import evolve

from wireproof import __version__
from wireproof.adapters.contract import Claim, Request
from wireproof.adapters.reference import Reference, claim_of_row
from wireproof.cases.case import Op
from wireproof.cases.outcome import Accepted, Outcome, Unsupported
from wireproof.cases.reference_answers import scan_outcome
from wireproof.columnar.decoders import DECODERS, scan_heka_items, scan_items
from wireproof.formats import FORMATS
from wireproof.wire.json_values import to_json
from wireproof.wire.options import DEFAULT_OPTIONS

SCANNERS: Final = {"kafka.log/mixed": scan_items, "heka.stream/0.10": scan_heka_items}
OPS: Final[dict[tuple[bool, bool], tuple[Op, ...]]] = {
    (True, True): ("decode", "scan"),
    (True, False): ("decode",),
    (False, True): ("scan",),
}
"""Operations by two flags: the format is in `DECODERS`, the format is in `SCANNERS`."""

V0: Final = "0000000000000001 00000010 1fecd70a 00 00 00000001 6b 00000001 76"
V0_PACKED: Final = """0000000000000000 00000031 9df81123 00 01 ffffffff 00000023
    1f8b08000000000000ff6360800301f937d7b9c02cc66c10510600705273291c000000"""
V1: Final = "0000000000000002 00000018 39268c33 01 00 0000018bcfe56800 00000001 6b 00000001 76"
V1_PACKED: Final = """0000000000000000 00000041 be56b66d 01 01 0000018bcfe56800 ffffffff 0000002b
    1f8b08000000000000ff63608003094bb51e63462083b1fbfcd30c900863368828030096f6de1824000000"""
V2: Final = """0000000000000000 0000003a 00000000 02 e99b8dd8 0000 00000000 0000018bcfe56800 0000018bcfe56800
    ffffffffffffffff ffff ffffffff 00000001 10 00 00 00 02 6b 02 76 00"""
V2_PACKED: Final = """0000000000000000 0000004e 00000000 02 d83f3114 0001 00000000
    0000018bcfe56800 0000018bcfe56800 ffffffffffffffff ffff ffffffff 00000001
    1f8b08000000000000ff1360606060ca662a630000a37fcfa609000000"""

WARM: Final = tuple(map(bytes.fromhex, (V0, V0_PACKED, V1, V1_PACKED, V2, V2_PACKED)))
"""An entry of each revision, uncompressed and compressed: kafka.md §1.1, §2.1, §3."""

WARM_FRAME: Final = bytes.fromhex("1e0208141f0a10101112131415161718191a1b1c1d2e2f1001")
"""A frame of Heka: heka.md §2."""

WARM_GARBAGE: Final = bytes(64)
"""Bytes before which no entry begins: the search for the next one is a kernel too."""


def warm() -> None:
    """Compile every kernel: a first compilation takes longer than the time limit of a case."""
    for entry in WARM:
        DECODERS[f"kafka.batch/v{entry[16]}"](entry, DEFAULT_OPTIONS)
    scan_items(b"".join(WARM))
    scan_items(WARM_GARBAGE + WARM[-1])
    DECODERS["kafka.log/mixed"](b"".join(WARM), DEFAULT_OPTIONS)
    scan_heka_items(WARM_FRAME)


class Columnar:
    """Adapter that decodes the formats in `DECODERS` and scans those in `SCANNERS`; it does not encode.

    Attributes:
        answered, by_reference: answers of the kernels and of the reference so far: decodes, or items of a
            scan.
    """

    name = "columnar"
    version = __version__
    errors: Literal["exact", "coarse", "none"] = "exact"
    window = 64

    def __init__(self) -> None:
        """Set both counters to zero; `warm` compiles the kernels."""
        warm()
        self._reference = Reference()
        self.answered = 0
        self.by_reference = 0

    @property
    def revisions(self) -> Mapping[str, Claim]:
        """Return the claims of the reference, without encoding."""
        return {
            format_id: evolve(
                claim_of_row(FORMATS[format_id]),
                ops=OPS[format_id in DECODERS, format_id in SCANNERS],
                observes=(),  # the kernels compute no derived fields
            )
            for format_id in dict.fromkeys((*DECODERS, *SCANNERS))
        }

    def decode(self, request: Request) -> Outcome:
        """Return the value of the kernels, or the outcome of the reference."""
        decoder = DECODERS.get(f"{request.format}/{request.revision}")
        if decoder is None:
            return Unsupported(f"no decode of {request.format}/{request.revision}")
        decoded = decoder(request.data, request.options)
        if decoded is None:
            self.by_reference += 1
            return self._reference.decode(request)
        self.answered += 1
        return Accepted(to_json(decoded.value), decoded.consumed)

    def scan(self, request: Request) -> Outcome:
        """Return every item; join the chunks first, because the kernels need one contiguous buffer."""
        scanner = SCANNERS.get(f"{request.format}/{request.revision}")
        if scanner is None:
            return Unsupported(f"no scan of {request.format}/{request.revision}")
        items, by_reference = scanner(b"".join(request.chunks), request.options)
        self.by_reference += by_reference
        self.answered += len(items) - by_reference
        return scan_outcome(items)

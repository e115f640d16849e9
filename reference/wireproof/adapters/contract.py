"""The adapter contract: one set of requests and answers, two bindings. Design, section 4.

A Python object is an adapter if it has `name`, `version` and any of `decode`, `encode`, `scan`, each a
call from `Request` to an `Accepted` (or any other outcome). It may raise `Rejected`; any other `Exception`
counts as a refusal of class `other`, untyped unless its type is listed in `documented`; what is no
`Exception`, such as a panic of Rust code, as a crash. A wrong call of this API is a fault of the adapter.
`revisions` holds its claims as in the hello of the design; what is missing is probed.
"""

from collections.abc import Mapping
from typing import Literal, Protocol, runtime_checkable

from attrs import field, frozen

from wireproof.cases.case import Limits, Op
from wireproof.cases.outcome import Outcome
from wireproof.wire.json_values import Json
from wireproof.wire.options import DEFAULT_OPTIONS, Options

PROTOCOL = 1


@frozen
class Claim:
    """What an adapter says of one format and revision; None leaves it to be probed.

    Attributes:
        ops: `decode`, `encode`, `scan`; none at all of an entry that its reader of streams does not know.
        codecs: `none`, `gzip`, `snappy`, `lz4`, `zstd`.
        profiles: `reader`, `produce`; None is a reader, which is never asked what only a broker decides.
        observes: patterns of the fields it shows; empty shows all.
        features: further capability atoms of `needs`, such as `control-batch`.
    """

    ops: tuple[Op, ...] | None = None
    codecs: tuple[str, ...] | None = None
    profiles: tuple[str, ...] | None = None
    observes: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None


@frozen
class Hello:
    """Who an adapter is and what it claims; `revisions` is keyed `kafka.batch/v2`; the rest is probed."""

    name: str
    version: str
    revisions: Mapping[str, Claim] = field(factory=dict)
    errors: Literal["exact", "coarse", "none"] = "coarse"
    window: int = 1
    cost: Literal["fast", "slow"] = "fast"
    protocol: int = PROTOCOL


@frozen
class Request:
    """One question. The id is opaque; it tells the adapter nothing of the case.

    `data` is for decode, `value` (JSON form) for encode, `chunks` for scan.
    """

    id: str
    op: Op
    format: str
    revision: str
    data: bytes = b""
    value: Json = None
    chunks: tuple[bytes, ...] = ()
    options: Options = DEFAULT_OPTIONS
    answer: Literal["value", "digest"] = "value"
    limits: Limits = field(default=Limits())

    @property
    def weight(self) -> int:
        """The bytes of its input."""
        return len(self.data) + sum(map(len, self.chunks))


@runtime_checkable
class Adapter(Protocol):
    """The least that a Python object must have; `decode`, `encode` and `scan` are looked up by name."""

    name: str
    version: str


class Codec(Protocol):
    """A whole adapter, for the type checker's sake."""

    name: str
    version: str

    def decode(self, request: Request) -> Outcome:
        """Answer a decode."""
        ...

    def encode(self, request: Request) -> Outcome:
        """Answer an encode."""
        ...

    def scan(self, request: Request) -> Outcome:
        """Answer a scan: `Accepted(value={"items": […]})`."""
        ...

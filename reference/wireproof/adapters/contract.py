"""The adapter contract: one set of requests and answers, two bindings. See `adapter-contract.md`.

A Python object is an adapter if it has `name`, `version` and any of `decode`, `encode`, `scan`. Each of these
takes a `Request` and returns an `Accepted` (or any other outcome). It may raise `Rejected`. Any other
`Exception` counts as a refusal of class `other`, untyped unless its type is listed in `documented`. A
`BaseException` that is no `Exception`, such as a panic of Rust code, counts as a crash. A wrong call of this
API is a fault of the adapter. `revisions` contains its claims, as in a hello; missing claims are probed.
"""

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from wireproof.cases.case import Limits, Op
from wireproof.wire.json_values import Json
from wireproof.wire.options import DEFAULT_OPTIONS, Options

PROTOCOL = 1


@frozen
class Claim:
    """The claims of an adapter about one format and revision: adapter-contract.md#claims.

    None leaves a claim to be probed; empty `ops` are those of an entry that its stream reader does not know.
    """

    ops: tuple[Op, ...] | None = None
    codecs: tuple[str, ...] | None = None
    profiles: tuple[str, ...] | None = None
    observes: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None


@frozen
class Hello:
    """Identity and claims of an adapter; keys of `revisions` are like `kafka.batch/v2`; others are probed.

    With `digests` it answers requests for digests; without, it is asked for no values above 1.5 MiB.
    `notes` are lines for the user, such as why something is not claimed.
    """

    name: str
    version: str
    revisions: Mapping[str, Claim] = field(factory=dict)
    errors: Literal["exact", "coarse", "none"] = "coarse"
    window: int = 1
    cost: Literal["fast", "slow"] = "fast"
    digests: bool = False
    notes: tuple[str, ...] = ()
    protocol: int = PROTOCOL


@frozen
class Request:
    """A request to decode, encode or scan. The id is opaque: it reveals nothing about the case.

    `data` is for decode, `value` (JSON form) for encode, `chunks` for scan, `steps` for a sequence.
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
    steps: tuple[Mapping[str, Json], ...] = ()

    @property
    def weight(self) -> int:
        return len(self.data) + sum(map(len, self.chunks))

"""One case: bytes (or a value) + what must happen + the rule it tests. Design, sections 1 and 3.

Golden, derived, property, fuzz, exchange and Spark runs all make these; nothing else is judged.
"""

from typing import Literal, TypeAlias

from attrs import evolve, field, frozen

from wireproof.wire.classes import RejectClass
from wireproof.wire.options import DEFAULT, Options
from wireproof.wire.rejected import At
from wireproof.wire.values import Json

Op = Literal["decode", "encode", "scan"]
Level = Literal["must", "should", "may", "info"]


@frozen
class Accept:
    """The case must be answered.

    Attributes:
        value: what the bytes stand for, in JSON form; for encode, what the bytes must decode back to.
        consumed: bytes used; None leaves it open.
        remarks: the classes that the reference remarks.
        data: for encode, every acceptable encoding; empty: judged by decoding back.
    """

    value: Json = None
    consumed: int | None = None
    remarks: tuple[str, ...] = ()
    data: tuple[bytes, ...] = ()


@frozen
class Reject:
    """The case must be refused as `cls`, or as one of `also`, after delivering `before`."""

    cls: RejectClass
    also: tuple[RejectClass, ...] = ()
    at: At | None = None
    before: Json = None


@frozen
class Behaviour:
    """One of several legal answers, with a name of its own."""

    id: str
    expect: Accept | Reject


@frozen
class Either:
    """The format leaves the answer open among `behaviours`."""

    behaviours: tuple[Behaviour, ...]


Expect: TypeAlias = Accept | Reject | Either


@frozen
class Data:
    """Bytes to decode."""

    data: bytes


@frozen
class Value:
    """A value to encode, in JSON form."""

    value: Json


@frozen
class Chunks:
    """Bytes to scan, in the pieces in which they arrive."""

    chunks: tuple[bytes, ...]


Input: TypeAlias = Data | Value | Chunks


@frozen
class Limits:
    """Bounds of one case: milliseconds, MiB of resident memory, bytes out per byte in."""

    ms: int = 2000
    rss_mb: int | None = None
    ratio: int | None = None


@frozen
class Witness:
    """An independent implementation that was run on the bytes and agrees."""

    name: str
    version: str


@frozen
class Source:
    """How the bytes came to be (`rulebook`, `hand`, `builder`, `broker`, `fuzz`, `peer`), and where."""

    origin: str
    document: str = ""
    witnesses: tuple[Witness, ...] = ()


@frozen
class Case:
    """See the table of the fixture file in design, section 3.

    A derived case has the id `<id>~<family>:<n>`, its parent's id in `parent` and its family's name in
    `family`; a golden one has neither.
    """

    id: str
    format: str
    revision: str
    input: Input
    expect: Expect
    title: str = ""
    why: str = ""
    op: Op = "decode"
    profile: Literal["reader", "produce"] = "reader"
    options: Options = DEFAULT
    level: Level = "must"
    rules: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    twin: str | None = None
    needs: tuple[str, ...] = ()
    source: Source = field(default=Source("hand"))
    limits: Limits = field(default=Limits())
    aliases: tuple[str, ...] = ()
    parent: str | None = None
    family: str | None = None

    @property
    def topic(self) -> str:
        """The third part of the id."""
        return self.id.split("/")[2]

    @property
    def joined(self) -> str:
        """Format and revision as they are shown: `kafka.batch/v2`."""
        return f"{self.format}/{self.revision}"

    @property
    def held_to(self) -> Options:
        """The options in the profile of the case."""
        options = self.options  # most cases have a reader's already, and this is asked for each of 300,000
        return options if options.profile == self.profile else evolve(options, profile=self.profile)

# The class of a value follows from its format where a type checker can know it.

from collections.abc import Iterable
from typing import Any, Generic, Literal, TypeVar, overload

from attrs import frozen
from hypothesis.strategies import SearchStrategy

from wireproof.heka.message import HekaMessage
from wireproof.heka.stream import FrameStream
from wireproof.kafka.values import Log, Message, RecordBatch
from wireproof.wire.options import Profile

_V = TypeVar("_V")

@frozen
class Encoded(Generic[_V]):
    data: bytes
    value: _V

@frozen
class NearlyValid(Generic[_V]):
    data: bytes
    value: _V
    edits: tuple[str, ...]

@overload
def values(
    format: Literal["kafka.batch"],
    revision: Literal["v2"],
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[RecordBatch]: ...
@overload
def values(
    format: Literal["kafka.batch"],
    revision: Literal["v0", "v1"],
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[Message]: ...
@overload
def values(
    format: Literal["kafka.log"],
    revision: str,
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[Log]: ...
@overload
def values(
    format: Literal["heka.message"],
    revision: str,
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[HekaMessage]: ...
@overload
def values(
    format: Literal["heka.stream"],
    revision: str,
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[FrameStream]: ...
@overload
def values(
    format: str,
    revision: str,
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[Any]: ...
@overload
def encoded(
    format: Literal["kafka.batch"],
    revision: Literal["v2"],
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[Encoded[RecordBatch]]: ...
@overload
def encoded(
    format: Literal["kafka.batch"],
    revision: Literal["v0", "v1"],
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[Encoded[Message]]: ...
@overload
def encoded(
    format: Literal["kafka.log"],
    revision: str,
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[Encoded[Log]]: ...
@overload
def encoded(
    format: Literal["heka.message"],
    revision: str,
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[Encoded[HekaMessage]]: ...
@overload
def encoded(
    format: Literal["heka.stream"],
    revision: str,
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[Encoded[FrameStream]]: ...
@overload
def encoded(
    format: str,
    revision: str,
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[Encoded[Any]]: ...
@overload
def nearly_valid(
    format: Literal["kafka.batch"],
    revision: Literal["v2"],
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[NearlyValid[RecordBatch]]: ...
@overload
def nearly_valid(
    format: Literal["kafka.batch"],
    revision: Literal["v0", "v1"],
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[NearlyValid[Message]]: ...
@overload
def nearly_valid(
    format: Literal["kafka.log"],
    revision: str,
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[NearlyValid[Log]]: ...
@overload
def nearly_valid(
    format: Literal["heka.message"],
    revision: str,
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[NearlyValid[HekaMessage]]: ...
@overload
def nearly_valid(
    format: Literal["heka.stream"],
    revision: str,
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[NearlyValid[FrameStream]]: ...
@overload
def nearly_valid(
    format: str,
    revision: str,
    *,
    codecs: Iterable[str] | None = None,
    profile: Profile = "reader",
    max_records: int = 129,
) -> SearchStrategy[NearlyValid[Any]]: ...
def value_classes(format: str, revision: str) -> dict[str, type]: ...

# The class of a value follows from its format where a type checker can know it.

from collections.abc import Iterable
from typing import Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, Unpack, overload

from attrs import frozen
from hypothesis.strategies import SearchStrategy

from wireproof.heka.message import HekaMessage
from wireproof.heka.stream import FrameStream
from wireproof.kafka.values import Log, Message, RecordBatch
from wireproof.wire.options import Profile

_V = TypeVar("_V")

_Batch: TypeAlias = Literal["kafka.batch"]
_Log: TypeAlias = Literal["kafka.log"]
_Message: TypeAlias = Literal["heka.message"]
_Stream: TypeAlias = Literal["heka.stream"]
_V2: TypeAlias = Literal["v2"]
_V0V1: TypeAlias = Literal["v0", "v1"]

class _Limits(TypedDict, total=False):
    codecs: Iterable[str] | None
    profile: Profile
    max_records: int

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
def values(format: _Batch, revision: _V2, **limits: Unpack[_Limits]) -> SearchStrategy[RecordBatch]: ...
@overload
def values(format: _Batch, revision: _V0V1, **limits: Unpack[_Limits]) -> SearchStrategy[Message]: ...
@overload
def values(format: _Log, revision: str, **limits: Unpack[_Limits]) -> SearchStrategy[Log]: ...
@overload
def values(format: _Message, revision: str, **limits: Unpack[_Limits]) -> SearchStrategy[HekaMessage]: ...
@overload
def values(format: _Stream, revision: str, **limits: Unpack[_Limits]) -> SearchStrategy[FrameStream]: ...
@overload
def values(format: str, revision: str, **limits: Unpack[_Limits]) -> SearchStrategy[Any]: ...
@overload
def encoded(
    format: _Batch, revision: _V2, **limits: Unpack[_Limits]
) -> SearchStrategy[Encoded[RecordBatch]]: ...
@overload
def encoded(
    format: _Batch, revision: _V0V1, **limits: Unpack[_Limits]
) -> SearchStrategy[Encoded[Message]]: ...
@overload
def encoded(format: _Log, revision: str, **limits: Unpack[_Limits]) -> SearchStrategy[Encoded[Log]]: ...
@overload
def encoded(
    format: _Message, revision: str, **limits: Unpack[_Limits]
) -> SearchStrategy[Encoded[HekaMessage]]: ...
@overload
def encoded(
    format: _Stream, revision: str, **limits: Unpack[_Limits]
) -> SearchStrategy[Encoded[FrameStream]]: ...
@overload
def encoded(format: str, revision: str, **limits: Unpack[_Limits]) -> SearchStrategy[Encoded[Any]]: ...
@overload
def nearly_valid(
    format: _Batch, revision: _V2, **limits: Unpack[_Limits]
) -> SearchStrategy[NearlyValid[RecordBatch]]: ...
@overload
def nearly_valid(
    format: _Batch, revision: _V0V1, **limits: Unpack[_Limits]
) -> SearchStrategy[NearlyValid[Message]]: ...
@overload
def nearly_valid(
    format: _Log, revision: str, **limits: Unpack[_Limits]
) -> SearchStrategy[NearlyValid[Log]]: ...
@overload
def nearly_valid(
    format: _Message, revision: str, **limits: Unpack[_Limits]
) -> SearchStrategy[NearlyValid[HekaMessage]]: ...
@overload
def nearly_valid(
    format: _Stream, revision: str, **limits: Unpack[_Limits]
) -> SearchStrategy[NearlyValid[FrameStream]]: ...
@overload
def nearly_valid(
    format: str, revision: str, **limits: Unpack[_Limits]
) -> SearchStrategy[NearlyValid[Any]]: ...
def value_classes(format: str, revision: str) -> dict[str, type]: ...

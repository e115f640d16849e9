# The value classes, for type checkers: python -m tests.support.value_stubs writes them.

from typing import Literal

from attrs import frozen

from wireproof.iggy.batch import BatchMessage
from wireproof.iggy.destination import Identifier
from wireproof.iggy.destination import Partitioning
from wireproof.iggy.header_kinds import HeaderValue

@frozen(kw_only=True)
class Batch:
    partition_id: int
    base_offset: int
    base_timestamp: int
    origin_timestamp: int
    batch_checksum: int = ...
    messages: tuple[BatchMessage, ...]

@frozen(kw_only=True)
class BatchHeader:
    partition_id: int
    base_offset: int
    base_timestamp: int
    origin_timestamp: int
    batch_checksum: int = ...
    message_count: int

@frozen
class ClassicFrame:
    code: int
    body: bytes

@frozen
class ClassicReply:
    status: int
    body: bytes

@frozen
class Consumer:
    kind: Literal['consumer', 'group'] | Literal['consumer', 'group', 'external_group']
    id: int | Identifier

@frozen
class DeferredPollMessages:
    consumer: Consumer
    stream: Identifier
    topic: Identifier
    partition_id: int | None
    strategy: PollingStrategy
    count: int
    auto_commit: bool
    wait_us: int
    min_count: int
    max_bytes: int
    request_timeout_us: int

@frozen
class EvictionHeader:
    client: int
    server_protocol_version: int
    server_protocol_version_min: int
    reason: int

@frozen
class FetchMessages:
    consumer: Consumer
    stream: Identifier
    topic: Identifier
    wait_us: int
    request_timeout_us: int
    min_count: int
    count: int
    max_bytes: int
    auto_commit: bool
    targets: tuple[FetchTarget, ...]

@frozen
class FetchTarget:
    partition_id: int
    strategy: PollingStrategy
    max_bytes: int
    incarnation: int
    owner_generation: int

@frozen
class PollMessages:
    consumer: Consumer
    stream: Identifier
    topic: Identifier
    partition_id: int | None
    strategy: PollingStrategy
    count: int
    auto_commit: bool

@frozen(kw_only=True)
class PolledMessage:
    offset: int
    timestamp: int
    id: int
    headers: tuple[tuple[bytes, HeaderValue], ...] | bytes | tuple[tuple[HeaderValue, HeaderValue], ...]
    payload: bytes

@frozen
class PolledMessages:
    messages: tuple[PolledMessage, ...] | tuple[BatchMessage, ...]

@frozen
class PollingStrategy:
    kind: Literal['offset', 'timestamp', 'first', 'last', 'next']
    value: int

@frozen
class Producer:
    producer_id: int
    epoch: int
    base_sequence: int

@frozen
class ReplyHeader:
    request_checksum: int
    context: int
    client: int
    op: int
    commit: int
    timestamp: int
    request: int
    operation: int
    status: int

@frozen(kw_only=True)
class RequestHeader:
    client: int
    request_checksum: int = ...
    timestamp: int
    request: int
    operation: int
    session: int
    user_id: int
    code: int

@frozen
class RetainedBatch:
    base_offset: int
    last_offset_delta: int
    max_timestamp: int
    messages: tuple[StoredMessage, ...]

@frozen
class Section:
    batches: tuple[BatchHeader, ...]
    messages: tuple[BatchMessage, ...]

@frozen
class Segment:
    ...

@frozen
class SendConfirmation:
    stream_id: int
    topic_id: int
    partition_id: int
    base_offset: int

@frozen
class SendMessages:
    stream: Identifier
    topic: Identifier
    partitioning: Partitioning
    messages: tuple[SentMessage, ...]

@frozen
class SendReply:
    confirmations: tuple[SendConfirmation, ...]

@frozen
class SentMessage:
    id: int
    headers: tuple[tuple[bytes, HeaderValue], ...] | bytes | tuple[tuple[HeaderValue, HeaderValue], ...]
    payload: bytes

@frozen(kw_only=True)
class StoredMessage:
    offset: int
    timestamp: int
    id: int
    checksum: int = ...
    headers: tuple[tuple[bytes, HeaderValue], ...] | bytes | tuple[tuple[HeaderValue, HeaderValue], ...]
    payload: bytes

@frozen
class VsrFrame:
    header: RequestHeader | ReplyHeader | EvictionHeader
    body: bytes

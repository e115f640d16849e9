"""The configuration of a topic, as far as it changes an append: Kafka's documentation, "Topic Configs"."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Self

from attrs import frozen

INT64_MAX: Final = (1 << 63) - 1

CODECS: Final = {"uncompressed": 0, "none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4, "producer": None}
"""The codec of each `compression.type`; None: the producer's."""

HOUR_MS: Final = 3_600_000

IGNORED: Final = frozenset(
    {
        *("retention.ms", "retention.bytes", "segment.bytes", "segment.jitter.ms"),
        *("segment.index.bytes", "delete.retention.ms", "file.delete.delay.ms", "flush.messages", "flush.ms"),
        *(
            "min.cleanable.dirty.ratio",
            "min.compaction.lag.ms",
            "max.compaction.lag.ms",
            "index.interval.bytes",
        ),
        *("min.insync.replicas", "unclean.leader.election.enable", "preallocate"),
        *("compression.gzip.level", "compression.lz4.level", "compression.zstd.level"),
    }
)
"""Settings that are taken and change nothing here."""


class InvalidSettingError(ValueError):
    """A topic cannot have this setting."""


@frozen
class TopicSettings:
    """The settings of a topic.

    Attributes:
        append_time: whether `message.timestamp.type` is LogAppendTime.
        codec: of `compression.type`, None for the producer's.
        compacted: whether `cleanup.policy` has `compact`.
        max_bytes: `max.message.bytes`.
        down_conversion: `message.downconversion.enable`.
        segment_ms: `segment.ms`; None where it is not given.
        before_ms, after_ms: `message.timestamp.before.max.ms` and `message.timestamp.after.max.ms`.
    """

    append_time: bool = False
    codec: int | None = None
    compacted: bool = False
    max_bytes: int = 1_048_588
    down_conversion: bool = True
    segment_ms: int | None = None
    before_ms: int = INT64_MAX
    after_ms: int = HOUR_MS

    @classmethod
    def parse(cls, configs: Mapping[str, str | None]) -> Self:
        """Return the settings of a CreateTopics request.

        Raises:
            InvalidSettingError: the name or the value is not known.
        """
        found: dict[str, Any] = {}
        for name, text in configs.items():
            if name in IGNORED:
                continue
            try:
                attribute, parsed = PARSED[name]
                found[attribute] = parsed(text or "")
            except (KeyError, ValueError):
                raise InvalidSettingError(f"a topic cannot have {name}={text}") from None
        return cls(**found)


def _number(text: str) -> int:
    number = int(text)
    if not 0 <= number <= INT64_MAX:
        raise ValueError(text)
    return number


def _policies(text: str) -> bool:
    policies = set(text.split(","))
    if not policies <= {"compact", "delete"}:
        raise ValueError(text)
    return "compact" in policies


PARSED: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "message.timestamp.type": ("append_time", {"CreateTime": False, "LogAppendTime": True}.__getitem__),
    "compression.type": ("codec", CODECS.__getitem__),
    "cleanup.policy": ("compacted", _policies),
    "max.message.bytes": ("max_bytes", _number),
    "message.downconversion.enable": ("down_conversion", {"true": True, "false": False}.__getitem__),
    "segment.ms": ("segment_ms", _number),
    "message.timestamp.before.max.ms": ("before_ms", _number),
    "message.timestamp.after.max.ms": ("after_ms", _number),
}
"""The attribute of each setting, and how its text is read."""

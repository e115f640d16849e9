"""Kafka's internal topics and the records that each has: kafka.md §15."""

from collections.abc import Mapping
from typing import Final

from wireproof.kafka.payloads.classic_groups import CLASSIC_GROUPS
from wireproof.kafka.payloads.consumer_groups import CONSUMER_GROUPS
from wireproof.kafka.payloads.framing import FramedTopic, InternalTopic, KeyedTopic
from wireproof.kafka.payloads.metadata_nodes import NODES
from wireproof.kafka.payloads.metadata_settings import SETTINGS
from wireproof.kafka.payloads.metadata_topics import TOPICS
from wireproof.kafka.payloads.remote_log_metadata import REMOTE_LOG_METADATA
from wireproof.kafka.payloads.share_group_state import SHARE_GROUP_STATE
from wireproof.kafka.payloads.share_groups import SHARE_GROUPS
from wireproof.kafka.payloads.streams_groups import STREAMS_GROUPS
from wireproof.kafka.payloads.transaction_state import TRANSACTION_STATE

INTERNAL_TOPICS: Final[Mapping[str, InternalTopic]] = {
    "__consumer_offsets": KeyedTopic({**CLASSIC_GROUPS, **CONSUMER_GROUPS, **SHARE_GROUPS, **STREAMS_GROUPS}),
    "__transaction_state": KeyedTopic(TRANSACTION_STATE),
    "__share_group_state": KeyedTopic(SHARE_GROUP_STATE),
    "__cluster_metadata": FramedTopic({**NODES, **TOPICS, **SETTINGS}),
    "__remote_log_metadata": FramedTopic(REMOTE_LOG_METADATA),
}
"""The topics whose keys and values have a layout, by name."""

"""The names of the numbers in payloads, as Kafka's classes write them: kafka.md §15.

Each table names the class. A number without a name is shown as a number.
"""

from typing import Final

TRANSACTION_STATES: Final = {
    0: "Empty", 1: "Ongoing", 2: "PrepareCommit", 3: "PrepareAbort", 4: "CompleteCommit", 5: "CompleteAbort",
    6: "Dead", 7: "PrepareEpochFence",
}  # fmt: skip
"""`TransactionState`."""

CONFIG_RESOURCE_TYPES: Final = {
    0: "UNKNOWN", 2: "TOPIC", 4: "BROKER", 8: "BROKER_LOGGER", 16: "CLIENT_METRICS", 32: "GROUP",
}  # fmt: skip
"""`ConfigResource.Type`."""

RESOURCE_TYPES: Final = {
    0: "UNKNOWN", 1: "ANY", 2: "TOPIC", 3: "GROUP", 4: "CLUSTER", 5: "TRANSACTIONAL_ID",
    6: "DELEGATION_TOKEN", 7: "USER",
}  # fmt: skip
"""`ResourceType`."""

PATTERN_TYPES: Final = {0: "UNKNOWN", 1: "ANY", 2: "MATCH", 3: "LITERAL", 4: "PREFIXED"}
"""`PatternType`."""

ACL_OPERATIONS: Final = {
    0: "UNKNOWN", 1: "ANY", 2: "ALL", 3: "READ", 4: "WRITE", 5: "CREATE", 6: "DELETE", 7: "ALTER",
    8: "DESCRIBE", 9: "CLUSTER_ACTION", 10: "DESCRIBE_CONFIGS", 11: "ALTER_CONFIGS", 12: "IDEMPOTENT_WRITE",
    13: "CREATE_TOKENS", 14: "DESCRIBE_TOKENS", 15: "TWO_PHASE_COMMIT",
}  # fmt: skip
"""`AclOperation`."""

ACL_PERMISSIONS: Final = {0: "UNKNOWN", 1: "ANY", 2: "DENY", 3: "ALLOW"}
"""`AclPermissionType`."""

SCRAM_MECHANISMS: Final = {0: "UNKNOWN", 1: "SCRAM_SHA_256", 2: "SCRAM_SHA_512"}
"""`ScramMechanism` of the admin client."""

SECURITY_PROTOCOLS: Final = {0: "PLAINTEXT", 1: "SSL", 2: "SASL_PLAINTEXT", 3: "SASL_SSL"}
"""`SecurityProtocol`."""

RECOVERY_STATES: Final = {0: "RECOVERED", 1: "RECOVERING"}
"""`LeaderRecoveryState`."""

FENCING_CHANGES: Final = {-1: "UNFENCE", 0: "NONE", 1: "FENCE"}
"""`BrokerRegistrationFencingChange`."""

SHUTDOWN_CHANGES: Final = {0: "NONE", 1: "IN_CONTROLLED_SHUTDOWN"}
"""`BrokerRegistrationInControlledShutdownChange`."""

ZK_MIGRATION_STATES: Final = {0: "NONE", 1: "MIGRATION", 2: "PRE_MIGRATION", 3: "POST_MIGRATION", 4: "ZK"}
"""`ZkMigrationState`, in versions before 4.0."""

CONSUMER_MEMBER_STATES: Final = {
    0: "STABLE", 1: "UNREVOKED_PARTITIONS", 2: "UNRELEASED_PARTITIONS", 127: "UNKNOWN"
}  # fmt: skip
"""`modern.MemberState`."""

SHARE_MEMBER_STATES: Final = CONSUMER_MEMBER_STATES
"""`modern.MemberState`, too."""

STREAMS_MEMBER_STATES: Final = {1: "STABLE", 2: "UNREVOKED_TASKS", 3: "UNRELEASED_TASKS", 127: "UNKNOWN"}
"""`streams.MemberState`."""

DELIVERY_STATES: Final = {0: "AVAILABLE", 2: "ACKNOWLEDGED", 4: "ARCHIVED"}
"""`SharePartition.RecordState`; a record that is acquired, 1, is not written."""

REMOTE_SEGMENT_STATES: Final = {
    0: "COPY_SEGMENT_STARTED", 1: "COPY_SEGMENT_FINISHED", 2: "DELETE_SEGMENT_STARTED",
    3: "DELETE_SEGMENT_FINISHED",
}  # fmt: skip
"""`RemoteLogSegmentState`."""

REMOTE_PARTITION_STATES: Final = {
    0: "DELETE_PARTITION_MARKED", 1: "DELETE_PARTITION_STARTED", 2: "DELETE_PARTITION_FINISHED"
}  # fmt: skip
"""`RemotePartitionDeleteState`."""

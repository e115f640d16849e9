"""Records of `__cluster_metadata` about settings, access, transactions and the rest: kafka.md §15.5."""

from typing import Final

from wireproof.kafka.payloads import codes
from wireproof.wire.struct_table import ListOf, StructField, VersionedStruct

CONFIG_RECORD: Final = VersionedStruct(
    "ConfigRecord",
    (
        StructField("resourceType", "int8", codes=codes.CONFIG_RESOURCE_TYPES),
        StructField("resourceName", "string"),
        StructField("name", "string"),
        StructField("value", "string", nullable="0+"),
    ),
    versions="0",
    flexible="0+",
)

DELEGATION_TOKEN_RECORD: Final = VersionedStruct(
    "DelegationTokenRecord",
    (
        StructField("owner", "string"),
        StructField("requester", "string"),
        StructField("renewers", ListOf("string")),
        StructField("issueTimestamp", "int64"),
        StructField("maxTimestamp", "int64"),
        StructField("expirationTimestamp", "int64"),
        StructField("tokenId", "string"),
    ),
    versions="0",
    flexible="0+",
)

USER_SCRAM_CREDENTIAL_RECORD: Final = VersionedStruct(
    "UserScramCredentialRecord",
    (
        StructField("name", "string"),
        StructField("mechanism", "int8", codes=codes.SCRAM_MECHANISMS),
        StructField("salt", "bytes"),
        StructField("storedKey", "bytes"),
        StructField("serverKey", "bytes"),
        StructField("iterations", "int32"),
    ),
    versions="0",
    flexible="0+",
)

FEATURE_LEVEL_RECORD: Final = VersionedStruct(
    "FeatureLevelRecord",
    (
        StructField("name", "string"),
        StructField("featureLevel", "int16"),
    ),
    versions="0",
    flexible="0+",
)

_ENTITY_DATA: Final = VersionedStruct(
    "EntityData",
    (
        StructField("entityType", "string"),
        StructField("entityName", "string", nullable="0+"),
    ),
)

CLIENT_QUOTA_RECORD: Final = VersionedStruct(
    "ClientQuotaRecord",
    (
        StructField("entity", ListOf(_ENTITY_DATA)),
        StructField("key", "string"),
        StructField("value", "float64"),
        StructField("remove", "bool"),
    ),
    versions="0",
    flexible="0+",
)

PRODUCER_IDS_RECORD: Final = VersionedStruct(
    "ProducerIdsRecord",
    (
        StructField("brokerId", "int32"),
        StructField("brokerEpoch", "int64"),
        StructField("nextProducerId", "int64"),
    ),
    versions="0",
    flexible="0+",
)

ACCESS_CONTROL_ENTRY_RECORD: Final = VersionedStruct(
    "AccessControlEntryRecord",
    (
        StructField("id", "uuid"),
        StructField("resourceType", "int8", codes=codes.RESOURCE_TYPES),
        StructField("resourceName", "string"),
        StructField("patternType", "int8", codes=codes.PATTERN_TYPES),
        StructField("principal", "string"),
        StructField("host", "string"),
        StructField("operation", "int8", codes=codes.ACL_OPERATIONS),
        StructField("permissionType", "int8", codes=codes.ACL_PERMISSIONS),
    ),
    versions="0",
    flexible="0+",
)

REMOVE_ACCESS_CONTROL_ENTRY_RECORD: Final = VersionedStruct(
    "RemoveAccessControlEntryRecord", (StructField("id", "uuid"),), versions="0", flexible="0+"
)

NO_OP_RECORD: Final = VersionedStruct("NoOpRecord", (), versions="0", flexible="0+")

ZK_MIGRATION_STATE_RECORD: Final = VersionedStruct(
    "ZkMigrationStateRecord",
    (StructField("zkMigrationState", "int8", codes=codes.ZK_MIGRATION_STATES),),
    versions="0",
    flexible="0+",
)

REMOVE_USER_SCRAM_CREDENTIAL_RECORD: Final = VersionedStruct(
    "RemoveUserScramCredentialRecord",
    (
        StructField("name", "string"),
        StructField("mechanism", "int8", codes=codes.SCRAM_MECHANISMS),
    ),
    versions="0",
    flexible="0+",
)

BEGIN_TRANSACTION_RECORD: Final = VersionedStruct(
    "BeginTransactionRecord",
    (StructField("name", "string", nullable="0+", tag=0, default=None),),
    versions="0",
    flexible="0+",
)

END_TRANSACTION_RECORD: Final = VersionedStruct("EndTransactionRecord", (), versions="0", flexible="0+")

ABORT_TRANSACTION_RECORD: Final = VersionedStruct(
    "AbortTransactionRecord",
    (StructField("reason", "string", nullable="0+", tag=0, default=None),),
    versions="0",
    flexible="0+",
)

REMOVE_DELEGATION_TOKEN_RECORD: Final = VersionedStruct(
    "RemoveDelegationTokenRecord", (StructField("tokenId", "string"),), versions="0", flexible="0+"
)

SETTINGS: Final = {
    4: CONFIG_RECORD,
    10: DELEGATION_TOKEN_RECORD,
    11: USER_SCRAM_CREDENTIAL_RECORD,
    12: FEATURE_LEVEL_RECORD,
    14: CLIENT_QUOTA_RECORD,
    15: PRODUCER_IDS_RECORD,
    18: ACCESS_CONTROL_ENTRY_RECORD,
    19: REMOVE_ACCESS_CONTROL_ENTRY_RECORD,
    20: NO_OP_RECORD,
    21: ZK_MIGRATION_STATE_RECORD,
    22: REMOVE_USER_SCRAM_CREDENTIAL_RECORD,
    23: BEGIN_TRANSACTION_RECORD,
    24: END_TRANSACTION_RECORD,
    25: ABORT_TRANSACTION_RECORD,
    26: REMOVE_DELEGATION_TOKEN_RECORD,
}
"""The record types by the number in the frame."""

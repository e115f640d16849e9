"""Records of `__cluster_metadata` about brokers and controllers: kafka.md §15.5."""

from typing import Final

from wireproof.kafka.payloads import codes
from wireproof.wire.struct_table import ListOf, StructField, VersionedStruct

_BROKER_ENDPOINT: Final = VersionedStruct(
    "BrokerEndpoint",
    (
        StructField("name", "string"),
        StructField("host", "string"),
        StructField("port", "uint16"),
        StructField("securityProtocol", "int16", codes=codes.SECURITY_PROTOCOLS),
    ),
)

_BROKER_FEATURE: Final = VersionedStruct(
    "BrokerFeature",
    (
        StructField("name", "string"),
        StructField("minSupportedVersion", "int16"),
        StructField("maxSupportedVersion", "int16"),
    ),
)

REGISTER_BROKER_RECORD: Final = VersionedStruct(
    "RegisterBrokerRecord",
    (
        StructField("brokerId", "int32"),
        StructField("isMigratingZkBroker", "bool", "2+"),
        StructField("incarnationId", "uuid"),
        StructField("brokerEpoch", "int64"),
        StructField("endPoints", ListOf(_BROKER_ENDPOINT)),
        StructField("features", ListOf(_BROKER_FEATURE)),
        StructField("rack", "string", nullable="0+"),
        StructField("fenced", "bool"),
        StructField("inControlledShutdown", "bool", "1+"),
        StructField("logDirs", ListOf("uuid"), "3+", tag=0),
        StructField("cordonedLogDirs", ListOf("uuid"), "4+", nullable="4+", tag=1, default=None),
    ),
    versions="0-4",
    flexible="0+",
)

UNREGISTER_BROKER_RECORD: Final = VersionedStruct(
    "UnregisterBrokerRecord",
    (
        StructField("brokerId", "int32"),
        StructField("brokerEpoch", "int64"),
    ),
    versions="0",
    flexible="0+",
)

FENCE_BROKER_RECORD: Final = VersionedStruct(
    "FenceBrokerRecord",
    (
        StructField("id", "int32"),
        StructField("epoch", "int64"),
    ),
    versions="0",
    flexible="0+",
)

UNFENCE_BROKER_RECORD: Final = VersionedStruct(
    "UnfenceBrokerRecord",
    (
        StructField("id", "int32"),
        StructField("epoch", "int64"),
    ),
    versions="0",
    flexible="0+",
)

BROKER_REGISTRATION_CHANGE_RECORD: Final = VersionedStruct(
    "BrokerRegistrationChangeRecord",
    (
        StructField("brokerId", "int32"),
        StructField("brokerEpoch", "int64"),
        StructField("fenced", "int8", tag=0, codes=codes.FENCING_CHANGES),
        StructField("inControlledShutdown", "int8", "1+", tag=1, codes=codes.SHUTDOWN_CHANGES),
        StructField("logDirs", ListOf("uuid"), "2+", tag=2),
        StructField("cordonedLogDirs", ListOf("uuid"), "3+", nullable="3+", tag=3, default=None),
    ),
    versions="0-3",
    flexible="0+",
)

_CONTROLLER_ENDPOINT: Final = VersionedStruct(
    "ControllerEndpoint",
    (
        StructField("name", "string"),
        StructField("host", "string"),
        StructField("port", "uint16"),
        StructField("securityProtocol", "int16", codes=codes.SECURITY_PROTOCOLS),
    ),
)

_CONTROLLER_FEATURE: Final = VersionedStruct(
    "ControllerFeature",
    (
        StructField("name", "string"),
        StructField("minSupportedVersion", "int16"),
        StructField("maxSupportedVersion", "int16"),
    ),
)

REGISTER_CONTROLLER_RECORD: Final = VersionedStruct(
    "RegisterControllerRecord",
    (
        StructField("controllerId", "int32"),
        StructField("incarnationId", "uuid"),
        StructField("zkMigrationReady", "bool"),
        StructField("endPoints", ListOf(_CONTROLLER_ENDPOINT)),
        StructField("features", ListOf(_CONTROLLER_FEATURE)),
    ),
    versions="0",
    flexible="0+",
)

UNREGISTER_CONTROLLER_RECORD: Final = VersionedStruct(
    "UnregisterControllerRecord", (StructField("controllerId", "int32"),), versions="0", flexible="0+"
)

NODES: Final = {
    0: REGISTER_BROKER_RECORD,
    1: UNREGISTER_BROKER_RECORD,
    7: FENCE_BROKER_RECORD,
    8: UNFENCE_BROKER_RECORD,
    17: BROKER_REGISTRATION_CHANGE_RECORD,
    27: REGISTER_CONTROLLER_RECORD,
    29: UNREGISTER_CONTROLLER_RECORD,
}
"""The record types by the number in the frame."""

"""The comparison of payloads with Kafka's tool, without the tool: records of real brokers and its lines."""

from each import each

from tests.broker.compare_payloads import in_words_of_the_tool, parsed
from wireproof.kafka.payloads import decode_payload

RECORDS = {
    "an offset": (
        "__consumer_offsets",
        "0001001367726f75702d6b61666b612d636c69656e747300126b61666b612d636c69656e74732d6b65707400000000",
        "0004000000000000011d0000000001000001a2085f31df010010c0d097ba247d449790bdff6d2188676e",
        """| offset: 2 CreateTime: 1795436786161 keySize: 47 valueSize: 42 sequence: 0 headerKeys: [] \
key: {"type":"1","data":{"group":"group-kafka-clients","topic":"kafka-clients-kept","partition":0}} \
payload: {"version":"4","data":{"offset":285,"leaderEpoch":0,"metadata":"","commitTimestamp":1795436786143,\
"topicId":"wNCXuiR9RJeQvf9tIYhnbg"}}""",
    ),
    "a deletion": (
        "__consumer_offsets",
        "0008000572656765780016464d6c31446d655252454b7357754453684533726f67",
        None,
        """| offset: 23 CreateTime: 1795439286057 keySize: 33 valueSize: -1 sequence: 0 headerKeys: [] \
key: {"type":"8","data":{"groupId":"regex","memberId":"FMl1DmeRREKsWuDShE3rog"}} payload: <DELETE>""",
    ),
    "a group": (
        "__consumer_offsets",
        "0002001367726f75702d6b61666b612d636c69656e7473",
        (
            "00030008636f6e73756d657200000001000572616e676500386b61666b612d707974686f6e2d332e302e31322d37643331663564"
            "382d373866302d343433372d383032362d363663386165373266363731000001a2085f30700000000100386b61666b612d707974"
            "686f6e2d332e302e31322d37643331663564382d373866302d343433372d383032362d363663386165373266363731ffff00136b"
            "61666b612d707974686f6e2d332e302e3132000a2f3132372e302e302e31000493e00000afc80000001e00000000000100126b61"
            "666b612d636c69656e74732d6b657074000000000000002600000000000100126b61666b612d636c69656e74732d6b6570740000"
            "00010000000000000000"
        ),
        """| offset: 1 CreateTime: 1795436785793 keySize: 23 valueSize: 270 sequence: 0 headerKeys: [] \
key: {"type":"2","data":{"group":"group-kafka-clients"}} \
payload: {"version":"3","data":{"protocolType":"consumer","generation":1,"protocol":"range",\
"leader":"kafka-python-3.0.12-7d31f5d8-78f0-4437-8026-66c8ae72f671","currentStateTimestamp":1795436785776,\
"members":[{"memberId":"kafka-python-3.0.12-7d31f5d8-78f0-4437-8026-66c8ae72f671","groupInstanceId":null,\
"clientId":"kafka-python-3.0.12","clientHost":"/127.0.0.1","rebalanceTimeout":300000,"sessionTimeout":45000,\
"subscription":{"topics":["kafka-clients-kept"],"userData":""},\
"assignment":{"assignedPartitions":[{"topic":"kafka-clients-kept","partitions":[0]}],"userData":""}}]}}""",
    ),
    "a feature": (
        "__cluster_metadata",
        None,
        "010c00116d657461646174612e76657273696f6e002100",
        """| offset: 4 CreateTime: 1795436747401 keySize: -1 valueSize: 23 sequence: -1 headerKeys: [] \
payload: {"type":"FEATURE_LEVEL_RECORD","version":0,"data":{"name":"metadata.version","featureLevel":33}}""",
    ),
    "a remote segment": (
        "__remote_log_metadata",
        None,
        (
            "01000005636f6c6484d8ccdc6c0044fd86fce745d1925a6a0000000000d6582b00d9684dbbb8a965af7929af9f00000000000000"
            "0000000000000000000900000001000001a208854612000001a2088546f50200000000000000000000000000000f451000000100"
            "0101"
        ),
        """| offset: 0 CreateTime: 1795439281921 keySize: -1 valueSize: 106 sequence: 0 headerKeys: [] \
payload: RemoteLogSegmentMetadata{remoteLogSegmentId=RemoteLogSegmentId{\
topicIdPartition=hNjM3GwARP2G_OdF0ZJaag:cold-0, id=1lgrANloTbu4qWWveSmvnw}, startOffset=0, endOffset=9, \
brokerId=1, maxTimestampMs=1795439281682, eventTimestampMs=1795439281909, segmentLeaderEpochs={0=0}, \
segmentSizeInBytes=1000720, customMetadata=Optional.empty, state=COPY_SEGMENT_STARTED, txnIdxEmpty=true}""",
    ),
    "an update of a remote segment": (
        "__remote_log_metadata",
        None,
        (
            "01010005636f6c6484d8ccdc6c0044fd86fce745d1925a6a0000000000ceef43f4abdc472e8f54d32d63688ecb00000000010000"
            "01a2088547f9040102030100"
        ),
        """| offset: 3 CreateTime: 1795439282169 keySize: -1 valueSize: 64 sequence: 3 headerKeys: [] \
payload: RemoteLogSegmentMetadataUpdate{remoteLogSegmentId=RemoteLogSegmentId{\
topicIdPartition=hNjM3GwARP2G_OdF0ZJaag:cold-0, id=zu9D9KvcRy6PVNMtY2iOyw}, \
customMetadata=Optional[CustomMetadata{3 bytes}], state=COPY_SEGMENT_FINISHED, \
eventTimestampMs=1795439282169, brokerId=1}""",
    ),
}
"""Topic, key, value, and the line that DumpLogSegments 4.3 prints with the decoder of the topic."""


@each("topic, key, value, line", RECORDS.values())
def test_a_payload_in_the_words_of_the_tool_is_what_the_tool_prints(
    topic: str, key: str | None, value: str | None, line: str
) -> None:
    payload = decode_payload(topic, key and bytes.fromhex(key), value and bytes.fromhex(value))
    assert list(parsed(line).values()) == [in_words_of_the_tool(payload)]

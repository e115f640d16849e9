"""The meaning of the records of Kafka's internal topics, for a listing: kafka.md §15."""

from typing import Any

from wireproof.kafka.payloads import Payload, decode_payload, is_internal_topic
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import Rejected


def record_meaning(folder: str, cells: tuple[Any, ...]) -> dict[str, Json] | None:
    """Return what key and value of a record mean; None for a record of another topic and a control record.

    Args:
        folder: the name of the folder of the log, which is that of the partition: `__consumer_offsets-12`.
        cells: of the record, as `listing.RECORD_COLUMNS` names them.
    """
    topic = folder.rpartition("-")[0]
    *_, key, value, _, control = cells
    if control is not None or not is_internal_topic(topic):
        return None
    try:
        return payload_tree(decode_payload(topic, key, value))
    except Rejected as refused:
        before = payload_tree(refused.before) if isinstance(refused.before, Payload) else {}
        return {**before, "wrong": f"{refused.cls} at {refused.at} ({refused.path}): {refused.text}"}


def payload_tree(payload: Payload) -> dict[str, Json]:
    """Return what a payload means, as a tree."""
    tree: dict[str, Json] = {
        "name": payload.name,
        "type": payload.type,
        "version": payload.version,
        **payload.fields,
    }
    if payload.code_names:
        tree["codes"] = dict(payload.code_names)
    return {**tree, "note": payload.note} if payload.note else tree

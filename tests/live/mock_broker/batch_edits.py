"""What the edits of faulty brokers need to know of the bytes that they change."""

from wireproof.live.loopback_broker.append_rules import BODY
from wireproof.live.loopback_broker.faults import with_right_crc


def is_sound(data: bytes) -> bool:
    """Report whether the bytes are one batch with a right CRC, so that a change of it means something."""
    return len(data) >= BODY and first_size(data) == len(data) and with_right_crc(data) == data


def first_size(data: bytes) -> int:
    return 12 + int.from_bytes(data[8:12], "big", signed=True)

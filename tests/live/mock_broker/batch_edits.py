"""Edits of stored batches, from which faulty brokers are made."""

from struct import pack_into
from typing import Final

from attrs import evolve

from wireproof.kafka.batch import HEADER
from wireproof.kafka.family.loopback_broker import append_rules
from wireproof.kafka.family.loopback_broker.append_rules import BODY, Form
from wireproof.kafka.layouts import BATCH
from wireproof.kafka.values import Record
from wireproof.wire.checksums import crc32c

CRC_AT: Final = BATCH.offset("crc")


def with_crc(data: bytes, crc: int) -> bytes:
    changed = bytearray(data)
    pack_into(">I", changed, CRC_AT, crc)
    return bytes(changed)


def with_right_crc(data: bytes) -> bytes:
    """Return the bytes of one batch with the CRC that they should have."""
    return with_crc(data, crc32c(data[BATCH.offset("attributes") :])) if len(data) >= BODY else data


def with_numbers(data: bytes, **numbers: int) -> bytes:
    """Return the bytes of a batch with these fields of its header, and the right CRC."""
    fields = dict(zip(HEADER.offsets, HEADER.peek(data, 0), strict=True)) | numbers
    return with_right_crc(HEADER.packing.pack(*fields.values()) + data[BODY:])


def with_records(form: Form, records: tuple[Record, ...]) -> Form:
    header = evolve(form.header, records=records)
    return Form(header, append_rules.written_records(header))


def is_sound(data: bytes) -> bool:
    """Report whether the bytes are one batch with a right CRC, so that a change of it means something."""
    return len(data) >= BODY and first_size(data) == len(data) and with_right_crc(data) == data


def first_size(data: bytes) -> int:
    return 12 + int.from_bytes(data[8:12], "big", signed=True)

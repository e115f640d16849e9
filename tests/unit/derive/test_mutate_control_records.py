"""Control records as the mutators write them: every type of kafka.md §1.9 is met, sound and not."""

from random import Random

from wireproof.kafka import control_record, control_types
from wireproof.kafka.suite.mutation import RECORD_VALUES, random_control_record
from wireproof.kafka.values import Control, Record
from wireproof.wire.reader import TracingReader
from wireproof.wire.rejection import Rejected


def typed(record: Record) -> tuple[Control | None, bool]:
    """Return the content of a control record, and True if something about it is strange."""
    key, value = record.key or b"", record.value or b""
    reader = TracingReader(key + value)
    found = control_record.parse(reader, key, 0, value, len(key))
    return found, bool(reader.remarks)


def test_every_type_is_met_with_a_content_that_is_read_whole() -> None:
    kinds: set[int] = set()
    for seed in range(2000):
        try:
            found, strange = typed(random_control_record(Random(seed)))
        except Rejected:
            continue
        if found is not None and not strange:
            kinds.add(found.type)
    assert kinds >= {control_types.ABORT, control_types.COMMIT, *RECORD_VALUES}


def test_a_content_that_is_sound_leaves_no_byte() -> None:
    for kind, write in RECORD_VALUES.items():
        for seed in range(50):
            key = b"\0\0" + kind.to_bytes(2, "big")
            found, strange = typed(Record(0, 0, 0, key, write(Random(seed)), ()))
            assert found is not None
            assert (found.type, found.version is None, strange) == (kind, False, False)

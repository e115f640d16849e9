"""The published check values of each checksum, and the header bytes of kafka.md, section 6."""

from wireproof.wire.checksums import crc32, crc32c, lz4_header_checksum, xxh3_64, xxh32

NINE = b"123456789"


def test_the_check_values_are_the_published_ones() -> None:
    assert crc32c(NINE) == 0xE3069283  # CRC-32/ISCSI of the catalogue of parametrised CRC algorithms
    assert crc32(NINE) == 0xCBF43926  # CRC-32/ISO-HDLC, the same
    assert xxh32(b"") == 0x02CC5D05  # xxHash specification, empty input, seed 0
    assert xxh3_64(b"") == 0x2D06800538D394C2  # the same


def test_a_crc_goes_on_where_it_stopped() -> None:
    assert crc32(NINE[4:], crc32(NINE[:4])) == crc32(NINE)


def test_the_lz4_header_byte_is_that_of_e27_and_e28() -> None:
    descriptor = bytes.fromhex("6040")
    assert lz4_header_checksum(descriptor) == 0x82
    assert lz4_header_checksum(bytes.fromhex("04224d18") + descriptor) == 0x1A

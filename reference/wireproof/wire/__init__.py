"""Building blocks that all formats share: the lowest layer (architecture.md#layers).

Readers and writers that know the path of the current field, checksums, the framing of compressed data,
protobuf wire fields, rejections and remarks, and the JSON form of values.
"""

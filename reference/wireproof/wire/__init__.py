"""Floor 0: bytes with names.

Readers and writers that know the path of the field they stand on; checksums, the frames around compressed
blocks, protobuf wire fields, refusals and remarks, values in JSON.
"""

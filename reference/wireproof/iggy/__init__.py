"""The reference codecs of Iggy's messages and message headers: rulebook iggy.md.

Every integer is little-endian. The editions of a format differ by rows of tables, never by branches.
"""

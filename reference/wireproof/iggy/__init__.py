"""The reference codecs for Iggy's messages and message headers, as iggy.md specifies them.

All integers are little-endian. The revisions of a format differ by rows of tables, never by branches.
"""

from wireproof.iggy.remark_classes import IGGY_REMARKS
from wireproof.wire.remark_classes import register

register(IGGY_REMARKS)

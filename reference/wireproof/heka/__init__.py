"""The reference codecs of Heka's messages and streams, after heka.md.

Ids such as `M36` and `S19` are test vectors in heka.md.
"""

from wireproof.heka.remark_classes import HEKA_REMARKS
from wireproof.wire.remark_classes import register

register(HEKA_REMARKS)

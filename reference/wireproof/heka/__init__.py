"""The reference codecs of Heka's messages and streams, after heka.md.

Ids such as `M36` and `S19` are test vectors in heka.md. The modules for the search of frames in damaged
streams (`scan`, `resync_modes`) and for the comparison of its modes (`mode_comparison`) are here too.
"""

from wireproof.heka.remark_classes import HEKA_REMARKS
from wireproof.wire.remark_classes import register

register(HEKA_REMARKS)

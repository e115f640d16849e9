"""The reference codecs of Heka's messages and streams, after heka.md.

Ids such as `M36` and `S19` are test vectors in heka.md. The modules for the search of frames in damaged
streams (`scan`, `framing`) and for the comparison of its modes (`account`) are here too.
"""

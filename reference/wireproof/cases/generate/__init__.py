"""Generated cases: a rule in the fixture from which the input and the expected value are made.

`recipe` has the words of a rule, `payload` the bytes of values, and `compressed` the compressed forms. The
families lay the parts out, in their modules `made_…`. Nothing here and in these modules uses the reference
codecs or a compressor, so that the bytes are independent of both, and equal on every machine.
"""

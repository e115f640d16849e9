"""Generated cases: a rule in the fixture from which the input and the expected value are made.

`recipe` has the words of a rule, `payload` the bytes of values, `compressed` the compressed forms, and a
module for each system lays the parts out. Nothing here uses the reference codecs or a compressor, so that the
bytes are independent of both, and equal on every machine.
"""

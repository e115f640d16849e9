"""The tools of fast decoders: compiled kernels for integers, checksums and compressed data, and Arrow types.

A family has the fast decoders of its formats in its own package; `Family.fast_decoders` names them. Without
numba and pyarrow the import of a module fails with one line that names the extra.
"""

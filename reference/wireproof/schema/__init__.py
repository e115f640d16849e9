"""One description of a structure, from which its codec is compiled: architecture.md#schema.

`struct` has the description, `rules` what the bytes may say beyond their types, `compiling` the functions
that run.
"""

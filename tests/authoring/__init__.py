"""Modules that write the golden cases of `fixtures/` from named parts; none of the parts is code of the package.

`python -m tests.authoring [heka] [iggy] [kafka]` writes the files again. The bytes of a case never change.
"""

"""The builder of new golden cases, parts of bytes for it, and the recording of witnesses.

`python -m tests.authoring add FILE` writes and freezes new cases. Nothing that makes bytes here is code of the package.
"""

"""Independent readers of all formats, and the checks of the golden cases with them.

They follow the format documents as the reference does, and share no code with it: a mistake of the reference,
or a value in a fixture that was copied from it, is one that they do not make.
"""

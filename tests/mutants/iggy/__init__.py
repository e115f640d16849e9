"""Mutants of the Iggy formats, by topic."""

"""Mutants of the Heka formats, by topic."""

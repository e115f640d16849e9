"""Mutants, which are copies of the reference with one planted bug each, and the tool that runs them.

The suite must catch every mutant: this measures the suite, not a codec. Run `python -m tests.mutants`.
"""

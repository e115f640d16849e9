"""Hypothesis strategies for the tests of a codec: `values` and `nearly_valid` of a format and revision."""

from wireproof.cases.strategies import nearly_valid, values

__all__ = ["nearly_valid", "values"]

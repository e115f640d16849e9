"""Inputs that nobody wrote: families of edited cases, mutations, examples, Hypothesis strategies."""

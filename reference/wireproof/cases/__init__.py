"""Cases: the fixtures, what they expect, the rules that they test, outcomes, tokens."""

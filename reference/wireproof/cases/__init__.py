"""Floor 4: cases, outcomes, fixtures and their linter, tokens, damage and the families derived from it."""

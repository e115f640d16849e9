"""Cases: fixtures and their linter, outcomes, tokens, edits of bytes, and families of derived cases."""

"""Parts of Iggy's bytes for new cases."""

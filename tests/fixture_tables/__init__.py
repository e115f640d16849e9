"""The tables beside the fixtures that say what stands behind a case, and their checks and figures."""

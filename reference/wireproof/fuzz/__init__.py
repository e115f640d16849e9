"""Generated inputs: finding, shrinking and keeping what a codec gets wrong. Design, section 2, floor 7."""

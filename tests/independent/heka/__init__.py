"""A reader of Heka's messages and frames."""

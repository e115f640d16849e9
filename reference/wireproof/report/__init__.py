"""Floor 7: the views of a stream of events."""

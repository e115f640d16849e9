"""Floor 6: the engine asks, the judge decides, events tell."""

"""The judge decides, the differences explain, and a signature names equal findings."""

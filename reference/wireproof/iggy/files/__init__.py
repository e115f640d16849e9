"""The files beside the segments of an Iggy server."""

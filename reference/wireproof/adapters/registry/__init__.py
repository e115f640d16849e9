"""The adapters that a user can name: where they are found, built, and started."""

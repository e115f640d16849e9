"""The views of a run: terminal, HTML, Markdown, JUnit, badges, and the pages of `docs`."""

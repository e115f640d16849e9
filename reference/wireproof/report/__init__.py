"""The views of a run: terminal, HTML, Markdown, JUnit and badges."""

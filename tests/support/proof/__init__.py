"""The proof that a change of the code loses nothing: record what a commit does, and compare two records."""

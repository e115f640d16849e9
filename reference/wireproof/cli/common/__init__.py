"""What several verbs share: options, progress, the output of a run."""

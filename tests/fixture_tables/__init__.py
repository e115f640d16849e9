"""What stands behind the cases, checked and counted: vectors of documents, known bugs, witnesses."""

"""What other tools keep: recognised, read into drafts, compared with the store, written at once."""

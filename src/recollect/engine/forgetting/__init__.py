"""Forgetting: rows, words in messages, files; and what is owed where it could not be done at once."""

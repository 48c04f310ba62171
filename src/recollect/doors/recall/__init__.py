"""The recall door: one question, what is remembered about it, and how long finding it took."""

"""Vectors that live outside the store, for the data chat's search over earlier questions. They are copies of what the store
holds: ids, scopes and labels, never a word of what was said."""

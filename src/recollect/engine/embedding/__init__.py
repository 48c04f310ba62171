"""Vectors: who makes them, at which pace, for whom first, and how one model follows another."""

"""Embedders, caches and the clock, against real servers and real weights."""

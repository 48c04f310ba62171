"""A scope as lines, out of one store and into another, complete and checked."""

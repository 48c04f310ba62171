"""A whole deployment that is broken on purpose, part by part, while people use it; see `soak`. Nothing is imported here: the
embedding provider is a module of this package and a process of its own, and is to start at once."""

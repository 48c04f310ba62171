"""Other memories, asked the same questions over the same texts with the same vectors, each in an environment of its own."""

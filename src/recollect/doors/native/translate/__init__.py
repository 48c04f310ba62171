"""Between the wire and the engine: pure functions, nothing decided here."""

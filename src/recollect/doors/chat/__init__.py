"""The chat door: talk to an assistant that remembers, by JSON or as a stream of events."""

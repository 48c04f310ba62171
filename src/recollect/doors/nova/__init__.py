"""The door for agents: memory as tools over HTTP, what to tell an agent about them, and where embeddings come from."""

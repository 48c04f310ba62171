"""Real servers for tests: PostgreSQL with pgvector and Valkey, from wheels; they start in a second."""

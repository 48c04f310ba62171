"""Background work: who gets a turn, what becomes of bad texts, and what survives the death of workers and brokers."""

"""Doors only translate: a foreign protocol in, the engine's verbs, the foreign protocol out. They never meet each other."""

"""Who does the background work. The functions are the engine's; a runner here only decides when and where they run."""

"""The page: what is remembered, to look at and to control. Static files over the public API, nothing else."""

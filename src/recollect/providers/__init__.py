"""What Recollect asks of the outside: embedders, caches and the time of day, each behind a port."""

"""Who may see what, what text may do, and what remains of something forgotten: no one, nothing, nothing."""

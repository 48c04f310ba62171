"""Who is asking: one file per source of identity, and one that chooses among them by the settings.

Every source gives a `Caller` or raises `Unauthenticated` with the reason, which goes to the log and nowhere else. Whoever was
refused is told one sentence, the same for all reasons.
"""

"""Where memories live: one contract (`recollect.ports.Store`), two homes (SQLite, Postgres), one set of
tables.
"""

"""What to do when a database server turns a connection away. The driver tells the reason in the server's words and no other way,
so it is known by its words; one that isn't known is passed on as it is.
"""

from __future__ import annotations

import re

ADVICE = (
    (
        r"password authentication failed|no password supplied",
        "correct the password in the address, or the role's password",
    ),
    (r'database ".*" does not exist', "correct the database's name in the address, or create it: CREATE DATABASE …"),
    (r'role ".*" does not exist', "correct the user in the address, or create it: CREATE ROLE … LOGIN PASSWORD '…'"),
    (r"no pg_hba\.conf entry", "allow this machine and role in the server's pg_hba.conf"),
    (r"resolve host|translate host|name or service not known", "correct the host's name in the address"),
    (r"connection refused|no such file or directory", "start the server, or correct host and port in the address"),
    (r"timeout|timed out", "check that the server can be reached from here: host, port, firewall"),
    (r"does not support SSL|SSL", "correct sslmode in the address"),
    (
        r"too many (clients|connections)|remaining connection slots",
        "lower RECOLLECT_POOL_SIZE, or raise max_connections",
    ),
    (r"starting up|shutting down|recovery", "try again in a moment"),
    (
        r'extension "vector" is not available|vector\.control',
        "install pgvector 0.7 or newer on the server, then run `recollect db upgrade` again",
    ),
    (r"permission denied to create extension", "let an administrator run CREATE EXTENSION vector in this database"),
    (r"permission denied", "run it with the owner's address: RECOLLECT_MIGRATE_URL"),
    (r"file is not a database", "name another file: this one holds something else"),
    (r"unable to open database file", "check the path, and that its folder is there and can be written"),
)


def advised(said: str) -> str:
    """What was said, and what can be done about it."""
    for words, advice in ADVICE:
        if re.search(words, said, re.IGNORECASE):
            return f"{said}; {advice}"
    return said

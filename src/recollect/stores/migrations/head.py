"""The revision this code expects. Plain, so that opening a current database needs nothing of Alembic's."""

HEAD = "0013"

"""What an answer over data is found by, and which tables it and a summary rest on: who has lost one sees neither.

All columns may be empty, and are for everything stored before. Code that doesn't know them goes on working.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from recollect.stores.sql.types import Names

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("messages", sa.Column("searchable", sa.Text))
    op.add_column("messages", sa.Column("grounds", Names))
    op.add_column("conversations", sa.Column("summary_grounds", Names))

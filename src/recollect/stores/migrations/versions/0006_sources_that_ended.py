"""When the conversation a memory was taken from reached its end: the memory stays and says so.

The column may be empty, and is for everything stored before.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from recollect.stores.sql.types import Instant

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("memories", sa.Column("source_expired_at", Instant))

"""The span of time a text speaks of, beside the time it was told: "we moved last Saturday" is about that Saturday.

Both columns may be empty, and are for everything stored before. Code that doesn't know them goes on working.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from recollect.stores.sql.types import Instant

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("about_from", "about_until"):
        op.add_column("entries", sa.Column(name, Instant))

"""The reference store: what a store means, in plain Python, with nothing clever that could be wrong.

Dictionaries, sorting and brute force, one copy per transaction. The contract suite runs over it as over the
SQL stores, and the state machine drives them side by side: where they differ, this is the one a reader can
check by eye.
"""

from recollect.testing.reference.store import ReferenceStore

__all__ = ["ReferenceStore"]

"""The contract kit: real, simple implementations of the ports, to test Recollect and what is built on it.

Nothing here pretends. The reference store passes the suite the SQL stores pass, the hash embedder embeds, the
clock tells a time; faults come from wrappers one can see. Probes look at files and tables directly, past the
code under test.
"""

from recollect.testing.answerer import ScriptedAnswerer
from recollect.testing.canary import columns_containing, files_containing
from recollect.testing.chat import ScriptedChat
from recollect.testing.clock import ManualClock
from recollect.testing.embedder import FaultyEmbedder, HashEmbedder
from recollect.testing.reference import ReferenceStore
from recollect.testing.vectors import FaultyIndex, ReferenceIndex, StoreIndex

__all__ = [
    "FaultyEmbedder",
    "FaultyIndex",
    "HashEmbedder",
    "ManualClock",
    "ReferenceIndex",
    "ReferenceStore",
    "ScriptedAnswerer",
    "ScriptedChat",
    "StoreIndex",
    "columns_containing",
    "files_containing",
]

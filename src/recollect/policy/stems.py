"""English words without their endings: what an index, a slot and a topic compare.

The package would keep ten thousand words in mind for each who uses it, for longer than whoever said them may want. It saves next
to nothing, and the index has a bounded memory of its own (`text`), so it is left off.
"""

from __future__ import annotations

from collections.abc import Callable

import Stemmer

stem: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord

"""Questions answered without a model: by adapting the SQL of the question before, or building it where a match is plain.

Every word of a question has to be accounted for. What is left over, or could mean two things, is said and not guessed.
"""

from __future__ import annotations

from recollect.providers.answerers.rules.first import begin
from recollect.providers.answerers.rules.followup import adapt
from recollect.providers.answerers.rules.saying import Adapted, Cannot

__all__ = ["Adapted", "Cannot", "adapt", "begin"]

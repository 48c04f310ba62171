"""Doubt: why a question may have no answer here, although some texts resemble it.

Two people who chat for a year touch everything, so in a large memory something always comes near a question. Two things tell:

- `owed`: a question of fact whose words nowhere stand together has only meaning to go by, and in a large memory, the more so of
  long texts, chance brings meaning nearer than independent cosines would. It owes so many spreads more;
- `belief`: a question about a person is answered by that person's turns. If another's hold clearly more of its words, what is
  asked was said by another mouth, and no hit is quite believed.

Both were chosen so that hardly one in a hundred answers is lost in any family of development sets, nor of questions that share no
word with their answer ("Which herb do I dislike?"): finding those is what meaning is for.
"""

from __future__ import annotations

import numpy as np

from recollect.policy.postings import Floats
from recollect.policy.question import Question
from recollect.policy.relevance import CUT, crowd
from recollect.policy.shelf import Shelf

_FACT, _PAGE = 0.7, 4.0
"""Spreads demanded of a fact among short texts, and among pages. None of advice: it rests on tastes told in other words."""
_WORTH = 10.0
"""Spreads that all of a question's words together pay off."""
_LEAD = 0.37
"""By how much of a question's rarity another mouth must lead for the surest hit to fall below the cut."""


def doubt(shelf: Shelf, question: Question, coverage: Floats) -> dict[str, float]:
    """What there is of it, by name; `coverage` is the share of the question's rarity that each row holds."""
    if not len(shelf) or question.kind not in ("factual", "advice"):
        return {}
    found = {}
    owed = crowd(len(shelf)) * (_demand(shelf) - _WORTH * float(coverage.max(initial=0)))
    if question.kind == "factual" and owed > 0:
        found["owed"] = round(owed, 4)
    if (lead := _lead(shelf, question, coverage)) > 0:
        found["belief"] = round(CUT ** (lead / _LEAD), 4)
    return found


def pages(shelf: Shelf) -> float:
    """0 where texts are as short as chat, 1 where they are pages, in which words meet by chance."""
    return min(1.0, max(0.0, (float(shelf.column("chars").mean()) - 200) / 800))


def _demand(shelf: Shelf) -> float:
    return _FACT + pages(shelf) * (_PAGE - _FACT)


def _lead(shelf: Shelf, question: Question, coverage: Floats) -> float:
    """How much more of the question the turns of others cover, with their neighbours, than those of whom it names."""
    named = [shelf.voice(name) for name in question.speakers]
    others = [shelf.voice(name) for name in shelf.speakers if name not in question.speakers]
    if not named or not others or not shelf.threads.is_dialogue:
        return 0.0
    near, padded = shelf.surroundings(), np.append(coverage, np.float32(0))
    covered = np.minimum(1, coverage + np.maximum(padded[near.before], padded[near.after]) / 2)
    voice = shelf.column("voice")
    theirs, own = (float(covered[np.isin(voice, mouths)].max(initial=0)) for mouths in (others, named))
    return max(0.0, theirs - own)

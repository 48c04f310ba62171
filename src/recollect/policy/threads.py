"""Who speaks before and after whom: the conversations on a shelf as linked rows.

A short turn means little without its neighbours ("I've had them for three years" answers "How long have you had your
turtles?"), so evidence flows between adjacent turns: from the turn before, most of all when it is a question, and a
little from the turn after and from two turns away. That holds for talk, not for a day's unrelated records that merely
share a session: `is_dialogue` tells the two apart by rhythm (voices change) and cast (two voices carry it).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.policy.postings import Floats, Rows

BEFORE, ANSWER, AFTER, TWO_BEFORE, TWO_AFTER = 0.5, 0.5, 0.3, 0.2, 0.1


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The four neighbours of every row; -1 where there is none, which indexes the zero at the end of a padded array."""

    before: Rows
    after: Rows
    two_before: Rows
    two_after: Rows
    to_after: Floats
    """How much of a row's evidence flows to the turn after it: more if the row is a question."""
    total: Floats

    def gather(self, values: Floats) -> Floats:
        """What each row holds together with its share of the neighbours' values."""
        near = np.append(values, np.float32(0))
        flow = np.append(values * self.to_after, np.float32(0))
        around = AFTER * near[self.after] + TWO_BEFORE * near[self.two_before] + TWO_AFTER * near[self.two_after]
        return np.asarray(values + flow[self.before] + around, np.float32)

    def smooth(self, values: Floats) -> Floats:
        return self.gather(values) / self.total

    def spread(self, rows: Rows, counts: Floats, onto: Floats) -> Rows:
        """Add `counts` of `rows` to the rows and their neighbours in `onto`; returns every row touched.

        `onto` has one place more than there are rows, where the shares of absent neighbours end up. Distinct rows
        have distinct neighbours, so plain indexed addition loses nothing.
        """
        onto[rows] += counts
        onto[self.after[rows]] += counts * self.to_after[rows]
        onto[self.before[rows]] += AFTER * counts
        onto[self.two_after[rows]] += TWO_BEFORE * counts
        onto[self.two_before[rows]] += TWO_AFTER * counts
        return np.concatenate([rows, self.after[rows], self.before[rows], self.two_after[rows], self.two_before[rows]])


class Threads:
    """The links themselves, kept in order of position as rows come and go."""

    def __init__(self) -> None:
        self.session = self.before = self.after = np.full(64, -1, np.int32)
        self.before, self.after = self.before.copy(), self.after.copy()
        self._position: dict[int, tuple[int, int]] = {}
        self._numbers: dict[str, int] = {}
        self._last: dict[int, int] = {}
        self._cast: dict[int, Counter[int]] = {}
        self._pairs = self._changes = self._carried = 0

    @property
    def nbytes(self) -> int:
        return 3 * self.session.nbytes + 160 * len(self._position) + 400 * len(self._numbers)

    @property
    def count(self) -> int:
        """How many sessions there are."""
        return len(self._numbers)

    @property
    def is_dialogue(self) -> bool:
        turns = len(self._position)
        return self._pairs > 0.2 * turns and self._changes >= 0.15 * self._pairs and self._carried >= 0.8 * turns

    def join(self, row: int, session: str, position: int, voice: int) -> None:
        while row >= len(self.session):
            self.session, self.before, self.after = (
                np.concatenate([a, np.full_like(a, -1)]) for a in (self.session, self.before, self.after)
            )
        number = self._numbers.setdefault(session, len(self._numbers))
        self.session[row] = number
        self._position[row] = position, voice
        later, earlier = -1, self._last.get(number, -1)
        while earlier >= 0 and self._position[earlier][0] > position:
            later, earlier = earlier, int(self.before[earlier])
        self._link(earlier, later, -1)
        self._link(earlier, row, 1)
        self._link(row, later, 1)
        if later < 0:
            self._last[number] = row
        self._recast(number, voice, 1)

    def leave(self, row: int) -> None:
        if row not in self._position:
            return
        number, (_, voice) = int(self.session[row]), self._position[row]
        earlier, later = int(self.before[row]), int(self.after[row])
        self._link(earlier, row, -1)
        self._link(row, later, -1)
        self._link(earlier, later, 1)
        if later < 0:
            self._last[number] = earlier
        self._recast(number, voice, -1)
        del self._position[row]
        self.session[row] = self.before[row] = self.after[row] = -1

    def surroundings(self, question: NDArray[Any]) -> Surroundings:
        rows = len(question)
        grown = max(0, rows - len(self.session))
        before, after = (np.append(a[:rows], np.full(grown, -1, np.int32)) for a in (self.before, self.after))
        two_before, two_after = np.append(before, np.int32(-1))[before], np.append(after, np.int32(-1))[after]
        to_after = (BEFORE + ANSWER * question).astype(np.float32)
        found = Surroundings(before, after, two_before, two_after, to_after, np.ones(rows, np.float32))
        return Surroundings(before, after, two_before, two_after, to_after, found.gather(np.ones(rows, np.float32)))

    def session_mean(self, values: Floats) -> Floats:
        """For every row the mean of its session's values; a row outside any session keeps its own."""
        rows = len(values)
        numbers = np.append(self.session[:rows], np.full(max(0, rows - len(self.session)), -1, np.int32)) + 1
        sums = np.bincount(numbers, values, minlength=self.count + 1)
        sizes = np.maximum(np.bincount(numbers, minlength=self.count + 1), 1)
        return np.where(numbers > 0, (sums / sizes)[numbers], values).astype(np.float32)

    def _link(self, earlier: int, later: int, sign: int) -> None:
        if sign > 0 and later >= 0:
            self.before[later] = earlier
        if sign > 0 and earlier >= 0:
            self.after[earlier] = later
        if earlier >= 0 and later >= 0:
            self._pairs += sign
            self._changes += sign * (self._position[earlier][1] != self._position[later][1])

    def _recast(self, number: int, voice: int, sign: int) -> None:
        """Keep count of the turns that the two main voices of each session carry."""
        cast = self._cast.setdefault(number, Counter())
        carried = sum(sorted(cast.values())[-2:])
        cast[voice] += sign
        self._carried += sum(sorted(cast.values())[-2:]) - carried

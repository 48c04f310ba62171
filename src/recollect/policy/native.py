"""The native ranking: all the evidence of a shelf weighed in one score.

    lexical = BM25 share of its own upper bound, blended with that of the neighbouring turns
    dense   = centred cosine, blended with that of the neighbouring turns, plus the session's
    score   = lexical + trust(kind) * dense + prior(time, speaker, question, assistant)

Ranks are not fused (but for a question that is a whole dialogue): a share of the upper bound says how sure the lexical
leg is, and a sure leg may win. How much the dense leg is trusted depends on what is asked: a fact is found by its words,
advice and remarks by their meaning.
Every step has a weight, and a weight of zero switches the step off. Cards without a vector rank by their words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.policy.doubt import doubt, pages
from recollect.policy.fusion import reciprocal_rank_fusion
from recollect.policy.native_bridge import Bridge
from recollect.policy.phrases import held
from recollect.policy.postings import Floats
from recollect.policy.question import Question
from recollect.policy.shelf import Lexical, Mask, Shelf
from recollect.policy.text import query_terms

_FRESH = 5
"""Places that no repetition takes."""
_DAY = 86_400.0
DIALOGUE_POOL = 200


@dataclass(frozen=True, slots=True)
class NativeWeights:
    """The chosen formula; each field is one step of it."""

    lexical_window: float = 1.0
    dense_window: float = 1.0
    window_reach: float = 400.0
    """Characters at which a turn leans on its neighbours by 1/e: long texts speak for themselves."""
    centring: float = 1.0
    session: float = 1.0
    factual: float = 0.5
    long_factual: float = 1.4
    """What `factual` grows to where texts are long: in a page, words meet by chance."""
    advice: float = 2.0
    statement: float = 3.0
    dialogue: float = 0.5
    time: float = 0.2
    speaker: float = 0.14
    question: float = 0.07
    assistant: float = 0.15
    twins: bool = True
    """Show one of several cards with the same words, the newest, before any is repeated."""
    phrase: float = 10.0
    """More than all else together can weigh: what holds a quote of the question comes before what doesn't."""
    bridge: bool = True
    """Lead what asks for advice or tells something to the tastes and circumstances that bear on it, where the model's way
    there is known."""
    guard: bool = True
    """Never lose a card that holds a rare identifier, number or address of the question, or one of its few words."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A hit: its row, its score, and what each kind of evidence contributed or measured."""

    index: int
    score: float
    signals: dict[str, float]


DEFAULT = NativeWeights()
Passed = Callable[[str], None]
"""Told the name of each leg when it is over."""


def rank(
    shelf: Shelf,
    question: Question,
    vectors: Sequence[NDArray[Any]] = (),
    allowed: Mask | None = None,
    limit: int = 10,
    weights: NativeWeights = DEFAULT,
    spare: int = 0,
    passed: Passed = lambda leg: None,
    bridge: Bridge | None = None,
) -> list[Ranked]:
    """The best `limit` cards, best first, and up to `spare` more that tell whether there are any.

    `vectors` are those of `question.texts`; none means words alone. `bridge` is that of the model which made them.
    """
    if not len(shelf) or limit < 1:
        return []
    if question.kind == "dialogue" and len(vectors):
        return _by_ranks(shelf, question, vectors[0], allowed, limit + spare, passed)
    lean = _lean(shelf, weights)
    match = shelf.match(question.terms, around=lean is not None)
    lexical = (
        match.alone if lean is None else match.alone + weights.lexical_window * lean * (match.around - match.alone)
    )
    passed("lexical")
    dense = _dense(shelf, question, _led(shelf, question, vectors, bridge if weights.bridge else None), lean, weights)
    if len(vectors):
        passed("dense")
    trust = _trust(shelf, question, weights) if len(vectors) else 0.0
    near = _nearness(shelf, question) if question.windows and weights.time else None
    evidence = _prior(shelf, question, near, weights)
    prior = sum(evidence.values()) * (1 if question.kind == "factual" else 1 + trust)
    score = np.asarray(lexical + trust * dense + prior, np.float32)
    if question.phrases and weights.phrase:
        evidence["phrase"] = _quotes(shelf, question)
        score += weights.phrase * evidence["phrase"]
    rows = _chosen(shelf, score, match, allowed, limit, weights, spare)
    coverage = _coverage(shelf, question, match, near)
    cosine = _nearest(shelf, vectors, rows)
    doubted = doubt(shelf, question, coverage)
    if question.subject and not all(cosine[rows]):
        # Where words are all there is, those that only this question's wording has say nothing against a text.
        subject = np.maximum(coverage, shelf.match(question.subject, around=False).coverage)
        coverage = np.where(cosine == 0, subject, coverage)
    parts = {"lexical": lexical, "dense": trust * dense, "cosine": cosine, "coverage": coverage, **evidence}
    return [
        Ranked(
            row,
            float(score[row]),
            {name: round(float(part[row]), 4) for name, part in parts.items() if part[row]} | doubted,
        )
        for row in rows
    ]


def _coverage(shelf: Shelf, question: Question, match: Lexical, near: Floats | None) -> Floats:
    """How much of what is asked each row says. What was told at the time that is asked about need not name it."""
    coverage = match.coverage
    if question.own_terms:
        coverage = np.maximum(coverage, shelf.match(question.own_terms, around=False).coverage)
    if question.timeless and near is not None:
        coverage = np.maximum(coverage, shelf.match(question.timeless, around=False).coverage * (near == 1))
    return coverage


def _trust(shelf: Shelf, question: Question, weights: NativeWeights) -> float:
    """How much the dense leg counts for this kind of question, on a shelf of texts this long."""
    trust = float(getattr(weights, question.kind))
    if question.kind == "factual":
        trust += pages(shelf) * (weights.long_factual - trust)
    return trust


def _quotes(shelf: Shelf, question: Question) -> Floats:
    """The share of the question's quotes that each row holds word for word."""
    share = np.zeros(shelf.rows, np.float32)
    for phrase in question.phrases:
        for row in shelf.holding({term for run in phrase for term in run.split()}):
            share[row] += held(shelf.card(row).terms, (phrase,)) / len(question.phrases)
    return share


def _by_ranks(
    shelf: Shelf, question: Question, vector: NDArray[Any], allowed: Mask | None, limit: int, passed: Passed
) -> list[Ranked]:
    """A whole dialogue asks for company: it is long and touches much, so neither leg is sure, and their ranks are merged."""
    terms = query_terms(question.text)
    coverage = shelf.match(terms, around=False).coverage
    legs = {"lexical": dict(shelf.lexical(terms, allowed, DIALOGUE_POOL))}
    passed("lexical")
    legs["cosine"] = dict(shelf.dense(vector, allowed, DIALOGUE_POOL))
    passed("dense")
    fused = reciprocal_rank_fusion([list(leg) for leg in legs.values()])
    ranked = []
    for row in sorted(fused, key=lambda row: (-fused[row], row))[:limit]:
        signals = {name: round(leg[row], 4) for name, leg in legs.items() if row in leg}
        ranked.append(Ranked(row, fused[row], signals | {"coverage": round(float(coverage[row]), 4)}))
    return ranked


def _lean(shelf: Shelf, weights: NativeWeights) -> Floats | None:
    """How much each row leans on its neighbours; None where the shelf holds no talk."""
    if not shelf.threads.is_dialogue or not (weights.lexical_window or weights.dense_window):
        return None
    return np.exp(-shelf.column("chars") / np.float32(weights.window_reach))


def _led(
    shelf: Shelf, question: Question, vectors: Sequence[NDArray[Any]], bridge: Bridge | None
) -> Sequence[NDArray[Any]]:
    if bridge is None or not bridge.serves(question):
        return vectors
    return [bridge.lead(vector, shelf.vectors.centre) for vector in vectors]


def _nearest(shelf: Shelf, vectors: Sequence[NDArray[Any]], rows: Sequence[int]) -> Floats:
    """The plain cosine of the chosen rows with the question itself: how sure they are is not for the bridge to say."""
    cosine = np.zeros(shelf.rows, np.float32)
    for row, near in (shelf.vectors.cosines(vectors[0], rows) if len(vectors) else {}).items():
        cosine[row] = near
    return cosine


def _dense(
    shelf: Shelf, question: Question, vectors: Sequence[NDArray[Any]], lean: Floats | None, weights: NativeWeights
) -> Floats:
    """The evidence of meaning, made of all texts embedded."""
    meaning = np.zeros(shelf.rows, np.float32)
    for plain, centred in shelf.vectors.similarities_to(vectors, shelf.rows):
        # A dialogue is long and general: taking the user's average out of it leaves noise.
        share = 0.0 if question.kind == "dialogue" else weights.centring * shelf.vectors.trust
        meaning += (share * centred + (1 - share) * plain) / np.float32(len(vectors))
    dense = meaning
    if lean is not None and weights.dense_window:
        dense = meaning + weights.dense_window * lean * (shelf.surroundings().smooth(meaning) - meaning)
    if weights.session and shelf.threads.is_dialogue and question.kind in ("advice", "statement"):
        dense = dense + weights.session * shelf.threads.session_mean(meaning)
    return dense


def _prior(shelf: Shelf, question: Question, near: Floats | None, weights: NativeWeights) -> dict[str, Floats]:
    """Evidence apart from words and meaning; only the kinds that apply."""
    prior: dict[str, Floats] = {"question": -weights.question * shelf.column("question").astype(np.float32)}
    if near is not None:
        prior["time"] = weights.time * near
    if question.speakers and weights.speaker and shelf.threads.is_dialogue:
        prior["speaker"] = weights.speaker * _spoken_by(shelf, question)
    if not question.of_the_assistant:
        prior["assistant"] = -weights.assistant * shelf.column("assistant").astype(np.float32)
    return prior


def _nearness(shelf: Shelf, question: Question) -> Floats:
    """1 within a window the question speaks of, fading over days outside it, slower around wide windows.

    What counts is when it was told or when, by its own words, it happened: whichever is nearer.
    """
    created = shelf.column("created")
    told_or_meant = ((created, created), (shelf.column("about_from"), shelf.column("about_until")))
    near = np.zeros(shelf.rows)
    for window in question.windows:
        start, end = window.start.timestamp(), window.end.timestamp()
        for first, last in told_or_meant:
            outside = np.maximum(np.maximum(start - last, first - end), 0) / _DAY
            near = np.fmax(near, np.exp(-outside / (1 + 0.25 * (end - start) / _DAY)))
    return near.astype(np.float32)


def _spoken_by(shelf: Shelf, question: Question) -> Floats:
    """+1 for the turns of those named, -1 for the others'; nothing where everybody is named."""
    named = [shelf.voice(name) for name in question.speakers]
    others = [shelf.voice(name) for name in shelf.speakers if name not in question.speakers]
    voice = shelf.column("voice")
    sign = np.isin(voice, named).astype(np.float32) - np.isin(voice, others)
    return sign.astype(np.float32) if others else np.zeros(shelf.rows, np.float32)


def _chosen(
    shelf: Shelf,
    score: Floats,
    match: Lexical,
    allowed: Mask | None,
    limit: int,
    weights: NativeWeights,
    spare: int,
) -> list[int]:
    """The rows to show: repeats step back behind what is new, and a rare word's best row is always among them."""
    pool = [row for row, _ in shelf.best(score, allowed, max(64, 4 * limit))]
    if weights.twins:
        pool = _repeats_later(shelf, score, pool)
    shown = pool[:limit]
    if weights.guard:
        _guard(shown, [_best_of(shelf, score, rows, allowed) for rows in match.rare], limit)
    return shown + [row for row in pool if row not in shown][:spare]


def _guard(shown: list[int], wanted: Sequence[int | None], limit: int) -> None:
    """Make room for the wanted rows from the end, never at the cost of another wanted one."""
    keep = {row for row in wanted if row is not None}
    for row in sorted(keep - set(shown)):
        if len(shown) < limit:
            shown.append(row)
            continue
        place = next((at for at in range(len(shown) - 1, -1, -1) if shown[at] not in keep), None)
        if place is not None:
            shown[place] = row


def _best_of(shelf: Shelf, score: Floats, rows: NDArray[np.int32], allowed: Mask | None) -> int | None:
    usable = [int(row) for row in rows if shelf.column("alive")[row] and (allowed is None or allowed[row])]
    return max(usable, key=lambda row: float(score[row]), default=None)


def _repeats_later(shelf: Shelf, score: Floats, pool: list[int]) -> list[int]:
    """The first places go to different words: of cards with the same ones the best, and among equals the newest. Behind them
    everything has its place again: what was said often is also an answer to how often."""
    rows = np.array(pool, np.int64)
    created = np.nan_to_num(shelf.column("created")[rows])
    best_first = np.lexsort((-rows, -created, -score[rows]))
    _, first = np.unique(shelf.column("twin")[rows][best_first], return_index=True)
    kept = np.zeros(len(rows), np.bool_)
    kept[best_first[first]] = True
    first_places = rows[kept][:_FRESH].tolist()
    return [*first_places, *(row for row in pool if row not in first_places)]

"""`--ablate`: every step of the native ranking switched off alone, so that each shows what it gives."""

from __future__ import annotations

from dataclasses import replace

from recollect.policy.native import DEFAULT, NativeWeights
from recollect.policy.recipes import NATIVE, RECIPES

WITHOUT: dict[str, NativeWeights] = {
    "neighbouring turns": replace(DEFAULT, lexical_window=0.0, dense_window=0.0),
    "centred vectors": replace(DEFAULT, centring=0.0),
    "the session": replace(DEFAULT, session=0.0),
    "time": replace(DEFAULT, time=0.0),
    "the speaker": replace(DEFAULT, speaker=0.0),
    "questions stepping back": replace(DEFAULT, question=0.0),
    "the assistant stepping back": replace(DEFAULT, assistant=0.0),
    "repeats stepping back": replace(DEFAULT, twins=False),
    "the rare-word guard": replace(DEFAULT, guard=False),
    "the bridge": replace(DEFAULT, bridge=False),
    "the kind of question": replace(
        DEFAULT, advice=DEFAULT.factual, statement=DEFAULT.factual, dialogue=DEFAULT.factual
    ),
}


def recipes() -> dict[str, str]:
    """The native recipe and its maimed sisters, by the label they are shown under. Registers what is new."""
    shown = {"ours": "native"}
    for step, weights in WITHOUT.items():
        name = f"native without {step}"
        RECIPES[name] = replace(NATIVE, name=name, weights=weights)
        shown[f"without {step}"] = name
    return shown

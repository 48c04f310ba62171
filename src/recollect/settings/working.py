"""Work in the background."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.settings.parsing import setting, switch


@dataclass(frozen=True, kw_only=True)
class Working:
    worker: bool = setting(
        True, switch, "Embed in the background inside this process; 0 leaves it to another process or to `flush`."
    )

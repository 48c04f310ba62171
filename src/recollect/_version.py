"""The version of Recollect, in the one place that packaging and the program both read."""

from __future__ import annotations

__version__ = "0.1.0"

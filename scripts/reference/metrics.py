"""What `/metrics` counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prometheus_client.metrics import MetricWrapperBase
from scripts.reference.writing import WRITTEN, code, joined, table

from recollect.doors.http.measuring import Metrics

HEAD = f"""# Metrics

What `GET /metrics` tells Prometheus; it wants an administrator's key. Labels are outcomes and route templates, never a user or a
word of content. A counter's name ends in `_total`; a histogram has `_bucket`, `_count` and `_sum`.
[Operations](../operations.md) says what to watch, and `deploy/grafana/recollect.json` draws it.

{WRITTEN}
"""


def page() -> str:
    return joined(HEAD, table(("metric", "kind", "labels", "what it says"), map(_row, _every())))


def undocumented() -> Iterator[str]:
    yield from (_name(each) for each in _every() if not each._documentation)


def _every() -> list[Any]:
    """Each as it was declared: the registry tells the labels of those that were counted already, and none was."""
    registry = Metrics()._registry
    found = [each for each in registry._collector_to_names if isinstance(each, MetricWrapperBase)]
    return sorted(found, key=_name)


def _name(metric: Any) -> str:
    return str(metric._name) + ("_total" if metric._type == "counter" else "")


def _row(metric: Any) -> tuple[str, str, str, str]:
    labels = ", ".join(map(code, metric._labelnames))
    return code(_name(metric)), str(metric._type), labels, str(metric._documentation)

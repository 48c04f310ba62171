"""Alerts and panels ask for metrics that are there, and every alert is explained."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from recollect.doors.http.measuring import Metrics

ROOT = Path(__file__).parents[2]
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((ROOT / "deploy/prometheus/alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
PANELS: list[dict[str, Any]] = json.loads((ROOT / "deploy/grafana/recollect.json").read_text())["panels"]
SECTIONS = re.findall(r"^### (Recollect\w+)$", (ROOT / "docs/operations.md").read_text(), re.MULTILINE)
SHOWN = set(re.findall(r"^# TYPE (\S+)", Metrics().text().decode(), re.MULTILINE))


def asked_for(expression: str) -> set[str]:
    """The metrics in an expression, by the names under which they are announced."""
    names = re.findall(r"\brecollect_\w+", expression)
    return {name if name in SHOWN else re.sub(r"_(bucket|count|sum)$", "", name) for name in names}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_what_is_there_and_is_explained(rule: dict[str, Any]) -> None:
    assert asked_for(rule["expr"]) <= SHOWN
    assert asked_for(rule["expr"]) or rule["expr"].startswith("up{")
    assert rule["annotations"]["runbook"] == f"docs/operations.md#{rule['alert'].lower()}"
    assert rule["alert"] in SECTIONS
    assert rule["labels"]["severity"] in {"page", "warn", "info"}


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_asks_for_what_is_there(panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        assert asked_for(target["expr"])
        assert asked_for(target["expr"]) <= SHOWN


def test_every_section_is_about_an_alert() -> None:
    assert sorted(SECTIONS) == sorted(rule["alert"] for rule in RULES)


def test_everything_that_is_counted_is_shown_somewhere() -> None:
    watched = {name for rule in RULES for name in asked_for(rule["expr"])}
    watched |= {name for panel in PANELS for target in panel["targets"] for name in asked_for(target["expr"])}
    ours = {name for name in SHOWN if name.startswith("recollect_") and not name.endswith("_created")}
    assert ours <= watched, ours - watched


def test_a_missing_metric_would_be_noticed() -> None:
    assert not asked_for("rate(recollect_unheard_of_total[5m])") <= SHOWN

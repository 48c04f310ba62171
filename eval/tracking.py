"""Runs kept in MLflow: parameters, figures and every case, in a folder of one's own. Nothing is sent anywhere.

MLflow is large and only needed here, so it is imported when a run is to be kept.
"""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

EXPERIMENT = "recollect-memory"


class NoMlflow(RuntimeError):
    def __init__(self) -> None:
        super().__init__(
            "MLflow is not installed: `make eval` brings it, or `pip install recollect[eval]`; "
            "--no-mlflow measures without keeping the run"
        )


def available() -> Any:
    """MLflow itself; `NoMlflow` when it isn't there. Asked before measuring, so that nobody waits in vain."""
    for switch in ("MLFLOW_DISABLE_TELEMETRY", "DO_NOT_TRACK"):
        os.environ.setdefault(switch, "true")
    try:
        return importlib.import_module("mlflow")
    except ImportError as problem:
        raise NoMlflow from problem


def keep(
    folder: Path, parameters: Mapping[str, Any], report: Mapping[str, Any], *, experiment: str = EXPERIMENT
) -> str:
    """Log one run; returns its id. `report` has `figures`, `by_category`, `by_lang` and `cases`."""
    mlflow = available()
    folder.mkdir(parents=True, exist_ok=True)
    # MLflow announces every step of making its database.
    for noisy in ("alembic", "mlflow"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    mlflow.set_tracking_uri(f"sqlite:///{(folder / 'mlflow.db').resolve()}")
    with mlflow.start_run(experiment_id=_experiment(mlflow, folder, experiment), run_name=_name(parameters)) as run:
        mlflow.log_params({name: str(value) for name, value in parameters.items()})
        mlflow.log_metrics(metrics(report))
        mlflow.log_dict(dict(report), "cases.json")
        return str(run.info.run_id)


def metrics(report: Mapping[str, Any]) -> dict[str, float]:
    """Every figure under one name: `recall_at_5`, `category/negation/recall_at_5`, `lang/zh/precision_at_5`, …"""
    groups = {"": {"": report["figures"]}, "category/": report["by_category"], "lang/": report["by_lang"]}
    return {
        f"{prefix}{name}{'/' if name else ''}{figure}": float(value)
        for prefix, parts in groups.items()
        for name, figures in parts.items()
        for figure, value in figures.items()
        if value is not None
    }


def _experiment(mlflow: Any, folder: Path, name: str) -> str:
    known = mlflow.get_experiment_by_name(name)
    if known is not None:
        return str(known.experiment_id)
    return str(mlflow.create_experiment(name, artifact_location=(folder / "artifacts").resolve().as_uri()))


def _name(parameters: Mapping[str, Any]) -> str:
    return "-".join(str(parameters[key]) for key in ("recipe", "store", "outage") if parameters.get(key))

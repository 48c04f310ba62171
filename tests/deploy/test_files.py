"""Images, compose files, manifests and units: they parse, and every variable, command and option in them exists."""

from __future__ import annotations

import configparser
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from recollect.cli import app
from recollect.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KNOWN = {PREFIX + each.name.upper() for each in fields(Settings)}
OWN = {"RECOLLECT_APP_PASSWORD"}
"""Of the compose file alone: the password that its database and its servers share."""
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
MANIFESTS: list[dict[str, Any]] = [*yaml.safe_load_all((DEPLOY / "kubernetes/recollect.yaml").read_text())]
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
FILES = sorted(
    path for path in [*DEPLOY.rglob("*"), ROOT / "docs/operations.md", ROOT / "docs/deployment.md"] if path.is_file()
)


def containers() -> list[dict[str, Any]]:
    pods = [each["spec"]["template"]["spec"] for each in MANIFESTS if each["kind"] in {"Deployment", "Job"}]
    return [container for pod in pods for container in pod["containers"]]


def unit(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(path.read_text())
    return parser


COMMANDS = [
    *(service["command"] for service in COMPOSE["services"].values() if service.get("image") == "recollect"),
    *(container["args"] for container in containers()),
    *(unit(path)["Service"]["ExecStart"].split()[1:] for path in UNITS),
]


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_every_variable_exists(file: Path) -> None:
    named = set(re.findall(rf"\b{PREFIX}[A-Z][A-Z0-9_]*[A-Z0-9]\b", file.read_text()))
    assert named <= KNOWN | OWN, named - KNOWN - OWN


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_and_option_exists(command: list[str]) -> None:
    name, *rest = command
    words = [name, *rest[:1]] if name == "db" else [name]
    said = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert said.exit_code == 0, said.output
    for option in (word for word in rest if word.startswith("--")):
        assert re.search(rf"{option}\b", said.output), option


def test_the_compose_file_has_every_process_and_starts_them_in_order() -> None:
    services = COMPOSE["services"]
    assert set(services) == {"postgres", "redis", "migrate", "api", "worker", "beat"}
    for name in ("api", "worker", "beat"):
        assert set(services[name]["depends_on"]) == {"postgres", "redis", "migrate"}
        assert services[name]["environment"]["RECOLLECT_WORKER"] == "0"
        assert "RECOLLECT_MIGRATE_URL" not in services[name]["environment"], "only the migration is the owner"
    assert "healthcheck" in services["postgres"]


def test_every_secret_of_the_compose_file_has_its_place() -> None:
    asked = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text()))
    given = {line.split("=")[0] for line in (DEPLOY / ".env.example").read_text().splitlines() if "=" in line}
    assert asked == given


def test_the_image_is_made_of_pinned_packages_and_runs_as_nobody_special() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    assert sum(line.startswith("FROM ") for line in lines) == 2
    assert any("--require-hashes -r requirements/server.txt" in line for line in lines)
    assert lines.index("USER recollect") < next(at for at, line in enumerate(lines) if line.startswith("ENTRYPOINT"))
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY ") and "--from" not in line]
    assert all((ROOT / path).exists() for paths in copied for path in paths)


def test_containers_run_as_a_plain_user_on_a_file_system_they_cannot_change() -> None:
    deployments = [each["spec"]["template"]["spec"] for each in MANIFESTS if each["kind"] == "Deployment"]
    assert len(deployments) == 3
    for pod in deployments:
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert all(each["securityContext"]["readOnlyRootFilesystem"] for each in pod["containers"])
        mounted = {mount["name"] for each in pod["containers"] for mount in each["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_restarts_and_is_confined(path: Path) -> None:
    service = unit(path)["Service"]
    assert service["Restart"] == "always"
    assert service["NoNewPrivileges"] == "yes"
    assert service["EnvironmentFile"] == "/etc/recollect/recollect.env"


def test_units_that_share_a_folder_share_the_user_whose_it_is() -> None:
    services = [unit(path)["Service"] for path in UNITS]
    assert {each["StateDirectory"] for each in services} == {"recollect"}
    assert {each.get("User") for each in services} == {"recollect"}


def test_processes_with_folders_of_their_own_are_given_the_key_that_opens_stored_secrets() -> None:
    """Each would otherwise make one in its folder, and none could open what another has sealed."""
    given = dict(line.split("=", 1) for line in (DEPLOY / ".env.example").read_text().splitlines() if "=" in line)
    assert all(given.values()), "a value that is empty is not noticed as one to be changed"
    for name in ("api", "worker"):
        assert COMPOSE["services"][name]["environment"]["RECOLLECT_SECRET_KEY"].startswith("${RECOLLECT_SECRET_KEY:?")


def test_the_job_that_migrates_makes_room_for_the_next_one() -> None:
    """What a job runs can't be changed: with another image it can only be made anew."""
    (job,) = [each for each in MANIFESTS if each["kind"] == "Job"]
    assert job["spec"]["ttlSecondsAfterFinished"] > 0

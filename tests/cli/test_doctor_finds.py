"""Each thing that can be wrong with a configuration, made wrong for real: the doctor finds all of it in one run, says what to do,
and repeats no secret.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from recollect.settings import Settings, names_of
from recollect.stores import migrations
from tests.cli.conftest import CommandLine
from tests.providers.wire import EmbeddingServer, Fault
from tests.services.postgres import Database
from tests.unit.test_wrong_settings import SECRET, refusals

NOBODY = "127.0.0.1:1"
"""A port at which nothing listens."""
Checks = list[dict[str, Any]]


def broken(cli: CommandLine, *args: str) -> Checks:
    """What is broken, each with a way to mend it; and nothing of a secret in any of it."""
    report = cli.json("doctor", *args, code=1)
    assert report["counts"]["broken"]
    assert SECRET not in json.dumps(report)
    found = [check for check in report["checks"] if check["state"] == "broken"]
    assert all(check["fix"] for check in report["checks"] if check["state"] != "ok")
    return found


def told(checks: Checks) -> dict[str, str]:
    return {check["name"]: f"{check['detail']} → {check['fix']}" for check in checks}


def warned(cli: CommandLine) -> str:
    return " ".join(f"{check['detail']} → {check['fix']}" for check in cli.json("doctor")["checks"] if check["fix"])


def test_every_setting_wrong_at_once_is_found_in_one_run(cli: CommandLine) -> None:
    cli.env |= {names_of(each.name)[0]: next(iter(refusals(each))) for each in fields(Settings)}
    report = cli("doctor", "--json", code=1).stdout
    found = [check for check in json.loads(report)["checks"] if check["name"] == "settings"]
    assert [check["detail"].partition(" is ")[0] for check in found] == [
        names_of(each.name)[0] for each in fields(Settings)
    ]
    assert all("expected" in check["detail"] and "unset it" in check["fix"] for check in found)


def test_names_that_are_none_of_ours(cli: CommandLine) -> None:
    cli.env |= {"RECOLLECT_STROE": "x.db", "RECOLLECT_ZZZ": "1", "RECOLLECT_TOKEN_BUDGET": "5", "TOKEN_BUDGET": "6"}
    assert "did you mean RECOLLECT_STORE" in cli("list", code=2).stderr
    report = cli("doctor", code=1).stdout
    for words in ("RECOLLECT_STROE", "RECOLLECT_STORE", "RECOLLECT_ZZZ", "TOKEN_BUDGET is not used"):
        assert words in report


def test_everything_that_is_away_or_missing_is_found_in_one_run(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    cli.env |= {
        "RECOLLECT_DATA_DIR": str(tmp_path / "file"),
        "RECOLLECT_STORE": str(tmp_path),
        "RECOLLECT_EMBEDDER": "openai",
        "RECOLLECT_EMBEDDER_URL": f"http://{NOBODY}/v1",
        "RECOLLECT_EMBEDDER_KEY": SECRET,
        "RECOLLECT_EMBEDDER_TIMEOUT_S": "1",
        "RECOLLECT_REDIS_URL": f"redis://:{SECRET}@{NOBODY}/0",
        "RECOLLECT_BROKER_URL": f"redis://:{SECRET}@{NOBODY}/1",
        "RECOLLECT_CHAT_URL": f"http://{NOBODY}/v1",
        "RECOLLECT_USER_ID_SOURCE": "jwt_claim",
        "RECOLLECT_ANSWERER": "denodo",
        "RECOLLECT_DENODO_URL": f"http://app:{SECRET}@{NOBODY}",
        "RECOLLECT_DATA_URL": f"sqlite:///{tmp_path}/none.db",
        "RECOLLECT_DATA_PERMISSIONS": "file",
        "RECOLLECT_PERMISSIONS_FILE": str(tmp_path / "none.toml"),
        "RECOLLECT_ARCHIVE_URL": str(tmp_path / "file" / "archive"),
        "RECOLLECT_LANGFUSE_HOST": f"http://{NOBODY}",
        "RECOLLECT_TRACES_URL": f"http://{NOBODY}/v1/traces",
        "RECOLLECT_VECTOR_STORE": "opensearch",
        "RECOLLECT_VECTOR_URL": f"http://app:{SECRET}@{NOBODY}",
        "RECOLLECT_SECRET_KEY": ",".join([SECRET] * 9),
    }
    found = told(broken(cli))
    away = ("REDIS_URL", "BROKER_URL", "CHAT_URL", "DENODO_URL", "LANGFUSE_HOST", "TRACES_URL", "VECTOR_URL")
    assert all(NOBODY in found[f"RECOLLECT_{name}"] for name in away)
    for name, words in {
        "data folder": "is no folder",
        "database file": "is a folder",
        "embedder": NOBODY,
        "login": "exactly one of RECOLLECT_JWT_SECRET",
        "secret key": "at most 8",
        "chat model": "RECOLLECT_CHAT_MODEL",
        "permissions": "RECOLLECT_PERMISSIONS_FILE",
        "archive": "RECOLLECT_ARCHIVE_URL",
        "combination": "RECOLLECT_LANGFUSE_PUBLIC_KEY",
        "RECOLLECT_DATA_URL": "can't be",
    }.items():
        assert words in found[name], name


def private_pem() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"USER_ID_SOURCE": "jwt_claim", "JWT_SECRET": SECRET}, "RECOLLECT_JWT_SECRET must have at least 32 bytes"),
        ({"USER_ID_SOURCE": "jwt_claim", "JWT_PUBLIC_KEY": "{folder}/none.pem"}, "RECOLLECT_JWT_PUBLIC_KEY is neither"),
        ({"USER_ID_SOURCE": "jwt_claim", "JWT_PUBLIC_KEY": "{folder}/text"}, "RECOLLECT_JWT_PUBLIC_KEY is not a PEM"),
        ({"USER_ID_SOURCE": "jwt_claim", "JWT_PUBLIC_KEY": "{folder}/private.pem"}, "holds a private key"),
        ({"USER_ID_SOURCE": "jwt_claim", "JWT_JWKS_URL": "http://id.example/keys"}, "must be an https:// address"),
        ({"USER_ID_SOURCE": "basic_username"}, "RECOLLECT_BASIC_USERS"),
        ({"USER_ID_SOURCE": "basic_username", "BASIC_USERS": "{folder}/none"}, "No such file"),
        ({"USER_ID_SOURCE": "basic_username", "BASIC_USERS": "{folder}"}, "Is a directory"),
        ({"USER_ID_SOURCE": "basic_username", "BASIC_USERS": "{folder}/text"}, "line 1"),
        ({"ANSWERER": "sql"}, "RECOLLECT_ANSWERER=sql needs RECOLLECT_DATA_URL"),
        ({"ANSWERER": "rules"}, "RECOLLECT_DATA_URL"),
        ({"ANSWERER": "denodo"}, "RECOLLECT_DENODO_URL"),
        ({"DATA_URL": "oracle+oracledb://x/y"}, "is not installed"),
        ({"DATA_PERMISSIONS": "file"}, "RECOLLECT_PERMISSIONS_FILE"),
        ({"DATA_PERMISSIONS": "file", "PERMISSIONS_FILE": "{folder}/text"}, "RECOLLECT_PERMISSIONS_FILE"),
        ({"DATA_PERMISSIONS": "denodo"}, "RECOLLECT_DENODO_CATALOG_URL"),
        ({"DATA_PERMISSIONS": "claims", "USER_ID_SOURCE": "bearer_token"}, "RECOLLECT_DATABASES_CLAIM"),
        ({"VECTOR_STORE": "pgvector"}, "can't be pgvector"),
        ({"VECTOR_STORE": "opensearch"}, "full http:// or https:// address"),
        ({"ARCHIVE_URL": "nonsense://x"}, "nonsense://"),
        ({"EMBEDDER": "openai"}, "RECOLLECT_EMBEDDER_KEY"),
        ({"EMBEDDER": "custom_http"}, "RECOLLECT_EMBEDDER_URL"),
        ({"EMBEDDER": "local", "EMBEDDER_MODEL": "bert"}, "the local models are"),
        ({"WORKERS": "2", "STORE": "memory://"}, "RECOLLECT_WORKERS"),
        ({"DATA_DIR": "{folder}/text/below", "STORE": "{folder}/text/below.db"}, "is no folder"),
        ({"STORE": "{folder}/text"}, "not a database"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else None,
)
def test_what_does_not_go_together_is_broken(
    cli: CommandLine, tmp_path: Path, settings: dict[str, str], words: str
) -> None:
    (tmp_path / "text").write_text("neither a key nor a list of users nor a database " * 40)
    (tmp_path / "private.pem").write_text(private_pem() if "private" in str(settings) else "")
    cli.env |= {f"RECOLLECT_{name}": value.format(folder=tmp_path) for name, value in settings.items()}
    assert words in json.dumps(broken(cli), ensure_ascii=False)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"READ_URL": "postgresql://db/x"}, "RECOLLECT_READ_URL: no effect"),
        ({"JWT_AUDIENCE": "me", "BASIC_USERS": "x", "USER_HEADER": "X-Me"}, "RECOLLECT_USER_ID_SOURCE=jwt_claim"),
        ({"CHAT_MODEL": "m", "CHAT_KEY": SECRET}, "RECOLLECT_CHAT_MODEL, RECOLLECT_CHAT_KEY: no effect"),
        ({"MAX_BODY_BYTES": "2048"}, "RECOLLECT_MAX_BODY_BYTES"),
        ({"EMBED_LEASE_S": "5"}, "make the lease the longer one"),
        ({"TOKEN_BUDGET": "9000"}, "raise RECOLLECT_CHAT_CONTEXT_TOKENS"),
        (
            {"VECTOR_URL": "http://x", "PERMISSIONS_FILE": "x", "WORKER_PROCESSES": "3"},
            "RECOLLECT_BROKER_URL names one",
        ),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else None,
)
def test_what_has_no_effect_is_a_warning(cli: CommandLine, settings: dict[str, str], words: str) -> None:
    cli.env |= {f"RECOLLECT_{name}": value for name, value in settings.items()}
    assert words in warned(cli)


def test_a_key_file_that_holds_none_or_that_others_can_read(cli: CommandLine) -> None:
    cli.folder.mkdir(mode=0o700)
    file = cli.folder / "secret.key"
    file.touch(mode=0o600)
    assert "is empty" in told(broken(cli))["key file"]
    file.write_text("k" * 44)
    file.chmod(0o644)
    assert f"chmod 600 {file}" in warned(cli)


def test_the_wrong_size_of_vectors_the_wrong_key_and_another_model(cli: CommandLine, server: EmbeddingServer) -> None:
    cli.env |= {
        "RECOLLECT_EMBEDDER": "llamacpp",
        "RECOLLECT_EMBEDDER_URL": server.url,
        "RECOLLECT_EMBEDDER_MODEL": "tiny",
        "RECOLLECT_EMBEDDER_KEY": SECRET,
    }
    cli("add", "first")
    cli.env["RECOLLECT_EMBEDDER_DIMENSIONS"] = "5"
    assert "RECOLLECT_EMBEDDER_DIMENSIONS to 8" in told(broken(cli))["embedder"]
    del cli.env["RECOLLECT_EMBEDDER_DIMENSIONS"]
    server.faults.append(Fault(status=401))
    assert "RECOLLECT_EMBEDDER_KEY" in told(broken(cli))["embedder"]
    cli.env["RECOLLECT_EMBEDDER_MODEL"] = "other"
    assert "recollect reembed" in warned(cli)


def test_a_llama_server_that_is_away_has_somebody_stand_in(cli: CommandLine, server: EmbeddingServer) -> None:
    cli.env |= {
        "RECOLLECT_EMBEDDER": "auto",
        "RECOLLECT_LLAMACPP_URL": f"http://{NOBODY}",
        "RECOLLECT_EMBEDDER_URL": f"{server.url}/v1",
        "RECOLLECT_EMBEDDER_MODEL": "tiny",
    }
    assert "correct RECOLLECT_LLAMACPP_URL" in warned(cli)


def test_postgres_that_turns_us_away_is_told_apart(cli: CommandLine, blank_database: Database) -> None:
    right = blank_database.app_url
    name, password = (
        psycopg.conninfo.conninfo_to_dict(right)["dbname"],
        psycopg.conninfo.conninfo_to_dict(right)["password"],
    )
    for wrong, words in {
        right.replace(str(password), SECRET): "correct the password",
        right.replace(f"/{name}", "/nowhere"): "correct the database's name",
        right.replace("//app:", "//nobody:"): "correct the",
        f"postgresql://app:{SECRET}@{NOBODY}/x": "start the server",
        f"postgresql://app:{SECRET}@no-such-host.invalid/x": "correct the host's name",
    }.items():
        cli.env["RECOLLECT_STORE"] = wrong
        assert words in told(broken(cli))["migrations"]
        said = cli("list", code=5).stderr
        assert words in said
        assert SECRET not in said
        assert said.count("\n") == 1


def test_postgres_without_pgvector_or_a_way_to_its_replica(cli: CommandLine, blank_database: Database) -> None:
    migrations.upgrade(blank_database.owner_url, app_role="app")
    with psycopg.connect(blank_database.superuser_url) as connection:
        connection.execute("DROP EXTENSION vector CASCADE")
    cli.env |= {
        "RECOLLECT_STORE": blank_database.app_url,
        "RECOLLECT_READ_URL": f"postgresql://app:{SECRET}@{NOBODY}/x",
        "RECOLLECT_MIGRATE_URL": f"postgresql://owner:{SECRET}@{NOBODY}/x",
    }
    found = told(broken(cli))
    assert "CREATE EXTENSION vector" in found["pgvector"]
    assert "start the server" in found["RECOLLECT_READ_URL"]
    assert "start the server" in found["RECOLLECT_MIGRATE_URL"]


def test_packages_that_are_not_installed_are_named_with_how_to_get_them(cli: CommandLine, tmp_path: Path) -> None:
    """As a process in which each of them is missing, which a module of the same name sees to."""
    for package in ("psycopg", "redis", "celery", "sqlglot", "fsspec", "opentelemetry", "fastapi", "cryptography"):
        missing = f"raise ModuleNotFoundError({f'No module named {package!r}'!r}, name={package!r})\n"
        (tmp_path / f"{package}.py").write_text(missing)
    settings = {
        "STORE": f"postgresql://app@{NOBODY}/x",
        "REDIS_URL": f"redis://{NOBODY}",
        "BROKER_URL": f"redis://{NOBODY}",
        "DATA_URL": "sqlite:///x.db",
        "ARCHIVE_URL": "s3://bucket",
        "TRACES_URL": f"http://{NOBODY}",
        "USER_ID_SOURCE": "bearer_token",
        "SECRET_KEY": "k",
    }
    cli.env |= {f"RECOLLECT_{name}": value for name, value in settings.items()}
    cli.env["PYTHONPATH"] = str(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "doctor"], capture_output=True, text=True, env=cli.whole_environment
    )
    assert (done.returncode, "Traceback" in done.stderr) == (1, False), done.stderr
    for extra in ("postgres", "redis", "celery", "data", "archive", "otel", "server"):
        assert f"recollect[{extra}]" in done.stdout, extra

"""The description of the API: whole enough to write a client from, for every door that `recollect serve` has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from recollect.cli.serving import build
from recollect.doors.http.openapi import ERRORS
from recollect.settings import Settings
from tests.doors.http.issuing import SECRET

OPEN = {"/healthz", "/readyz"}


def described(**settings: Any) -> dict[str, Any]:
    return build(Settings.load({}, **settings), "127.0.0.1").openapi()


SPEC = described()


def operations(spec: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        found: Any = SPEC
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema


def has_example(content: dict[str, Any]) -> bool:
    """On the operation, on the model, or on the models of which it is a choice or a list."""
    for medium in content.values():
        schema = resolved(medium.get("schema", {}))
        parts = [schema, *map(resolved, schema.get("anyOf", [])), resolved(schema.get("items", {}))]
        if not any(each.keys() & {"example", "examples"} for each in (medium, *parts)):
            return False
    return True


@pytest.mark.parametrize(
    ("name", "operation"), list(operations(SPEC)), ids=lambda each: each if isinstance(each, str) else ""
)
def test_every_operation_says_what_it_does_and_shows_it(name: str, operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["tags"]
    if "requestBody" in operation:
        assert has_example(operation["requestBody"]["content"]), "no example of what is sent"
    good = [status for status in operation["responses"] if status.startswith("2")]
    assert good
    for status in good:
        answer = operation["responses"][status]
        assert status == "204" or has_example(answer["content"]), f"no example of the answer {status}"


@pytest.mark.parametrize(
    ("name", "operation"), list(operations(SPEC)), ids=lambda each: each if isinstance(each, str) else ""
)
def test_every_operation_names_its_errors_in_the_one_shape(name: str, operation: dict[str, Any]) -> None:
    for status in ERRORS:
        answer = resolved(operation["responses"][str(status)])
        schema = answer["content"]["application/json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/Error"}
    shape = SPEC["components"]["schemas"]["Error"]["properties"]["error"]
    assert set(shape["required"]) == {"code", "message", "correlation_id", "details"}


def test_operations_have_names_of_their_own() -> None:
    names = [operation["operationId"] for _, operation in operations(SPEC)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("settings", "scheme"),
    [
        ({"user_id_source": "bearer_token"}, {"type": "http", "scheme": "bearer"}),
        (
            {"user_id_source": "jwt_claim", "jwt_secret": SECRET},
            {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
        ),
        ({"user_id_source": "header"}, {"type": "apiKey", "in": "header", "name": "X-User-ID"}),
        ({}, None),
    ],
    ids=["keys", "tokens", "header", "local"],
)
def test_the_login_is_described(settings: dict[str, Any], scheme: dict[str, Any] | None) -> None:
    spec = described(**settings)
    assert spec["components"].get("securitySchemes", {}).get("login") == scheme
    for name, operation in operations(spec):
        needed = scheme is not None and name.split()[1] not in OPEN
        assert operation.get("security", []) == ([{"login": []}] if needed else []), name

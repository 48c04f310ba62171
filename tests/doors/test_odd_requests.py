"""Whatever is asked of any operation, in whatever form, the real server answers as its description says and never breaks.

Schemathesis reads the description and makes requests from it, well formed and not, with a bounded number for each operation.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok

from recollect.providers.answerers import sample_database
from tests.api.homes import Home
from tests.doors.http.process import serving

CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXAMPLES_EACH = 8
SLOWEST_S = 30


@schemathesis.serializer("application/x-ndjson")
def lines(_: schemathesis.SerializationContext, value: object) -> bytes:
    """Whatever was made up, as lines: a list has one for each of its items."""
    return b"\n".join(json.dumps(each).encode() for each in (value if isinstance(value, list) else [value]))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_operation_answers_as_it_says(home: Home, tmp_path: Path) -> None:
    settled = {"store": home.url, "user_id_source": "header", "rate_limit": "0", "data_url": sample_database(tmp_path)}
    with serving(tmp_path, **settled) as server:
        schema = schemathesis.openapi.from_url(f"{server.url}openapi.json")
        problems: list[str] = []
        asked = 0
        for found in schema.get_all_operations():
            assert isinstance(found, Ok), found
            operation = found.ok()

            @settings(
                max_examples=EXAMPLES_EACH,
                phases=(Phase.explicit, Phase.generate),
                deadline=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy())
            def ask(case: schemathesis.Case[Any]) -> None:
                case.call_and_validate(headers={"X-User-ID": "ana"}, checks=CHECKS, timeout=SLOWEST_S)

            try:
                ask()
            except (FailureGroup, AssertionError) as failure:
                problems.append(f"{operation.label}: {failure!s:.1500}")
            asked += 1
    assert problems == []
    assert asked > 40, "the description has lost operations"

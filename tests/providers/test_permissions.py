"""Who may use what now: by a token's claims, by a file, by Denodo's data catalog."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import InvalidInput, Unavailable
from recollect.model import DataAccess, Scope
from recollect.providers.permissions import ClaimPermissions, DenodoPermissions, FilePermissions
from tests.providers.loopback import Loopback

ANA = Scope("acme", "ana")
NOTHING = DataAccess(databases=frozenset(), tables=frozenset())


@pytest.mark.parametrize(
    ("claims", "access"),
    [
        ({"db": ["Bank"], "tables": "sales, regions staff"}, ({"bank"}, {"sales", "regions", "staff"})),
        ({"db": "*", "tables": ["*"]}, (None, None)),
        ({}, (set(), set())),
        ({"db": 7, "tables": [1]}, (set(), set())),
        ({"db": [], "tables": ""}, (set(), set())),
    ],
)
async def test_claims_grant_what_they_name_and_no_more(claims: dict[str, Any], access: tuple[Any, Any]) -> None:
    found = await ClaimPermissions("db", "tables").of(ANA, claims, None)
    assert (found.databases, found.tables) == access


async def test_a_kind_without_a_claim_is_not_limited() -> None:
    assert await ClaimPermissions("", "tables").of(ANA, {"tables": ["t"]}, None) == DataAccess(tables=frozenset({"t"}))
    with pytest.raises(InvalidInput, match="RECOLLECT_TABLES_CLAIM"):
        ClaimPermissions("", "")


async def test_a_file_grants_to_users_and_roles_and_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "who.toml"
    file.write_text('[users.ana]\ntables = ["sales"]\n[roles.auditor]\ntables = ["staff"]\ndatabases = "*"\n')
    permissions = FilePermissions(file, tenant="acme")
    assert await permissions.of(ANA, {}, None) == DataAccess(tables=frozenset({"sales"}))
    assert (await permissions.of(ANA, {"role": ["auditor", 7]}, None)).tables == frozenset({"sales", "staff"})
    assert await permissions.of(Scope("acme", "bob"), {}, None) == NOTHING
    file.write_text('[users.ana]\ntables = []\n[default]\ntables = ["open"]\n')
    assert (await permissions.of(ANA, {}, None)).tables == frozenset()
    assert (await permissions.of(Scope("acme", "bob"), {}, None)).tables == frozenset({"open"})
    file.write_text("[users.ana]\ntables = 7\n# longer than before")
    with pytest.raises(Unavailable):
        await permissions.of(ANA, {}, None)
    file.unlink()
    with pytest.raises(Unavailable):
        await permissions.of(ANA, {}, None)


async def test_an_equal_name_in_another_tenant_is_somebody_else(tmp_path: Path) -> None:
    file = tmp_path / "who.toml"
    file.write_text(
        '[users.ana]\ntables = ["sales"]\n[roles.auditor]\n[default]\ntables = ["open"]\n'
        '[tenants.acme.users.ana]\ntables = ["orders"]\n[tenants.acme.roles.clerk]\ntables = ["stock"]\n'
    )
    permissions = FilePermissions(file)
    roles = {"role": ["auditor", "clerk"]}
    assert (await permissions.of(Scope("default", "ana"), {}, None)).tables == frozenset({"sales"})
    assert (await permissions.of(ANA, roles, None)).tables == frozenset({"orders", "stock"})
    assert await permissions.of(Scope("acme", "bob"), {"role": "auditor"}, None) == NOTHING
    assert await permissions.of(Scope("other", "ana"), roles, None) == NOTHING


@pytest.mark.parametrize(
    "text",
    [
        *("[]", "{", '{"people": {}}', '{"users": {"ana": {"views": []}}}', '{"users": []}', '{"default": 7}'),
        *('{"tenants": []}', '{"tenants": {"acme": {"tenants": {}}}}', '{"tenants": {"acme": {"users": {"a": 1}}}}'),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_at_once(tmp_path: Path, text: str) -> None:
    file = tmp_path / "who.json"
    file.write_text(text)
    with pytest.raises(InvalidInput, match="permissions file"):
        FilePermissions(file)


@pytest.fixture
def catalog() -> Iterator[Loopback]:
    with Loopback().running() as server:
        yield server


def views(*names: str) -> dict[str, Any]:
    return {"viewsDetails": [{"id": number, "name": name} for number, name in enumerate(names)]}


def asking(catalog: Loopback, **given: Any) -> DenodoPermissions:
    return DenodoPermissions(f"{catalog.url}/denodo-data-catalog/", ["bank"], **given)


async def test_the_data_catalog_is_asked_in_the_callers_name(catalog: Loopback) -> None:
    catalog.says((200, [0, 2]), (200, views('"Sales"', "staff", "regions")))
    permissions = asking(catalog, server_id=4)
    found = await permissions.of(ANA, {}, "Bearer ana's")
    assert found == DataAccess(databases=frozenset({"bank"}), tables=frozenset({"bank.sales", "bank.regions"}))
    allowed, details = catalog.seen
    assert allowed.path == "/denodo-data-catalog/public/api/views/allowed-identifiers?serverId=4"
    assert allowed.body == {"dataMode": "DATABASE", "databaseNames": ["bank"]}
    assert details.path == "/denodo-data-catalog/public/api/askaquestion/data?serverId=4"
    assert details.body == {"dataMode": "DATABASE", "databaseName": "bank", "dataUsage": False}
    assert {each.headers["Authorization"] for each in catalog.seen} == {"Bearer ana's"}
    assert await permissions.of(ANA, {}, "Bearer ana's") == found
    assert len(catalog.seen) == 2, "known for a minute"
    catalog.says((200, []))
    assert await permissions.of(ANA, {}, "Bearer another's") == NOTHING


async def test_what_was_taken_away_is_noticed(catalog: Loopback) -> None:
    permissions = asking(catalog, kept_s=0)
    catalog.says((200, [0]), (200, views("sales")), (200, []))
    assert (await permissions.of(ANA, {}, "Bearer a")).tables == frozenset({"bank.sales"})
    assert await permissions.of(ANA, {}, "Bearer a") == NOTHING


async def test_older_catalogs_list_views_bare_and_newer_ones_in_pages(catalog: Loopback) -> None:
    catalog.says((200, [0]), (200, views("sales")["viewsDetails"]))
    assert (await asking(catalog).of(ANA, {}, "Bearer a")).tables == frozenset({"bank.sales"})
    many = {"viewsDetails": [{"id": number, "name": f"v{number}"} for number in range(1000)]}
    catalog.says((200, [999, 1000]), (200, many), (200, {"viewsDetails": [{"id": 1000, "name": "last"}]}))
    assert (await asking(catalog).of(ANA, {}, "Bearer a")).tables == frozenset({"bank.v999", "bank.last"})
    assert (catalog.seen[-1].body["offset"], catalog.seen[-1].body["limit"]) == (1000, 1000)


async def test_who_is_turned_away_or_comes_without_a_name_may_use_nothing(catalog: Loopback) -> None:
    permissions = asking(catalog)
    assert await permissions.of(ANA, {}, None) == NOTHING
    assert catalog.seen == []
    for status in (401, 403):
        catalog.says((status, {"message": "no"}))
        assert await permissions.of(ANA, {}, f"Bearer {status}") == NOTHING


@pytest.mark.parametrize("answer", [(500, {}), (200, {"not": "a list"}), (200, ["1"]), (200, b"<html>")])
async def test_a_catalog_that_fails_lets_nobody_in(catalog: Loopback, answer: tuple[int, Any]) -> None:
    catalog.says(answer, (200, [0]), (200, views("sales")))
    permissions = asking(catalog)
    with pytest.raises(Unavailable):
        await permissions.of(ANA, {}, "Bearer a")
    assert (await permissions.of(ANA, {}, "Bearer a")).tables == frozenset({"bank.sales"}), (
        "and nothing of it is remembered"
    )


async def test_a_catalog_that_is_not_there_lets_nobody_in() -> None:
    gone = DenodoPermissions("http://127.0.0.1:9", ["bank"], timeout_s=5)
    with pytest.raises(Unavailable):
        await gone.of(ANA, {}, "Bearer a")
    with pytest.raises(InvalidInput, match="RECOLLECT_DENODO_DATABASES"):
        DenodoPermissions("http://127.0.0.1:9", [])

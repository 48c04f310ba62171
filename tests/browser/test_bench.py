"""`python -m bench page` tells what it promises. How long anything took is nobody's business here."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from bench.page import COLUMNS, PLACES, visits
from tests.browser.conftest import Opening, PageServer
from tests.browser.test_craft import LARGEST_SCRIPTS

VISITED = ("memories", "operations")


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_a_visit_is_measured_cold_and_warm(browser: Browser, server: PageServer, open_page: Opening) -> None:
    ana = open_page()
    ana.tell("worth a look")
    who = {"X-User-ID": ana.user, "X-Role": "admin"}
    rows = visits(browser, server.url, {place: PLACES[place] for place in VISITED}, 1, extra_http_headers=who)
    assert [row["place"] for row in rows] == [*VISITED]
    for row in rows:
        assert row.keys() == COLUMNS.keys()
        assert all(row[name] > 0 for name in COLUMNS if name.endswith("_ms"))
        assert row["requests"] > 20, "the page, its style, its scripts, and what it asks the server"
        assert 0 < row["scripts_kb"] < row["all_kb"] < LARGEST_SCRIPTS / 1024

"""A small shop to ask about: sales, regions, customers and products of four years, the same on every machine.

It is written by this code the first time it is needed, so that nothing has to be shipped or downloaded. The totals by region and
year are round figures on purpose: whoever asks can see at a glance that an answer is right.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

FILE = "banking_db.db"
VERSION = 1
REGIONS = ("North", "South", "East", "West")
TOTALS = {
    2022: (1_900_000, 1_300_000, 1_700_000, 1_200_000),
    2023: (2_200_000, 1_500_000, 1_900_000, 1_400_000),
    2024: (2_500_000, 1_800_000, 2_100_000, 1_600_000),
    2025: (2_700_000, 2_000_000, 2_400_000, 1_700_000),
}
"""Sales by year, for each region in turn."""
PRODUCTS = (
    ("Current account", "Accounts", 120),
    ("Savings account", "Accounts", 90),
    ("Youth account", "Accounts", 40),
    ("Home loan", "Loans", 5_200),
    ("Car loan", "Loans", 2_100),
    ("Student loan", "Loans", 1_400),
    ("Gold card", "Cards", 300),
    ("Travel card", "Cards", 180),
    ("Home insurance", "Insurance", 650),
    ("Life insurance", "Insurance", 900),
)
CUSTOMERS = (
    *("Adler & Sons", "Birch Bakery", "Cedar Clinic", "Delta Freight", "Elm Street Books", "Falcon Garage"),
    *("Granite Works", "Harbour Hotel", "Iris Florists", "Juniper Foods", "Kestrel Travel", "Linden School"),
    *("Maple Studio", "Nettle Farm", "Oakwood Dental", "Pine Outfitters"),
)
SEGMENTS = ("Business", "Retail", "Premium")
SALES_A_MONTH = 5

SCHEMA = """
CREATE TABLE regions (region_id INTEGER PRIMARY KEY, region_name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE customers (
    customer_id INTEGER PRIMARY KEY, customer_name TEXT NOT NULL, segment TEXT NOT NULL,
    region_id INTEGER NOT NULL REFERENCES regions (region_id), joined_on DATE NOT NULL
);
CREATE TABLE products (
    product_id INTEGER PRIMARY KEY, product_name TEXT NOT NULL, category TEXT NOT NULL, list_price NUMERIC NOT NULL
);
CREATE TABLE sales (
    sale_id INTEGER PRIMARY KEY, sale_date DATE NOT NULL, amount NUMERIC NOT NULL, quantity INTEGER NOT NULL,
    region_id INTEGER NOT NULL REFERENCES regions (region_id),
    product_id INTEGER NOT NULL REFERENCES products (product_id),
    customer_id INTEGER NOT NULL REFERENCES customers (customer_id)
);
CREATE INDEX sales_by_date ON sales (sale_date);
"""


def sample_database(folder: Path) -> str:
    """The address of the sample database in this folder; it is written if it isn't there."""
    path = folder / FILE
    if not _current(path):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_name(f"{FILE}.{os.getpid()}")
        fresh.unlink(missing_ok=True)
        fresh.touch(mode=0o600)
        _write(fresh)
        # Whoever else writes it at this moment writes the same.
        fresh.replace(path)
    return f"sqlite:///{path}"


def _current(path: Path) -> bool:
    if not path.exists():
        return False
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            return bool(connection.execute("PRAGMA user_version").fetchone()[0] == VERSION)
    except sqlite3.DatabaseError:
        return False


def _write(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(SCHEMA)
        connection.executemany(
            "INSERT INTO regions VALUES (?, ?, 'Norland')", [(at, name) for at, name in enumerate(REGIONS, 1)]
        )
        connection.executemany(
            "INSERT INTO products VALUES (?, ?, ?, ?)", [(at, *each) for at, each in enumerate(PRODUCTS, 1)]
        )
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?, ?, ?)", _customers())
        connection.executemany("INSERT INTO sales VALUES (?, ?, ?, ?, ?, ?, ?)", _sales())
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _customers() -> Iterator[tuple[int, str, str, int, str]]:
    for at, name in enumerate(CUSTOMERS):
        joined = date(2020 + at % 3, 1 + at % 12, 1 + 3 * at % 28)
        yield at + 1, name, SEGMENTS[at % len(SEGMENTS)], at % len(REGIONS) + 1, joined.isoformat()


def _sales() -> Iterator[tuple[int, str, int, int, int, int, int]]:
    chance = _numbers()
    number = 0
    for year, totals in TOTALS.items():
        for region, total in enumerate(totals, 1):
            weights = [next(chance) % 900 + 100 for _ in range(12 * SALES_A_MONTH)]
            amounts = [total * each // sum(weights) for each in weights]
            amounts[-1] += total - sum(amounts)
            for at, amount in enumerate(amounts):
                number += 1
                day = date(year, at // SALES_A_MONTH + 1, next(chance) % 28 + 1).isoformat()
                product = next(chance) % len(PRODUCTS)
                quantity = max(1, amount // (PRODUCTS[product][2] * 10))
                customer = region + len(REGIONS) * (next(chance) % (len(CUSTOMERS) // len(REGIONS)))
                yield number, day, amount, quantity, region, product + 1, customer


def _numbers() -> Iterator[int]:
    """Numbers that look random and are the same everywhere."""
    state = 20_240_101
    while True:
        state = (state * 1_103_515_245 + 12_345) % 2**31
        yield state >> 8

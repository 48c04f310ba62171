"""What there is to ask about: tables, their columns, how they hang together, and some of the words that stand in them.

Pure data. Names are compared the way databases compare unquoted names: without regard to the case of ASCII letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

Kind = Literal["number", "text", "date", "boolean", "other"]
_ASCII = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def folded(name: str) -> str:
    """As a database folds a name: `str.lower` would also turn a Kelvin sign into a k."""
    return name.translate(_ASCII)


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind = "text"
    values: tuple[str, ...] = ()
    """Words that stand in it; only of columns of text."""
    complete: bool = False
    """Whether `values` are all there are."""
    key: bool = False
    """Whether it identifies rows (its own or another table's), so that adding it up would mean nothing."""


@dataclass(frozen=True)
class Link:
    """A column that points at the key of another table."""

    column: str
    table: str
    key: str


@dataclass(frozen=True)
class Table:
    name: str
    columns: tuple[Column, ...]
    links: tuple[Link, ...] = ()
    schema: str | None = None
    """None for the schema that unqualified names mean."""
    view: bool = False

    @property
    def full(self) -> str:
        return f"{self.schema}.{self.name}" if self.schema else self.name

    def column(self, name: str) -> Column | None:
        return next((each for each in self.columns if folded(each.name) == folded(name)), None)

    def link_to(self, other: Table) -> Link | None:
        return next((each for each in self.links if folded(each.table) == folded(other.name)), None)

    @cached_property
    def label(self) -> Column | None:
        """The column people call its rows by: `name`, `region_name` in `regions`, or the only one with text."""
        texts = [each for each in self.columns if each.kind == "text" and not each.key]
        wanted = {"name", "title", "label", "名称", "姓名", f"{singular(folded(self.name))}_name"}
        named = [each for each in texts if folded(each.name) in wanted]
        found = named or texts
        return found[0] if len(found) == 1 else None


@dataclass(frozen=True)
class Schema:
    tables: tuple[Table, ...]
    database: str = ""
    default: str = ""
    """The schema that unqualified names mean, where it has a name: `public`, `main`."""

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Taken once: it may have thousands of columns, and much is remembered by it."""
        return hash((self.tables, self.database, self.default))

    def table(self, name: str, schema: str | None = None) -> Table | None:
        wanted = folded(f"{schema}.{name}" if schema else name)
        return next((each for each in self.tables if folded(each.full) == wanted), None)

    def only(self, allowed: Callable[[Table], bool]) -> Schema:
        """The same with the tables that are allowed, and links among them alone."""
        kept = [each for each in self.tables if allowed(each)]
        if len(kept) == len(self.tables):
            return self
        names = {folded(each.name) for each in kept}
        cut = (replace(each, links=tuple(link for link in each.links if folded(link.table) in names)) for each in kept)
        return replace(self, tables=tuple(cut))


def singular(word: str) -> str:
    """Good enough to find `region` in `regions` and `city` in `cities`; never used to make a name."""
    if re.search(r"[^aeiou]ies$", word):
        return word[:-3] + "y"
    if re.search(r"(ss|sh|ch|x|z)es$", word):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


@lru_cache(maxsize=65_536)
def words_of(name: str) -> tuple[str, ...]:
    """`sale_date`, `saleDate` and `Sale Date` are all (sale, date)."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return tuple(singular(folded(each)) for each in re.split(r"[\W_]+", spaced) if each)

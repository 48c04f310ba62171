"""What the rules make of a follow-up alone: the SQL of the turn before, the question, and nothing else.

    right     adapted, and the same query as the person's, or one that gives the same rows
    wrong     adapted, and not the same
    can't     said that it can't

A wrong answer is worse than none, so the three are counted apart. `exact` compares the queries themselves, without their aliases,
quotes and capitals; `rows` runs both on a database made up to fit the set's queries, since the set comes without its own.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from eval.dialogues import Dialogue
from eval.made_up import made, read_sql, rows_of, same_rows
from recollect.providers.answerers.database import Database
from recollect.providers.answerers.rules import Adapted, adapt
from recollect.providers.answerers.schema import Schema

DIALECT = "sqlite"


async def measured(dialogues: Sequence[Dialogue]) -> dict[str, Any]:
    tally: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="recollect-eval-") as folder:
        for name in dict.fromkeys(each.about for each in dialogues):
            its = [each for each in dialogues if each.about == name]
            path = Path(folder) / f"{name}.db"
            queries = [query for each in its for turn in each.turns if (query := read_sql(turn.sql)) is not None]
            made(path, queries)
            tally += _database(path, await _schema(path), its)
    return _figures(tally)


async def _schema(path: Path) -> Schema:
    database = Database(f"sqlite:///{path}")
    try:
        return await database.schema()
    finally:
        await database.close()


def _database(path: Path, schema: Schema, dialogues: Sequence[Dialogue]) -> Counter[str]:
    tally: Counter[str] = Counter()
    for dialogue in dialogues:
        for place in dialogue.measured():
            before, wanted = (read_sql(dialogue.turns[at].sql) for at in (place - 1, place))
            if before is None or wanted is None:
                tally["unreadable"] += 1
                continue
            tally["questions"] += 1
            got = adapt(before.sql(DIALECT), dialogue.turns[place].text, schema, DIALECT)
            tally += _judged(path, got.sql, wanted) if isinstance(got, Adapted) else Counter({"cannot": 1})
    return tally


def _judged(path: Path, sql: str, wanted: exp.Expr) -> Counter[str]:
    got = read_sql(sql)
    exact = got is not None and _plain(got) == _plain(wanted)
    rows, its = rows_of(path, sql), rows_of(path, wanted.sql(DIALECT))
    ordered = wanted.find(exp.Order) is not None
    alike = rows is not None and its is not None and same_rows(rows, its, ordered=ordered)
    return Counter({"adapted": 1, "exact": int(exact), "rows": int(alike), "right": int(exact or alike)})


def _plain(query: exp.Expr) -> str:
    """Without what makes no difference: aliases of tables and columns, quotes, capitals outside of text."""
    plain = query.copy()
    for column in plain.find_all(exp.Column):
        column.set("table", None)
    for alias in list(plain.find_all(exp.Alias)):
        alias.replace(alias.this)
    for table in plain.find_all(exp.Table):
        table.set("alias", None)
    for name in plain.find_all(exp.Identifier):
        name.set("quoted", False)
        name.set("this", name.this.lower())
    return plain.sql(DIALECT, comments=False).replace(" ASC", "")


def _figures(tally: Counter[str]) -> dict[str, Any]:
    questions = max(tally["questions"], 1)
    wrong = tally["adapted"] - tally["right"]
    shares = {name: tally[name] for name in ("cannot", "adapted", "exact", "rows", "right")} | {"wrong": wrong}
    return {"questions": tally["questions"], "unreadable": tally["unreadable"]} | {
        name: round(100 * count / questions, 1) for name, count in shares.items()
    }

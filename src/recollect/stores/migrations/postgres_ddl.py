"""What Postgres has beyond the shared tables: row-level security, search columns, and the few things an owner does for the app.

Two roles meet here. The *owner* runs migrations and owns the tables. The *application role* may read and write rows and nothing
else: it owns nothing, and row-level security, forced on every table with a user's rows, shows it only the rows of
`app.tenant_id` and `app.user_id`, which each transaction sets for itself. A forgotten WHERE clause then finds nothing foreign,
and a transaction that names nobody finds nothing at all. The owner is under the same policies.

`app_role` names the role that gets the rights. It is either the login role itself or a group role the login role is a member
of; the default, `recollect_app`, is made as a NOLOGIN group when it is missing and the owner may create roles. Where it is
missing and can't be made, no rights are granted: the store then refuses to start and says which statements to run.

Some work needs an owner's rights or spans users. It is done by functions that check their arguments:

- `recollect_prepare_generation` builds a generation's HNSW index, while the table is small (SECURITY DEFINER: only an owner may
  create an index); on a larger one `recollect db index` does, beside the work;
- `recollect_drop_leftovers` drops what a rebuild of the word index that was broken off has left (SECURITY DEFINER, as above);
- `recollect_drop_generation` removes a retired generation, entering every scope in turn;
- `recollect_backlog` counts waiting work and returns numbers only. It alone looks at everybody at once (SECURITY DEFINER): while
  it runs, a policy for the owner and nobody else shows the rows of the queue that have no vector yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

DEFAULT_APP_ROLE = "recollect_app"

FIRST = (
    "memories",
    "conversations",
    "messages",
    "entries",
    "embeddings",
    "themes",
    "tombstones",
    "audit_events",
    "working_memories",
    "provider_configs",
)
"""Tables with a user's rows as the first revision made them."""

PROTECTED = (*FIRST[:-1], "sessions", "repeats", "flags", "slots", "uses")
"""Tables with a user's rows as they are now."""

OPEN = ("spaces", "generations", "api_keys", "embedding_provider", "operations", "scrubs")
"""`spaces` and `generations` hold ids, counters and clocks: jobs list them for everyone. The others are the operator's."""

MAX_INDEXED_DIMENSIONS = 4000
LARGE = 200_000
"""Entries above which a scope that exists already is taken to be large, as the default settings have it."""

WORDS = """
DO $$
DECLARE col record;
BEGIN
  FOR col IN
    SELECT a.attrelid::regclass AS tab, a.attname
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ('{tables}')
      AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> ALL ('{plain}')
      AND a.atttypid = ANY ('{{text,varchar,json,text[],tsvector}}'::regtype[])
  LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', col.tab, col.attname);
  END LOOP;
END $$
"""
"""ANALYZE copies samples of every column it is not told to leave alone into the catalogue, where no forgetting reaches them."""

PLAIN = ("tenant_id", "user_id", "space", "kind", "type", "state", "status", "generation", "source")
"""Text that is nobody's words, or names a scope: the planner may know it."""

# Order must mean the same in Python, SQLite and here, whatever locale the database was made with.
BYTE_ORDER = """
DO $$
DECLARE col record;
BEGIN
  FOR col IN
    SELECT a.attrelid::regclass AS tab, a.attname, format_type(a.atttypid, a.atttypmod) AS typ
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ('{tables}')
      AND a.attnum > 0 AND NOT a.attisdropped AND a.attcollation = 'default'::regcollation
  LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I TYPE %s COLLATE "C"', col.tab, col.attname, col.typ);
  END LOOP;
END $$
"""

# A text's terms as a tsvector: every term carries the scope's mark and its positions. A tsvector holds one megabyte, so what
# would go beyond is left out rather than refused. The body is parsed now, so no search_path can bend it later.
TERM_VECTOR = r"""
CREATE FUNCTION recollect_term_vector(mark text, terms text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
  SELECT coalesce(string_agg(
      '''' || replace(replace(mark || '_' || term, '\', '\\'), '''', '''''') || ''':' || places, ' '), '')::tsvector
  FROM (
    SELECT term, array_to_string((array_agg(least(place, 16383)))[1:255], ',') AS places,
           sum(octet_length(term) + 32 + 2 * least(count(*), 255)) OVER (ORDER BY min(place)) AS bytes
    FROM unnest(string_to_array(terms, ' ')) WITH ORDINALITY AS t(term, place)
    WHERE octet_length(term) BETWEEN 1 AND 1000
    GROUP BY term
  ) AS weighed
  WHERE bytes < 1000000
)
"""

SEARCH = (
    """ALTER TABLE entries ADD COLUMN tsv tsvector
       GENERATED ALWAYS AS (recollect_term_vector(mark, terms)) STORED""",
    # Without a pending list, so that a search never wades through one and a deleted word can't linger in it.
    "CREATE INDEX entries_tsv ON entries USING gin (tsv) WITH (fastupdate = off)",
    # In the row, not beside it: the exact scan reads every vector of a scope.
    "ALTER TABLE embeddings ALTER COLUMN vector SET STORAGE MAIN",
)

INDEX_NAME = "'embeddings_hnsw_' || left(md5(generation), 16)"


def _prepare_generation(condition: str, only_if: str = "") -> str:
    return f"""
CREATE OR REPLACE FUNCTION recollect_prepare_generation(generation text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE size integer;
BEGIN
  SELECT g.dimensions INTO size FROM generations g WHERE g.id = generation;
  IF size IS NULL OR size NOT BETWEEN 1 AND 16000 THEN
    RAISE EXCEPTION 'no such generation, or its dimensions make no sense' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF size <= {MAX_INDEXED_DIMENSIONS}{only_if} THEN
    EXECUTE format(
      'CREATE INDEX IF NOT EXISTS %I ON embeddings USING hnsw ((vector::halfvec(%s)) halfvec_cosine_ops) '
      'WHERE generation = %L AND state = ''ready''{condition}', {INDEX_NAME}, size, generation);
  END IF;
END $$
"""


PREPARE_GENERATION = _prepare_generation("")

# Inserting into a graph costs a hundred times what the row itself does, and scopes that are held in memory or scanned exactly
# never walk it. So only rows of large scopes are in it; the others are kept together where an exact scan finds them.
LARGE_ONLY = (
    "ALTER TABLE embeddings ADD COLUMN large boolean NOT NULL DEFAULT false",
    """CREATE INDEX embeddings_outside ON embeddings (tenant_id, user_id, space, generation)
       WHERE state = 'ready' AND NOT large""",
    _prepare_generation(" AND large"),
)

# The build holds up writers while it reads the table: a moment at most for one of this size.
AT_ONCE_BELOW = 64 * 1024 * 1024
WHILE_SMALL = _prepare_generation(" AND large", f" AND pg_table_size('embeddings') < {AT_ONCE_BELOW}")

# Built again from scratch: what is large already goes in at once, which is far quicker than one by one.
BUILD_AGAIN = f"""
DO $$
DECLARE s record; g record;
BEGIN
  FOR g IN SELECT id AS generation FROM generations LOOP
    EXECUTE format('DROP INDEX IF EXISTS %I', {INDEX_NAME.replace("generation", "g.generation")});
  END LOOP;
  FOR s IN SELECT tenant_id, user_id, space FROM spaces WHERE size >= {LARGE} LOOP
    PERFORM set_config('app.tenant_id', s.tenant_id, true), set_config('app.user_id', s.user_id, true);
    UPDATE embeddings e SET large = true
    WHERE (e.tenant_id, e.user_id, e.space) = (s.tenant_id, s.user_id, s.space) AND e.state = 'ready';
  END LOOP;
  PERFORM set_config('app.tenant_id', '', true), set_config('app.user_id', '', true);
  FOR g IN SELECT id AS generation FROM generations LOOP
    PERFORM recollect_prepare_generation(g.generation);
  END LOOP;
END $$
"""

# A scope's row is locked before its vectors, in the order every writer takes them, and only where work is still waiting.
DROP_GENERATION = f"""
CREATE FUNCTION recollect_drop_generation(generation text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE s record;
BEGIN
  IF EXISTS (SELECT FROM generations g WHERE g.id = generation AND g.state = 'serving') THEN
    RAISE EXCEPTION 'a serving generation can not be dropped' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  FOR s IN SELECT tenant_id, user_id, space FROM spaces ORDER BY tenant_id, user_id, space LOOP
    PERFORM set_config('app.tenant_id', s.tenant_id, true), set_config('app.user_id', s.user_id, true);
    IF EXISTS (SELECT FROM embeddings e WHERE (e.tenant_id, e.user_id, e.space) = (s.tenant_id, s.user_id, s.space)
               AND e.generation = $1 AND e.due_at IS NOT NULL) THEN
      PERFORM FROM spaces p WHERE (p.tenant_id, p.user_id, p.space) = (s.tenant_id, s.user_id, s.space) FOR UPDATE;
      UPDATE spaces p SET work_due = (
        SELECT min(e.due_at) FROM embeddings e
        WHERE (e.tenant_id, e.user_id, e.space) = (s.tenant_id, s.user_id, s.space) AND e.generation <> $1)
      WHERE (p.tenant_id, p.user_id, p.space) = (s.tenant_id, s.user_id, s.space);
    END IF;
    DELETE FROM embeddings e WHERE (e.tenant_id, e.user_id, e.space) = (s.tenant_id, s.user_id, s.space)
      AND e.generation = $1;
  END LOOP;
  PERFORM set_config('app.tenant_id', '', true), set_config('app.user_id', '', true);
  EXECUTE format('DROP INDEX IF EXISTS %I', {INDEX_NAME});
  DELETE FROM generations g WHERE g.id = generation;
END $$
"""

BACKLOG = """
CREATE FUNCTION recollect_backlog(generation text, OUT pending bigint, OUT error bigint, OUT retrying bigint,
                                  OUT oldest timestamptz)
LANGUAGE plpgsql AS $$
DECLARE s record; one record;
BEGIN
  pending := 0; error := 0; retrying := 0;
  FOR s IN SELECT tenant_id, user_id, space FROM spaces LOOP
    PERFORM set_config('app.tenant_id', s.tenant_id, true), set_config('app.user_id', s.user_id, true);
    SELECT count(*) FILTER (WHERE e.state = 'pending') AS pending, count(*) FILTER (WHERE e.state = 'error') AS error,
           count(*) FILTER (WHERE e.state = 'error' AND e.due_at IS NOT NULL) AS retrying,
           min(e.created_at) AS oldest INTO one
    FROM embeddings e WHERE (e.tenant_id, e.user_id, e.space) = (s.tenant_id, s.user_id, s.space)
      AND e.generation = $1 AND e.state IN ('pending', 'error');
    pending := pending + one.pending; error := error + one.error; retrying := retrying + one.retrying;
    oldest := least(oldest, one.oldest);
  END LOOP;
  PERFORM set_config('app.tenant_id', '', true), set_config('app.user_id', '', true);
END $$
"""

# Read from the partial index of what is unsettled, which is as long as the queue and not as the table.
COUNTED_AT_ONCE = """
CREATE OR REPLACE FUNCTION recollect_backlog(generation text, OUT pending bigint, OUT error bigint, OUT retrying bigint,
                                             OUT oldest timestamptz)
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF row_security_active('embeddings') AND NOT EXISTS (SELECT FROM pg_policies p WHERE p.schemaname = current_schema()
      AND p.tablename = 'embeddings' AND p.policyname = 'counted' AND current_user = ANY (p.roles)) THEN
    RAISE EXCEPTION 'recollect_backlog runs as %, for whom the policy "counted" on embeddings was not made', current_user;
  END IF;
  SET LOCAL app.counting = 'yes';
  SELECT count(*) FILTER (WHERE e.state = 'pending'), count(*) FILTER (WHERE e.state = 'error'),
         count(*) FILTER (WHERE e.state = 'error' AND e.due_at IS NOT NULL), min(e.created_at)
  INTO pending, error, retrying, oldest
  FROM embeddings e WHERE e.generation = $1 AND e.state <> 'ready';
  SET LOCAL app.counting = '';
END $$
"""
# For whoever the function runs as, who need not be who upgrades: anybody else would find the queue empty, and a generation with
# nothing in the queue takes over.
QUEUE_FOR_THE_OWNER = """
DO $$
BEGIN
  EXECUTE format(
    'CREATE POLICY counted ON embeddings FOR SELECT TO %I '
    'USING (state <> ''ready'' AND current_setting(''app.counting'', true) = ''yes'')',
    (SELECT pg_get_userbyid(proowner) FROM pg_proc WHERE oid = 'recollect_backlog(text)'::regprocedure));
END $$
"""

# What a rebuild beside the work leaves behind when it is broken off. One that is under way is locked, and waited for in vain.
DROP_LEFTOVERS = """
CREATE FUNCTION recollect_drop_leftovers(rebuilt text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE leftover record;
BEGIN
  FOR leftover IN
    SELECT i.indexrelid::regclass AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid = 'entries'::regclass AND NOT i.indisvalid
      AND c.relname ~ '^entries_tsv_cc(new|old)[0-9]*$' AND rebuilt = 'entries_tsv'
  LOOP
    EXECUTE format('DROP INDEX %s', leftover.name);
  END LOOP;
END $$
"""

FIRST_FUNCTIONS = ("recollect_prepare_generation", "recollect_drop_generation", "recollect_backlog")
FUNCTIONS = (*FIRST_FUNCTIONS, "recollect_drop_leftovers")

# A definer's function must not look up names where its caller can put them.
PINNED_PATH = """
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION {function}(text) SET search_path = %I, %I, pg_temp', current_schema(),
    (SELECT n.nspname FROM pg_extension x JOIN pg_namespace n ON n.oid = x.extnamespace WHERE x.extname = 'vector'));
END $$
"""

GRANTS = """
DO $$
DECLARE role text := {role}; part record;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
    IF NOT (SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user) THEN
      RAISE NOTICE 'role % does not exist and can not be made here: no rights were granted', role;
      RETURN;
    END IF;
    EXECUTE format('CREATE ROLE %I NOLOGIN', role);
  END IF;
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), role);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO %I', role);
  EXECUTE format('GRANT SELECT ON alembic_version TO %I', role);
  EXECUTE format('GRANT EXECUTE ON FUNCTION {functions} TO %I', role);
  IF current_setting('server_version_num')::int >= 170000 THEN
    EXECUTE format('GRANT MAINTAIN ON {tables} TO %I', role);
    -- A table in parts is cleaned part by part, each with a right of its own. There is no other on them.
    FOR part IN SELECT h.inhrelid::regclass AS name FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhparent
        WHERE c.relkind = 'p' AND h.inhparent = ANY (string_to_array('{tables}', ', ')::regclass[]) LOOP
      EXECUTE format('GRANT MAINTAIN ON %s TO %I', part.name, role);
    END LOOP;
  END IF;
END $$
"""


def upgrade(execute: Callable[[str], Any], app_role: str = DEFAULT_APP_ROLE) -> None:
    """Run once, after the shared tables exist and before there are rows. `execute` runs one statement as the owner."""
    for statement in statements(app_role):
        execute(statement)


def statements(app_role: str = DEFAULT_APP_ROLE) -> Iterator[str]:
    yield BYTE_ORDER.format(tables=_set(FIRST + OPEN[:2]))
    yield TERM_VECTOR
    yield from SEARCH
    yield WORDS.format(tables=_set(FIRST), plain=_set(PLAIN))
    for table in FIRST:
        yield from _protection(table)
    yield from (PREPARE_GENERATION, DROP_GENERATION, BACKLOG)
    for function in FIRST_FUNCTIONS:
        yield from _guarded(function)
    yield grants(app_role, FIRST + OPEN[:2], FIRST_FUNCTIONS)


def beside(protected: tuple[str, ...], open: tuple[str, ...], app_role: str) -> Iterator[str]:
    """What later tables need, of the two sorts."""
    yield BYTE_ORDER.format(tables=_set(protected + open))
    yield WORDS.format(tables=_set(protected), plain=_set(PLAIN))
    for table in protected:
        yield from _protection(table)
    yield grants(app_role, protected + open, FIRST_FUNCTIONS)


def large_only() -> Iterator[str]:
    """What keeps small scopes out of the vector index."""
    yield from LARGE_ONLY
    yield PINNED_PATH.format(function="recollect_prepare_generation")  # a replaced function loses its settings
    yield BUILD_AGAIN


def prepared_while_small() -> Iterator[str]:
    """What keeps a new generation from holding up writers on a large table."""
    yield WHILE_SMALL
    yield PINNED_PATH.format(function="recollect_prepare_generation")  # a replaced function loses its settings


def counted_at_once() -> Iterator[str]:
    """What lets the queue be counted for all users together."""
    yield QUEUE_FOR_THE_OWNER
    yield COUNTED_AT_ONCE
    yield PINNED_PATH.format(function="recollect_backlog")  # a replaced function loses its settings


def owed(app_role: str) -> Iterator[str]:
    """What scrubs in the background need."""
    yield from beside((), ("scrubs",), app_role)
    yield DROP_LEFTOVERS
    yield from _guarded("recollect_drop_leftovers")
    yield grants(app_role, ("scrubs",))


def grants(app_role: str, tables: tuple[str, ...] = PROTECTED + OPEN, functions: tuple[str, ...] = FUNCTIONS) -> str:
    """The statement that gives a role what the application needs; safe to run again, for another role too."""
    return GRANTS.format(
        role="'" + app_role.replace("'", "''") + "'",
        tables=", ".join(tables),
        functions=", ".join(f"{function}(text)" for function in functions),
    )


def _guarded(function: str) -> Iterator[str]:
    yield PINNED_PATH.format(function=function)
    yield f"REVOKE ALL ON FUNCTION {function}(text) FROM PUBLIC"


def _set(names: tuple[str, ...]) -> str:
    return "{" + ",".join(names) + "}"


def _protection(table: str) -> Iterator[str]:
    own = "(tenant_id = current_setting('app.tenant_id', true) AND user_id = current_setting('app.user_id', true))"
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY own_rows ON {table} USING {own} WITH CHECK {own}"

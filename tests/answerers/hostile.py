"""Statements that must never run: what an attacker, a confused model or a text in the data could come up with.

All of them are put to both dialects, those of the other included: what one database doesn't understand is refused as well.
"""

from __future__ import annotations

from tests.answerers.hostile_calls import CLAUSES, COMMANDS, FUNCTIONS
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
SELECT REPLACE(REPLACE(region_name, 'o', 'oooooooooooo'), 'o', 'oooooooooooo') FROM regions
SELECT REPLACE(region_name, 'o', region_name) FROM regions
SELECT REPLACE(region_name, SUBSTR(region_name, 1, 1), 'xxxxxxxx') FROM regions
SELECT REGEXP_REPLACE(region_name, '.', '\\&\\&\\&') FROM regions
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
_DOUBLED = ", ".join(f"t{n + 1} AS (SELECT t || t AS t FROM t{n})" for n in range(18))
DOUBLING = f"WITH t0 AS (SELECT region_name AS t FROM regions), {_DOUBLED} SELECT t FROM t18"

HOSTILE = [*(each for group in GROUPS.values() for each in statements(group)), *ODD, DOUBLING]

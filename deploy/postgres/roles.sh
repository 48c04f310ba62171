#!/bin/sh
# Once, when the database is made: the extension, which only a superuser may add, and the role the application connects as.
# It is a plain one, because row-level security binds neither superusers nor owners.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$APP_PASSWORD" --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
CREATE EXTENSION IF NOT EXISTS vector;
CREATE ROLE recollect_app LOGIN PASSWORD :'password' NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
SQL

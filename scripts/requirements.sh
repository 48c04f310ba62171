#!/usr/bin/env bash
# Compiles requirements/*.in and the package's own needs into hash-pinned files that hold for every platform.
# The files name no registry: whoever installs them chooses where the packages come from, the hashes say which.
# ARGS: passed to uv, for example --upgrade, or --upgrade-package numpy.
set -euo pipefail
cd "$(dirname "$0")/.."

compile() {
  local output=$1
  shift
  echo "compiling $output"
  .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
    --no-header --no-annotate ${ARGS:-} "$@" --output-file "$output"
}

compile requirements/lock.txt requirements/lock.in
compile requirements/dev.txt pyproject.toml --extra server --extra postgres --extra redis \
  --extra celery --extra otel --extra agents --extra mcp --extra data --extra langgraph --extra langchain \
  --extra chroma requirements/dev.in
# What `make serve` needs and no more, in the same versions: whoever only wants to try it installs half as much.
compile requirements/serve.txt pyproject.toml --extra server --extra postgres --extra redis --extra celery --extra otel \
  --extra agents --extra mcp --extra data requirements/serve.in --constraints requirements/dev.txt
# The rest is installed into the same environment, so it has to agree with the versions pinned above.
compile requirements/eval.txt pyproject.toml --extra eval --constraints requirements/dev.txt
# What a server or worker in production is installed from.
compile requirements/server.txt pyproject.toml --extra server --extra postgres --extra redis --extra celery --extra otel \
  --extra mcp --extra data --constraints requirements/dev.txt

#!/usr/bin/env bash
# Brings .venv up to date with requirements/<name>.txt for each name given. Does nothing when it already is:
# a stamp inside .venv remembers the hash of what was installed.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }

usable() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python3.14; do
    if usable "$candidate"; then
      command -v "$candidate"
      return
    fi
  done
  fail "Recollect needs Python 3.11 or newer, and none was found on the PATH." \
    "Install one, or name it: make setup PYTHON=/path/to/python3.12"
}

# Debian and Ubuntu ship Python without the part that puts pip into a new environment.
ensure_venv_support() {
  local python=$1 package
  "$python" -c 'import ensurepip, venv' >/dev/null 2>&1 && return
  package="python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing $package (this Python cannot make environments without it)"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package"; } >/dev/null ||
      fail "apt-get could not install $package; install it and run make setup again"
  else
    fail "$python cannot make environments. Install the package $package" \
      "(Debian, Ubuntu: sudo apt-get install $package) and run make setup again"
  fi
}

make_environment() {
  usable .venv/bin/python && .venv/bin/python -m pip --version >/dev/null 2>&1 && return
  local python
  python=$(find_python)
  ensure_venv_support "$python"
  say "making .venv with $("$python" --version)"
  rm -rf .venv
  "$python" -m venv .venv
}

pip() { .venv/bin/python -m pip --disable-pip-version-check --no-input "$@"; }

hash_of() { cat "$@" | .venv/bin/python -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())'; }

# Whether the files that `name` depends on are those of its last success.
is_current() {
  local stamp=".venv/stamp-$1"
  shift
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(hash_of "$@")" ]
}

# Runs a command only when the files it depends on differ from those of its last success.
when_changed() {
  local name=$1 files=$2
  shift 2
  # shellcheck disable=SC2086 # a list of files, none with spaces
  is_current "$name" $files && return
  "$@"
  # shellcheck disable=SC2086
  hash_of $files >".venv/stamp-$name"
}

install_pins() {
  say "installing requirements/$1.txt"
  pip install -qq --require-hashes -r "requirements/$1.txt" || fail "requirements/$1.txt could not be installed"
}

install_project() {
  say "installing recollect itself, editable"
  pip install -qq --no-deps --no-build-isolation --no-index --editable . || fail "recollect could not be installed"
}

make_environment
for name in "$@"; do
  [ -f "requirements/$name.txt" ] || fail "there is no requirements/$name.txt"
  # What it takes to serve is a part of what it takes to develop, in the same versions.
  if [ "$name" = serve ] && is_current dev requirements/dev.txt; then continue; fi
  when_changed "$name" "requirements/$name.txt" install_pins "$name"
done
# These two bring the build backend; the other sets come on top of them.
if [ -f .venv/stamp-dev ] || [ -f .venv/stamp-serve ]; then
  when_changed project "pyproject.toml src/recollect/_version.py" install_project
fi

#!/usr/bin/env bash
# Sees to it that a Chromium is there for the tests of the page: one that is installed already, or Debian's own package.
set -euo pipefail

say() { printf 'chromium: %s\n' "$*" >&2; }

for name in chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  say "installing the package chromium, which the tests of the page drive"
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium; } >/dev/null && exit 0
fi
say "the tests of the page need Chromium, and it could not be installed here." \
  "Install it (Debian, Ubuntu: sudo apt-get install chromium; macOS: brew install chromium) and run make test again"
exit 1

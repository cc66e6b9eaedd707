#!/usr/bin/env bash
# Makes sure that there is a browser to look at pages with, and what drives it: installs both where it may, else says
# what to install.
set -euo pipefail
packages="chromium chromium-driver"
if command -v chromedriver >/dev/null; then
    exit
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    printf 'no chromedriver: tests of pages need a browser\n    Debian, Ubuntu: apt-get install %s\n' "$packages" >&2
    printf '    elsewhere:      Chromium or Chrome, and the ChromeDriver of the same version\n' >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # two packages
install() { apt-get install -y --no-install-recommends $packages; }
# Lists of packages may be missing, or old.
install || { apt-get update && install; }

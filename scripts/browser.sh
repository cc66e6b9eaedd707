#!/usr/bin/env bash
# Makes sure that there is a browser to look at pages with, and what drives it: installs both where it may, else says
# what to install. It is CI's: it installs for the superuser alone, and asks nobody.
set -euo pipefail
packages="chromium chromium-driver"

# The driver without a browser starts, and no session does.
is_there() {
    command -v chromedriver >/dev/null || return
    local browser
    for browser in chromium chromium-browser google-chrome google-chrome-stable chrome; do
        if command -v "$browser" >/dev/null; then return; fi
    done
    return 1
}

missing() {
    printf 'no chromedriver with a browser: tests of pages need both\n    Debian:    apt-get install %s\n' \
        "$packages" >&2
    # Ubuntu's packages of these names install snaps, which find no home in a container.
    printf '    elsewhere: Chromium or Chrome, and the ChromeDriver of the same version\n' >&2
    exit 1
}

if is_there; then exit; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then missing; fi
export DEBIAN_FRONTEND=noninteractive
# Another apt-get is waited for: machines begin their lives with one.
# shellcheck disable=SC2086 # two packages
install() { apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends $packages </dev/null; }
# Lists of packages may be missing, or old; if only some of them can be fetched, these may be enough.
install || { apt-get -o DPkg::Lock::Timeout=120 update </dev/null || true; install; } || missing
# What was installed may be a name that stands for something else.
is_there || missing

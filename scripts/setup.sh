#!/usr/bin/env bash
# Sets up a bare machine; quick when there is nothing to do. Steps, in the order given:
#   environment  virtual environment in .venv with `.[dev]` (PYTHON=… chooses the interpreter)
#   libraries    the system libraries that Blender's module loads
#   browser      Chromium, which the report's test opens
# As root on Debian what is missing is installed; otherwise the command that does it is printed.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly VENV=.venv
readonly STAMP=$VENV/.installed
readonly SUPPORTED="3.11 3.13"

say() { printf '%s\n' "$*" >&2; }

# An interpreter counts when it runs (pyenv's shims may refuse), is supported, and can make environments.
supported() {
  "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 13)))' 2>/dev/null
}

find_python() {
  local candidate version
  if [[ -n ${PYTHON:-} ]]; then
    supported "$PYTHON" && { printf '%s\n' "$PYTHON"; return; }
    say "error: expected PYTHON to be Python 3.11 or 3.13 with venv, got $PYTHON ($("$PYTHON" -V 2>&1 || true))"
    return 3
  fi
  for version in $SUPPORTED; do
    for candidate in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python \
      "$(command -v "python$version" || true)" "$(command -v python3 || true)" \
      "${XDG_DATA_HOME:-$HOME/.local/share}"/uv/python/cpython-"$version".*/bin/python3; do
      [[ -x $candidate ]] || continue
      supported "$candidate" && { printf '%s\n' "$candidate"; return; }
    done
  done
  say "error: expected Python 3.11 (Blender 4.5-5.0) or 3.13 (Blender 5.1 and later) with venv, found none;" \
    "install one (Debian: apt-get install python3.11 python3.11-venv; pyenv: pyenv install 3.11) or set PYTHON=/path/to/python"
  return 3
}

environment() {
  local wanted python
  wanted=$(sha256sum pyproject.toml)
  [[ -x $VENV/bin/python && -f $STAMP && $(<"$STAMP") == "$wanted" ]] && return
  if ! { [[ -x $VENV/bin/python ]] && supported "$VENV/bin/python"; }; then
    python=$(find_python)
    say "creating $VENV with $python"
    "$python" -m venv --clear "$VENV"
  fi
  say "installing the package and its tools into $VENV (the first time takes a few minutes)"
  "$VENV/bin/python" -m pip install --disable-pip-version-check --quiet --editable '.[dev]'
  printf '%s\n' "$wanted" >"$STAMP"
}

# apt_install REASON PACKAGE…
apt_install() {
  local reason=$1
  shift
  if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    say "installing $* ($reason)"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@" >/dev/null && return
    say "warning: apt-get did not install $* ($reason)"
  else
    say "missing $* ($reason); on Debian or Ubuntu: sudo apt-get install -y --no-install-recommends $*"
  fi
}

libraries() {
  local module missing packages
  module=$(echo "$VENV"/lib/python3.*/site-packages/bpy/__init__*.so)
  [[ $(uname -s) == Linux && -f $module ]] || return 0
  missing=$(ldd "$module" | awk '/not found/ { print $1 }' | sort -u)
  [[ -n $missing ]] || return 0
  # shellcheck disable=SC2086 # one argument for each library
  packages=$("$VENV/bin/python" -c '
import sys
from renderer.missing import package_for
print(*sorted({package_for(name) or name for name in sys.argv[1:]}))' $missing)
  # shellcheck disable=SC2086 # one argument for each package
  apt_install "Blender loads them" $packages
}

browser() {
  command -v chromium >/dev/null && command -v chromedriver >/dev/null && return
  apt_install "the report's test opens it; without it that test is skipped" chromium chromium-driver
}

for step in "$@"; do
  case $step in
    environment | libraries | browser) "$step" ;;
    *) say "error: expected environment, libraries or browser, got $step"; exit 2 ;;
  esac
done

#!/usr/bin/env bash
# Installs the Python package in a clean virtual environment, checks its types, and runs its tests and its notebook.
# ESPALIER names the program that they run; by default it is built.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-compile "./python[beam,train]" -r python/tests/requirements.txt
[ -n "${ESPALIER-}" ] || go build -o "$work/espalier" ./cmd/espalier
(cd python && "$work/venv/bin/mypy" espalier_beam tests)
ESPALIER=${ESPALIER:-$work/espalier} PYTHONPYCACHEPREFIX=$work/pycache "$work/venv/bin/python" -m pytest -q -p no:cacheprovider python

#!/usr/bin/env bash
# Installs the Python package, as a wheel with the program, in clean virtual environments: one with the newest
# libraries, where it checks types and runs all tests and the notebook, and one with the oldest that the package
# takes, where it runs the tests of the estimator. ESPALIER names the program of the wheel; by default it is built.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONPYCACHEPREFIX=$work/pycache
python3 -m venv "$work/venv"
ESPALIER_PROGRAM=${ESPALIER-} "$work/venv/bin/pip" wheel -q --no-deps -w "$work" ./python
unset ESPALIER
wheel=("$work"/espalier-*.whl)
"$work/venv/bin/pip" install -q --no-compile "${wheel[0]}[beam,pandas]" -r python/tests/requirements.txt
(cd python && "$work/venv/bin/mypy" espalier espalier_beam tests hatch_build.py)
"$work/venv/bin/python" -m pytest -q -p no:cacheprovider python
python3 -m venv "$work/oldest"
"$work/oldest/bin/pip" install -q --no-compile "${wheel[0]}[pandas]" -r python/tests/oldest.txt
"$work/oldest/bin/python" -m pytest -q -p no:cacheprovider python/tests/test_classifier.py

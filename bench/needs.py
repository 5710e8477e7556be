#!/usr/bin/env python3
"""Installs what scripts of this folder need.

    bench/needs.py SCRIPT ..

The folder requirements lists the packages of each script, and their versions in
versions.txt. A package that Python can import already is left as it is,
whatever its version.
"""

import importlib.util, os, subprocess, sys

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'requirements')
modules = {'scikit-learn': 'sklearn'}  # where the module has another name than the package


def need(script):
    """Installs the packages of a script that Python cannot import."""
    with open(os.path.join(folder, script + '.txt')) as f:
        packages = [line.strip() for line in f if line.strip() and line[0] not in '-#']
    missing = [p for p in packages if not importlib.util.find_spec(modules.get(p, p))]
    if missing:
        subprocess.check_call(
            [sys.executable, '-m', 'pip', 'install', '-q', '-c', os.path.join(folder, 'versions.txt'), *missing]
        )


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for name in sys.argv[1:]:
        need(name)

"""Installs what a script of this folder needs, at the versions of requirements.txt."""
import importlib.util, os, re, subprocess, sys

modules = {'scikit-learn': 'sklearn'}  # where they are not called as the package


def need(*packages):
    """Installs those of the packages that Python cannot import, whatever their version."""
    missing = [p for p in packages if not importlib.util.find_spec(modules.get(p, p))]
    if not missing:
        return
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'requirements.txt')) as f:
        pinned = dict(re.match(r'([\w-]+)==(\S+)', line).groups() for line in f if re.match(r'[\w-]+==', line))
    wanted = [f'{p}=={pinned[p]}' for p in missing]
    subprocess.check_call([sys.executable, '-m', 'pip', 'install', '-q', *wanted])

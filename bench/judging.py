"""What the scripts check_*.py share: a judge of data sets, with a binary of Espalier."""

import argparse, os, subprocess, sys, tempfile

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')


def main(doc, sets, judge, **more):
    """Calls judge(name, binary, folder) for each data set, with a folder of its own, and ends the
    program: with 1 if some judge did not return True. sets are those without the option --sets.
    Further lists and numbers are options, which judge takes by their names."""
    ap = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--sets', type=lambda s: s.split(','), default=sets)
    ap.add_argument('--espalier', help='a binary to use instead of building one')
    for option, values in more.items():
        kind = int if isinstance(values, int) else lambda s: s.split(',')
        ap.add_argument('--' + option, type=kind, default=values)
    options = ap.parse_args()
    given = {option: getattr(options, option) for option in more}
    with tempfile.TemporaryDirectory() as folder:
        binary = options.espalier
        if not binary:
            binary = os.path.join(folder, 'espalier')
            subprocess.run(['go', 'build', '-o', binary, './cmd/espalier'], cwd=root, check=True)
        fine = True
        for name in options.sets:
            below = os.path.join(folder, name)
            os.mkdir(below)
            fine &= judge(name, binary, below, **given)
    sys.exit(not fine)

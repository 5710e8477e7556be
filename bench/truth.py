#!/usr/bin/env python3
"""Measures whether the figures that the program prints hold on new rows.

    bench/truth.py [--sets NAME,..] [--samples 200] [--espalier BIN]

Rows are drawn with known class probabilities, so that the true figures of a tree are known: they are computed from the
probabilities of 30,000 to 100,000 further rows, which check_models.py sends through tree.json by numpy. The sets are

    slices, evaluate  how often the 95 % intervals contain the true figures, by kind of rows
    training          the same for the test rows of train
    compare, power    how often two trees of which none is better, or one, are said to differ
    gate              how often retrain refuses a night like all others
    merit, folds      AUC of the chosen tree on the rows that chose it, and on the first screen, less the true AUC
    priors            the choice of a tree for other frequencies of the classes than those of the rows
    sure, calibration classes of which `ask --confidence` is sure, and the verdict on exact probabilities
    drift             alarms on days of the distribution of the training rows, by check_drift.py
    limits            whether each limit is kept or refused, wherever trees are chosen

Prints a Markdown table. A figure is "by chance" if it is not as wanted, but would be as far off or farther with a
probability above 0.0025 if the true one were at the end of what is wanted. The script fails if a figure is MISSED or a
limit is VIOLATED. The seeds are fixed. It needs Python, and Go unless --espalier names a binary; it installs by pip what
is missing of numpy and pyarrow.
"""

import os, subprocess, sys

sys.dont_write_bytecode = True
from needs import need

need('truth')

import judging
from synthetic import Runs
from truth import choice, intervals, leaves, limits, table


def drift(runs, samples):
    """Days of the distribution of the training rows."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'check_drift.py')
    n = str(max(2, samples // 20))
    ran = subprocess.run([sys.executable, script, '--runs', n, '--espalier', runs.binary], capture_output=True, text=True)
    days = '; '.join(line.strip() for line in ran.stdout.splitlines() if 'any alarm' in line)
    said = days + ran.stderr.strip().replace('\n', ' ')
    table.line('days with an alarm', f'check_drift.py --runs {n}', n, said, 'at most 0.02', 'MISSED' if ran.returncode else 'ok')


sets = {
    'slices': intervals.slices, 'evaluate': intervals.evaluate, 'training': intervals.training, 'compare': intervals.compare,
    'power': intervals.power, 'gate': intervals.gate, 'merit': choice.merit, 'folds': choice.folds, 'priors': choice.priors,
    'sure': leaves.sure, 'calibration': leaves.calibration, 'drift': drift, 'limits': limits.limits,
}


def judge(name, binary, folder, samples):
    table.fine = True
    sets[name](Runs(binary, folder), samples)
    return table.fine


if '-h' not in sys.argv and '--help' not in sys.argv:
    table.head()
judging.main(__doc__, list(sets), judge, samples=200)

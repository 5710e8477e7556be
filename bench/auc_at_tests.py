#!/usr/bin/env python3
"""Test AUC at a number of tests a row, beside 100 rounds of LightGBM that ask what they like.

    bench/auc_at_tests.py [--sets NAME,..] [--espalier BINARY] [--tests 1,2,3,4,6,8,10]
                          [--without_lightgbm] [--bought] [-- FLAGS OF ESPALIER]

For each number of tests, frontier.json answers with its tree of the highest merit that asks no
more in the mean. Figures are means over three splits. Without flags of espalier the preset is
accurate. --bought counts what is billed instead of tests: features, if repeats are free. Needs the data
sets and Python; installs by pip what is missing of numpy, pandas, pyarrow, scikit-learn and lightgbm.
"""

import sys, time

sys.dont_write_bytecode = True
from needs import need

need('auc_at_tests')

import numpy as np

from frontiers import arguments, boosted, frontier, margin, parse, read, sets
from protocol import Espalier, query


def main():
    ap = arguments(__doc__, tests='1,2,3,4,6,8,10')
    ap.add_argument('--without_lightgbm', action='store_true')
    ap.add_argument('--bought', action='store_true')
    options, flags = parse(ap)
    counted = 'expected_cost' if options.bought else 'expected_tests'
    with Espalier(options.espalier) as espalier:
        for name in options.sets:
            rows = read(name)
            found, ensemble, seconds = [], [], 0.0
            for parts in rows.splits():
                began = time.time()
                points = frontier(espalier, rows.table, parts, *(flags or ['--preset', 'accurate']), counted=counted)
                seconds += time.time() - began
                found.append([query(points, t + margin).test for t in options.tests])
                if not options.without_lightgbm:
                    fit, _, test = parts
                    ensemble.append(sets.auc(rows.y[test], boosted(rows, fit, test), rows.classes))
            line = ' | '.join(f'{t:g}: {v:.4f}' for t, v in zip(options.tests, np.mean(found, 0)))
            line += f' | LightGBM {np.mean(ensemble):.4f}' if ensemble else ''
            print(f'{name:16s} {line} | {seconds:.1f} s', flush=True)


main()

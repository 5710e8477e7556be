#!/usr/bin/env python3
"""Test AUC at a number of tests a row, without and with soft labels of LightGBM.

    bench/soft_labels.py [--sets NAME,..] [--espalier BINARY] [--tests 2,4,6]
                         [--teacher_weight 0.5,1] [-- FLAGS OF ESPALIER]

The soft labels of a training row are the probabilities of a model that has not seen the row (5
folds). For each number of tests, frontier.json answers with its tree of the highest merit that
asks no more in the mean. Figures are means over three splits. Needs the data sets and
Python; installs by pip what is missing of numpy, pandas, pyarrow, scikit-learn and lightgbm.
"""

import sys

sys.dont_write_bytecode = True
from needs import need

need('soft_labels')

import numpy as np
from sklearn.model_selection import StratifiedKFold

from frontiers import arguments, boosted, frontier, margin, parse, read
from protocol import Espalier, query


def out_of_fold(rows, train):
    """Probabilities of all rows; those of training rows by a model of the other folds, others unset."""
    out = np.full((len(rows.y), rows.classes), np.nan)
    for rest, held in StratifiedKFold(5, shuffle=True, random_state=1).split(train, rows.y[train]):
        q = boosted(rows, train[rest], train[held])
        out[train[held]] = q / q.sum(1, keepdims=True)
    return out


def main():
    ap = arguments(__doc__, tests='2,4,6')
    ap.add_argument('--teacher_weight', default='0.5,1')
    options, flags = parse(ap)
    weights = options.teacher_weight.split(',')
    print(f'{"":16s} tests: AUC of the label alone, and with teacher weights ' + ', '.join(weights))
    with Espalier(options.espalier) as espalier:
        for name in options.sets:
            rows = read(name)
            columns = ['teacher_' + c for c in rows.table['class'].astype('category').cat.categories]
            found = []  # by split, then by run, then by number of tests
            for parts in rows.splits():
                p = out_of_fold(rows, parts[0])
                table = rows.table.assign(**dict(zip(columns, p.T)))
                runs = [['--ignore', ','.join(columns)]]
                runs += [['--label_probabilities', 'teacher_*', '--teacher_weight', w] for w in weights]
                each = [frontier(espalier, table, parts, '--frontier_step', '0', *run, *flags) for run in runs]
                found.append([[query(points, t + margin).test for t in options.tests] for points in each])
            means = np.mean(found, 0).T  # by number of tests, then by run
            texts = [f'{t:g}: ' + ' '.join(f'{v:.4f}' for v in m) for t, m in zip(options.tests, means)]
            print(f'{name:16s} ' + ' | '.join(texts), flush=True)


main()

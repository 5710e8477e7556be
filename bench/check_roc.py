#!/usr/bin/env python3
"""Judges the ROC curves of metrics.json by scikit-learn.

    bench/check_roc.py [--sets NAME,..] [--espalier BIN]

The script trains on each of these sets of bench/data (bank-marketing and iris, if none is
named) with random weights of the rows, and predicts the rows of each part. The corners of
roc_curve, of the predicted probabilities and the weights, must be the points of the curve of
each class on validation and test rows, to 1e-12. Of a curve with more than 100 corners 100 are
there, and no other lies farther from the curve than 0.01. It fails if anything differs. It
needs Python, and Go unless --espalier names a binary; it installs by pip what is missing of
numpy, pyarrow and scikit-learn.
"""

import json, os, subprocess, sys

sys.dont_write_bytecode = True
from needs import need

need('check_roc')

import numpy as np
import pyarrow as pa, pyarrow.parquet as pq
from sklearn.metrics import roc_curve

import datasets
import judging

most = 100  # points of a curve
same = 1e-12  # greatest difference


def corners(positive, negative):
    """The points of a curve of whole numbers at which it turns."""
    points = list(zip(map(int, negative), map(int, positive)))
    kept = points[:1]
    for k in range(1, len(points) - 1):
        (a, b), (c, d), (e, f) = kept[-1], points[k], points[k + 1]
        if (c - a) * (f - d) != (e - c) * (d - b):
            kept.append(points[k])
    return np.array(kept + points[-1:], float)


def distance(points, curve):
    """The greatest distance of points from a curve."""
    a, d = curve[:-1], np.diff(curve, axis=0)
    along = ((points[:, None] - a) * d).sum(axis=2) / (d * d).sum(axis=1)
    nearest = a + np.clip(along, 0, 1)[:, :, None] * d
    return np.sqrt(((points[:, None] - nearest) ** 2).sum(axis=2)).min(axis=1).max()


def judge(name, binary, folder):
    files = datasets.files(name)
    table = pa.concat_tables([pq.read_table(f) for f in files])
    random = np.random.default_rng(1)
    part = np.array(['train', 'validation', 'test'])[random.choice(3, len(table), p=[.4, .3, .3])]
    table = table.append_column('part_of_row', pa.array(part))
    table = table.append_column('weight_of_row', pa.array(random.integers(0, 5, len(table))))
    rows, run, scored = (os.path.join(folder, f) for f in ('rows.parquet', 'run', 'scored'))
    pq.write_table(table, rows)
    quiet = dict(check=True, stdout=subprocess.DEVNULL)
    subprocess.run([binary, 'train', '--input', rows, '--label', 'class', '--split', 'part_of_row', '--weight',
                    'weight_of_row', '--output', run, '--progress', 'none'], **quiet)
    subprocess.run([binary, 'predict', '--model', run, '--input', rows, '--keep', 'all', '--output', scored,
                    '--progress', 'none'], **quiet)
    table = pq.read_table(os.path.join(scored, 'rows.parquet'))
    metrics = json.load(open(os.path.join(run, 'metrics.json')))
    classes = [c['class'] for c in metrics['test']['per_class']]
    actual = np.array([str(v) for v in table['class'].to_pylist()])
    weights = np.array(table['weight_of_row'].to_pylist())
    found, curves, thinned = 0, 0, 0
    for where in ('validation', 'test'):
        inside = (np.array(table['part_of_row'].to_pylist()) == where) & (weights > 0)
        for c in metrics[where]['per_class']:
            own = actual[inside] == c['class']
            p = np.array(table[f'probability_{c["class"]}'].to_pylist())[inside]
            if own.all() or not own.any():
                found += 'roc' in c
                continue
            w = weights[inside]
            x, y, _ = roc_curve(own, p, sample_weight=w, drop_intermediate=False)
            sums = np.array([w[~own].sum(), w[own].sum()])
            want = corners(np.rint(y * sums[1]), np.rint(x * sums[0])) / sums
            got = np.array([c['roc']['false_positive_rate'], c['roc']['true_positive_rate']]).T
            curves += 1
            if len(want) > most:
                thinned += 1
                near = abs(want[:, None] - got).max(axis=2).min(axis=0).max() <= same
                fine = near and len(got) == most and distance(want, got) <= 0.01
            else:
                fine = len(got) == len(want) and abs(got - want).max() <= same
            if not fine:
                found += 1
                print('DIFFERS', where, c['class'], got.tolist(), 'by scikit-learn', want.tolist())
    print(f'{name}: {"FAIL" if found else "ok"}: {curves} curves of {len(classes)} classes, {thinned} with more than '
          f'{most} corners')
    return not found


judging.main(__doc__, ['bank-marketing', 'iris'], judge)

#!/usr/bin/env python3
"""Judges importance.json by a naive permutation in numpy.

    bench/check_importance.py [--sets NAME,..] [--espalier BIN]

The script trains on each of these sets of bench/data (credit-g and phoneme, if none is
named), with a column that says which rows are for validation. It sends the validation rows
through tree.json by the conditions there. For each feature it then rolls the feature's
column by 0, 1, .. places, as many as there are rows: so each row takes the value of each
row once. The AUC over the rows of all rolls, less that of the rows as they are, must be the
loss in importance.json to 1e-9. It also sums up the entropy that the tests on a feature take
away, and the cost that they bill. It fails if anything differs. It needs Python, and Go
unless --espalier names a binary; it installs by pip what is missing of numpy and pyarrow.
"""

import json, os, subprocess, sys

sys.dont_write_bytecode = True
from needs import need

need('check_importance')

import numpy as np
import pyarrow as pa, pyarrow.parquet as pq

import datasets
import judging
from routing import Tree

same = 1e-9  # greatest difference


def area(counts, probabilities):
    """The area of one class against the rest, averaged over the classes; of two, the second's."""
    classes = counts.shape[1]
    areas = []
    for k in range(1 if classes == 2 else 0, classes):
        p, own = probabilities[:, k], counts[:, k].astype(float)
        rest = counts.sum(axis=1) - own
        if own.sum() == 0 or rest.sum() == 0:
            continue
        better = (p[:, None] > p[None, :]) + 0.5 * (p[:, None] == p[None, :])
        areas.append(own @ better @ rest / own.sum() / rest.sum())
    return np.mean(areas)


def entropy(weights):
    p = np.array([w for w in weights if w], float)
    p /= p.sum()
    return -(p * np.log2(p)).sum()


def write(name, folder):
    """Writes a set with a column of parts, seven rows in ten for training and two for validation."""
    files = datasets.files(name)
    table = pa.concat_tables([pq.read_table(f) for f in files])
    part = np.array(['train', 'validation', 'test'])[np.random.default_rng(1).choice(3, len(table), p=[.7, .2, .1])]
    table = table.append_column('part_of_row', pa.array(part))
    pq.write_table(table, os.path.join(folder, 'rows.parquet'))
    return table.filter(pa.array(part == 'validation'))


def judge(name, binary, folder):
    rows = write(name, folder)
    run = os.path.join(folder, 'run')
    subprocess.run([binary, 'train', '--input', os.path.join(folder, 'rows.parquet'), '--label', 'class', '--split',
                    'part_of_row', '--output', run, '--progress', 'none'], check=True, stdout=subprocess.DEVNULL)
    document, stated = (json.load(open(os.path.join(run, f))) for f in ('tree.json', 'importance.json'))
    nodes, classes = document['nodes'], document['label']['classes']
    columns = {f['name']: rows[f['name']].to_pylist() for f in document['features']}
    tree, n = Tree(document, columns, len(rows)), len(rows)
    actual = np.array([classes.index(str(v)) for v in rows['class'].to_pylist()])
    probabilities = np.array([v['probabilities'] for v in nodes])

    def counts(leaf):
        return np.bincount(leaf * len(classes) + actual, minlength=len(nodes) * len(classes)).reshape(len(nodes), -1)

    whole = area(counts(tree.leaves()), probabilities)
    found = []

    def near(got, want, what):
        if abs(got - want) > same:
            found.append(f'{what}: {got}, by numpy {want}')

    near(stated['auc'], whole, 'auc')
    near(stated['rows'], n, 'rows')
    tested = {v['test']['feature'] for v in nodes if 'test' in v}
    if sorted(tested) != sorted(f['feature'] for f in stated['features']):
        found.append(f'features {stated["features"]}, tested {tested}')
    for f in stated['features']:
        feature = f['feature']
        total = sum(counts(tree.leaves(feature, by)) for by in range(n))
        near(f['auc_lost'], whole - area(total, probabilities), f'{feature}: auc_lost')
        impurity = paid = 0
        for v in nodes:
            if 'test' in v and v['test']['feature'] == feature:
                share = v['weight'] / nodes[0]['weight']
                below = [nodes[b['child']] for b in v['branches']]
                impurity += share * (entropy(v['raw_class_weights']) - sum(
                    entropy(c['raw_class_weights']) * c['weight'] / v['weight'] for c in below if c['weight']))
                paid += share * v['test'].get('billed', v['test']['cost'])
        near(f['impurity'], impurity, f'{feature}: impurity')
        near(f['expected_cost'], paid, f'{feature}: expected_cost')
        near(f['auc_per_cost'], f['auc_lost'] / paid, f'{feature}: auc_per_cost')
    for text in found:
        print('DIFFERS', text)
    print(f'{name}: {"FAIL" if found else "ok"}: {len(stated["features"])} features, {n} rows, {n} rolls each')
    return not found


judging.main(__doc__, ['credit-g', 'phoneme'], judge)

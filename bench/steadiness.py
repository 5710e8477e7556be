#!/usr/bin/env python3
"""Counts how often a change of the rows that means nothing changes the tree, and measures the luck of the deal.

    bench/steadiness.py [trees|deals] [--sets NAME,..] [--seeds 3] [--deals 40] [OPTION OF train ..]

trees: a tree is grown from rows, and again from the same rows with their columns in another order, in another order of
rows, with a copy of a column, with a constant column, with other names of the categories, and with negated numbers.
Trees are compared node by node, by the feature, the rows and the class weights, whatever branch comes first.

deals: standard deviation of the true AUC over deals of the folds (--seed), for binormal rows of which 630 train, 90
validate and 180 test; the average over the samples. The AUC is that of 20,000 other rows, by a reader of its own.

The parts of the rows are fixed by a column. ESPALIER names the program; without it Go runs the program. The script
fails if a change of the order, a copy or a constant changes a tree.
"""

import json, os, shutil, subprocess, sys, tempfile

sys.dont_write_bytecode = True
from needs import need

need('trust')

import numpy as np
import pyarrow as pa, pyarrow.parquet as pq

import datasets

plain = ['--certificate', 'none', '--report', 'none', '--progress', 'none']


# Rows: each function returns the columns and the label.


def labels(rng, z, names=('a', 'b')):
    """Labels that are the second with the logistic probability of z."""
    return np.where(rng.uniform(size=len(z)) < 1 / (1 + np.exp(-z)), names[1], names[0])


def binormal(rng, n):
    y = rng.integers(0, 2, n)
    means = np.array([1.0, 0.7, 0.5, 0.0])
    x = rng.normal(size=(n, 4)) + np.outer(y, means)
    return {f'x{j}': x[:, j] for j in range(4)}, np.where(y == 1, 'b', 'a')


def mixed(rng, n):
    x, c = rng.normal(size=(6, n)), rng.integers(0, 5, n)
    z = 1.2 * x[0] + np.where(x[1] > 0.3, 1.0, -1.0) * (x[2] > -0.5) + np.array([-1, -0.3, 0, 0.3, 1.0])[c] * 0.8
    return {**{f'x{j}': x[j] for j in range(6)}, 'c': np.array(list('vwxyz'))[c]}, labels(rng, z)


def coarse(rng, n):
    x, c, d = rng.integers(0, 6, (4, n)), rng.integers(0, 4, n), rng.integers(0, 3, n)
    z = 0.6 * (x[0] - 2.5) + (c == 1) - (d == 2) * (x[1] > 2)
    return {**{f'n{j}': x[j] for j in range(4)}, 'c': np.array(list('pqrs'))[c], 'd': np.array(list('klm'))[d]}, labels(rng, z)


def xor(rng, n):
    x = rng.uniform(size=(5, n))
    return {f'u{j}': x[j].round(3) for j in range(5)}, labels(rng, 3 * np.where((x[0] > 0.5) == (x[1] > 0.5), 1, -1))


def three(rng, n):
    x, c = rng.normal(size=(4, n)), rng.integers(0, 6, n)
    s = np.column_stack([1.5 * x[0], 1.2 * x[1] + (c == 2), -x[0] + 0.5 * x[2] + (c == 4)]) + rng.gumbel(size=(n, 3))
    return {**{f'x{j}': x[j] for j in range(4)}, 'c': np.array(list('efghij'))[c]}, np.array(['k', 'l', 'm'])[s.argmax(axis=1)]


def rare(rng, n):
    columns, _ = mixed(rng, n)
    return columns, labels(rng, 1.5 * columns['x0'] + columns['x1'] - 3.5)


drawn = {'binormal': (binormal, 900), 'mixed': (mixed, 1500), 'coarse': (coarse, 600), 'xor': (xor, 1000),
         'three': (three, 1200), 'rare': (rare, 3000), 'few': (mixed, 300)}
public = ['ilpd', 'credit-g', 'tic-tac-toe', 'breast-w', 'iris', 'phoneme']


def rows(name, seed):
    """Columns, label and parts of a set."""
    rng = np.random.default_rng(seed)
    if name in drawn:
        draw, n = drawn[name]
        columns, label = draw(rng, n)
    else:
        columns = {}
        for path in datasets.files(name):
            for field, column in zip((t := pq.read_table(path)).column_names, t.columns):
                columns.setdefault(field, []).extend(column.to_pylist())
        label = np.array([str(v) for v in columns.pop('class')])
        columns = {k: np.array([np.nan if x is None else x for x in v], float) if any(isinstance(x, (int, float)) for x in v)
                   else np.array(v, object) for k, v in columns.items()}
    parts = rng.permutation(np.resize(['train'] * 7 + ['validation'] + ['test'] * 2, len(label)))
    return columns, label, parts


class Runs:
    """Runs of the program on tables."""

    def __init__(self, options):
        self.options, self.folder = options, tempfile.mkdtemp(dir=os.environ.get('WORK'))

    def tree(self, columns, label, parts, *options):
        path, out = f'{self.folder}/rows.parquet', f'{self.folder}/run'
        table = {k: pa.array(v, from_pandas=True) for k, v in columns.items()}
        pq.write_table(pa.table({**table, 'label': label, 'part': parts}), path)
        shutil.rmtree(out, ignore_errors=True)
        program = [os.environ['ESPALIER']] if 'ESPALIER' in os.environ else ['go', 'run', './cmd/espalier']
        done = subprocess.run([*program, 'train', '--input', path, '--label', 'label', '--split_column', 'part', '--output', out,
                               *plain, *self.options, *options], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        with open(f'{out}/tree.json') as f:
            return json.load(f)


def shape(tree, same, at=0):
    """What a node and the nodes below it have, whatever the order of branches; same names copies as what they copy."""
    node = tree['nodes'][at]
    if 'test' not in node:
        return (node['rows'], *node['raw_class_weights'])
    feature = node['test']['feature']
    below = sorted(repr(shape(tree, same, b['child'])) for b in node['branches'])
    return (node['rows'], same.get(feature, feature), *below)


def numeric(v):
    return v.dtype.kind in 'if'


def changes(columns, label, parts, rng):
    """Changes of a set that mean nothing: each has a kind, the columns, the label, the parts, and names of copies."""
    names = list(columns)
    for order in (names[::-1], list(rng.permutation(names))):
        yield 'columns', {k: columns[k] for k in order}, label, parts, {}
    order = rng.permutation(len(label))
    yield 'rows', {k: v[order] for k, v in columns.items()}, label[order], parts[order], {}
    some = list(rng.permutation(names))[:3]
    for k in some:
        yield 'copy', {**columns, 'zz ' + k: columns[k]}, label, parts, {'zz ' + k: k}
        yield 'copy', {'AA ' + k: columns[k], **columns}, label, parts, {'AA ' + k: k}
    yield 'constant', {'AA': np.full(len(label), 7), **columns, 'zz': np.full(len(label), 'v')}, label, parts, {}
    for k in list(rng.permutation([k for k in names if not numeric(columns[k])]))[:3]:
        values = sorted(set(v for v in columns[k] if v is not None))
        other = dict(zip(values, rng.permutation([f'v{i}' for i in range(len(values))])))
        yield 'renamed', {**columns, k: np.array([other.get(v) for v in columns[k]], object)}, label, parts, {}
    for k in list(rng.permutation([k for k in names if numeric(columns[k])]))[:3]:
        yield 'negated', {**columns, k: -columns[k].astype(float)}, label, parts, {}


kinds = ['columns', 'rows', 'copy', 'constant', 'renamed', 'negated']


def trees(sets, seeds, options):
    runs, total = Runs(options), {k: [0, 0] for k in kinds}
    print('| set | ' + ' | '.join(kinds) + ' |\n|---|' + '---|' * len(kinds))
    for name in sets:
        counts = {k: [0, 0] for k in kinds}
        for seed in range(1, seeds + 1):
            columns, label, parts = rows(name, seed)
            first = shape(runs.tree(columns, label, parts), {})
            for kind, *changed, same in changes(columns, label, parts, np.random.default_rng(seed)):
                differs = shape(runs.tree(*changed), same) != first
                for c in (counts, total):
                    c[kind][0] += differs
                    c[kind][1] += 1
        print(f'| {name} | ' + ' | '.join(f'{a} of {n}' for a, n in counts.values()) + ' |', flush=True)
    print('| all | ' + ' | '.join(f'{a} of {n}' for a, n in total.values()) + ' |')
    return not any(total[k][0] for k in kinds[:4])


def leaf_scores(tree, columns):
    """Probability of the last class of rows without missing values, for trees of numbers."""
    scores = np.empty(len(next(iter(columns.values()))))
    todo = [(0, np.arange(len(scores)))]
    while todo:
        at, ids = todo.pop()
        node = tree['nodes'][at]
        if 'test' not in node:
            scores[ids] = node['probabilities'][-1]
            continue
        x = columns[node['test']['feature']][ids]
        for b in node['branches']:
            inside, outside = np.ones(len(ids), bool), False
            for key, bound in b['when'].items():
                inside &= x >= bound if key.endswith('ge') else x < bound
                outside |= key.startswith('not')
            todo.append((b['child'], ids[inside != outside]))
    return scores


def area(scores, positive):
    """Area under the ROC curve, by ranks."""
    values, at = np.unique(scores, return_inverse=True)
    yes, no = np.bincount(at, positive), np.bincount(at, 1 - positive)
    return float((yes * (np.cumsum(no) - no / 2)).sum() / yes.sum() / no.sum())


def deals(samples, number, options):
    fresh, truth = binormal(np.random.default_rng(10**9), 20_000)
    runs, spreads, means = Runs(options), [], []
    for seed in range(1, samples + 1):
        columns, label, parts = rows('binormal', seed)
        areas = [area(leaf_scores(runs.tree(columns, label, parts, '--seed', str(s)), fresh), truth == 'b')
                 for s in range(1, number + 1)]
        spreads.append(np.std(areas, ddof=1))
        means.append(np.mean(areas))
        print(f'sample {seed}: mean {means[-1]:.4f} sd {spreads[-1]:.4f}', flush=True)
    print(f'{samples} samples, {number} deals each: mean AUC {np.mean(means):.4f}, sd over deals '
          f'{np.sqrt(np.mean(np.square(spreads))):.4f}, sd over samples {np.std(means, ddof=1):.4f}')
    return True


def main(args):
    there = [name for name in public if datasets.files(name)]
    chosen = {'--sets': ','.join([*drawn, *there]), '--seeds': '3', '--deals': '40'}
    what, rest = ['trees', 'deals'], []
    while args:
        arg = args.pop(0)
        if arg in ('trees', 'deals'):
            what = [arg]
        elif arg in chosen:
            chosen[arg] = args.pop(0)
        else:
            rest.append(arg)
    right = True
    if 'trees' in what:
        right = trees(chosen['--sets'].split(','), int(chosen['--seeds']), rest)
    if 'deals' in what:
        right = deals(int(chosen['--seeds']), int(chosen['--deals']), rest) and right
    return 0 if right else 1


if __name__ == '__main__':
    if '--help' in sys.argv:
        sys.exit(print(__doc__.strip()))
    sys.exit(main(sys.argv[1:]))

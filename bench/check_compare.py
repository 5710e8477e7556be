#!/usr/bin/env python3
"""Judges `espalier evaluate --against` by numpy and scipy, from what `espalier predict` writes.

    bench/check_compare.py [--sets NAME,..] [--espalier BIN]

The script trains four trees on each of these sets of bench/data (iris, credit-g, phoneme
and bank-marketing, if none is named): by the preset default, by the preset accurate, with
another seed and half of the expected cost, and with leaf models and weights. It scores all
rows by `espalier predict`, and compares six pairs of trees: the three others with the first
one, the first one with itself, and two of these with weights of the rows. From the two files of
predictions it computes the flips, McNemar's test by scipy, the metrics, and the standard errors
of their differences: of AUC by DeLong's covariance of two correlated curves, of means by the
paired differences of the rows. All must be what `evaluate --against --json` says, to 1e-9. It
fails if anything differs. It needs Python, and Go unless --espalier names a binary; it
installs by pip what is missing of numpy, pyarrow and scipy.
"""

import glob, json, os, subprocess, sys

sys.dont_write_bytecode = True
from needs import need

need('check_compare')

import numpy as np
import pyarrow as pa, pyarrow.parquet as pq
from scipy.stats import binomtest, norm, rankdata

import datasets
import judging

same = 1e-9  # greatest difference
z = norm.ppf(0.975)


def spelled(x):
    """Spells a class as Espalier does."""
    if isinstance(x, bool):
        return 'true' if x else 'false'
    if isinstance(x, str):
        return x
    return str(int(x)) if float(x).is_integer() else repr(float(x))


class Side:
    """What a tree predicts for all rows."""

    def __init__(self, folder, classes):
        table = pa.concat_tables([pq.read_table(f) for f in sorted(glob.glob(os.path.join(folder, '*.parquet')))])
        self.predicted = np.array([classes.index(v) for v in table['prediction'].to_pylist()])
        self.p = np.column_stack([table['probability_' + c].to_numpy() for c in classes])
        self.tests, self.cost = table['tests'].to_numpy().astype(float), table['cost'].to_numpy()
        self.leaf = table['leaf'].to_numpy()


def structural(own, rest, weights_own, weights_rest):
    """DeLong's components of an area: of each row of the class its share of lower other rows, of each other
    row its share of higher rows of the class. Ties count half."""
    if weights_own is None:  # by ranks, as in Sun and Xu's form of DeLong's method
        ranks, m, n = rankdata(np.concatenate([own, rest])), len(own), len(rest)
        return (ranks[:m] - rankdata(own)) / n, 1 - (ranks[m:] - rankdata(rest)) / m

    def below(x, where, weights):
        order = np.argsort(where)
        sums = np.concatenate([[0], np.cumsum(weights[order])])
        left, right = np.searchsorted(where[order], x, 'left'), np.searchsorted(where[order], x, 'right')
        return (sums[left] + sums[right]) / 2 / sums[-1]

    return below(own, rest, weights_rest), 1 - below(rest, own, weights_own)


def areas(sides, actual, w):
    """The mean area of both trees, and the standard error of the difference by the 2x2 covariance of the
    moves. A weight of w counts as w N/W rows."""
    classes = range(sides[0].p.shape[1])
    ranked = [k for k in ([1] if len(classes) == 2 else classes) if 0 < (actual == k).sum() < len(actual)]
    if not ranked:
        return None
    per = len(actual) / w.sum()
    equal = (w == w[0]).all()
    moves, values = [], []
    for s in sides:
        move, area = np.zeros(len(actual)), 0
        for k in ranked:
            own, rest = actual == k, actual != k
            v10, v01 = structural(s.p[own, k], s.p[rest, k], None if equal else w[own], None if equal else w[rest])
            area += np.average(v10, weights=w[own]) / len(ranked)
            move[own] += v10 / (per * w[own].sum()) / len(ranked)
            move[rest] += v01 / (per * w[rest].sum()) / len(ranked)
        moves.append(move)
        values.append(area)
    covariance = np.zeros((2, 2))
    for k in classes:
        own = actual == k
        n = per * w[own].sum()
        if not own.any():
            continue
        if n < 2:
            return values + [None]
        centred = [m[own] - np.average(m[own], weights=w[own]) for m in moves]
        for i in range(2):
            for j in range(2):
                covariance[i, j] += n * np.average(centred[i] * centred[j], weights=w[own]) * n / (n - 1)
    return values + [np.sqrt(max(0, covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]))]


def paired(a, b, w):
    """The means of both trees, and the standard error of the difference by the rows' differences: as if all rows had
    the average weight, and by the sandwich, which is less where the rows that differ have small weights."""
    d, n = b - a, len(a)
    mean = np.average(d, weights=w)
    sandwich = np.sqrt((((d - mean) * w) ** 2).sum()) / w.sum()
    return [np.average(a, weights=w), np.average(b, weights=w),
            np.sqrt(np.average((d - mean) ** 2, weights=w) / (n - 1)), sandwich]


def by_class(a, b, actual, w):
    per, parts = len(actual) / w.sum(), []
    for k in sorted(set(actual)):
        own = actual == k
        d, n = (b - a)[own], per * w[own].sum()
        mean = np.average(d, weights=w[own])
        parts.append([np.average(a[own], weights=w[own]), np.average(b[own], weights=w[own]),
                      np.average((d - mean) ** 2, weights=w[own]) / (n - 1),
                      (((d - mean) * w[own]) ** 2).sum() / w[own].sum() ** 2])
    parts = np.array(parts)
    errors = np.sqrt(parts[:, 2:].sum(axis=0)) / len(parts)
    return [parts[:, 0].mean(), parts[:, 1].mean(), *errors]


def wanted(sides, actual, w):
    """All metrics: value of A, value of B, standard error of the difference."""
    rows, count = np.arange(len(actual)), sides[0].p.shape[1]
    hits = [(s.predicted == actual).astype(float) for s in sides]
    loss = [-np.log(np.clip(s.p[rows, actual], 1e-15, 1 - 1e-15)) for s in sides]
    if count == 2:
        brier = [(s.p[:, 1] - actual) ** 2 for s in sides]
    else:
        brier = [((s.p - np.eye(count)[actual]) ** 2).sum(axis=1) for s in sides]
    return {
        'auc_ovr_macro': areas(sides, actual, w),
        'accuracy': paired(*hits, w), 'balanced_accuracy': by_class(*hits, actual, w),
        'log_loss': paired(*loss, w), 'brier': paired(*brier, w),
        'expected_tests': paired(sides[0].tests, sides[1].tests, w),
        'expected_cost': paired(sides[0].cost, sides[1].cost, w),
    }


def judge_pair(what, found, sides, actual, classes, w, scale):
    """Compares a document with the figures of numpy and scipy."""
    wrong, checked = [], 0

    def near(name, got, want):
        nonlocal checked
        checked += 1
        if (got is None) != (want is None) or got is not None and not abs(got - want) <= same * max(1, abs(want)):
            wrong.append(f'{what}: {name} {got}, by numpy {want}')

    for name, figure in wanted(sides, actual, w).items():
        got = found['metrics'].get(name)
        if got is None or figure is None:
            near(name, got, figure)
            continue
        a, b, error, *sandwich = figure
        near(name + ' of A', got['a'], a)
        near(name + ' of B', got['b'], b)
        near(name + ' B - A', got['difference'], b - a)
        if error is not None:
            low, high = got['interval']['low'], got['interval']['high']
            deviation = got['interval']['standard_error']
            if len(set(w)) == 1:
                near(name + ' standard error', deviation, error)
            elif not 0.85 * min([error, *sandwich]) <= deviation <= 1.5 * error + same:  # from the sandwich to Kish's rows
                wrong.append(f'{what}: {name} standard error {deviation}, by numpy {error} without Kish')
            near(name + ' middle of the interval', (low + high) / 2, b - a)
            if high - low < 2 * z * deviation - same:  # Student's t is wider than the normal distribution
                wrong.append(f'{what}: {name} from {low} to {high}, with the standard error {deviation}')
    flips, changed = found['flips'], sides[0].predicted != sides[1].predicted
    right = int((changed & (sides[1].predicted == actual)).sum())
    lost = int((changed & (sides[0].predicted == actual)).sum())
    near('flips', flips['rows'], int(changed.sum()))
    near('share of the flips', flips['share'], w[changed].sum() / w.sum())
    near('became right', flips['became_right'], right)
    near('became wrong', flips['became_wrong'], lost)
    near("McNemar's p", flips['mcnemar_p'], binomtest(right, right + lost, 0.5).pvalue if right + lost else 1.0)
    listed = {(f['from'], f['to']): f for f in flips['list']}
    for i, a in enumerate(classes):
        for j, b in enumerate(classes):
            own = (sides[0].predicted == i) & (sides[1].predicted == j)
            if i == j or not own.any():
                continue
            f = listed.pop((a, b), None) or {'rows': 0, 'weight': 0, 'became_right': 0, 'became_wrong': 0}
            near(f'flips from {a} to {b}', f['rows'], int(own.sum()))
            near(f'weight of flips from {a} to {b}', f['weight'], w[own].sum() * scale)
            near(f'from {a} to {b}, right', f['became_right'], int((own & (actual == j)).sum()))
            near(f'from {a} to {b}, wrong', f['became_wrong'], int((own & (actual == i)).sum()))
    near('other flips', len(listed), 0)
    for side, name in zip(sides, 'ab'):
        for leaf in found[name]['leaves']:
            near(f'rows at leaf {leaf["leaf"]} of {name}', leaf['rows'], int((side.leaf == leaf['leaf']).sum()))
    return wrong, checked


def judge(name, binary, folder):
    """Judges the comparisons of four trees on a set."""
    table = pa.concat_tables([pq.read_table(f) for f in datasets.files(name)])
    weights = np.random.default_rng(1).integers(1, 9, len(table)) / 4
    table = table.append_column('espalier_weight', pa.array(weights))
    rows = os.path.join(folder, 'rows.parquet')
    pq.write_table(table, rows, row_group_size=max(1000, len(table) // 3))

    def run(*args):
        done = subprocess.run([binary, *args, '--progress', 'none'], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f'{" ".join(args)}: {done.stderr}')
        return done.stdout

    def train(out, *args):
        out = os.path.join(folder, out)
        run('train', '--input', rows, '--label', 'class', '--output', out, '--report', 'none', *args)
        return out

    plain = ('--ignore', 'espalier_weight')
    first = train('first', *plain)
    with open(os.path.join(first, 'tree.json')) as f:
        tree = json.load(f)
    half = repr(max(1, tree['complexity']['expected_cost'] / 2))
    models = [first, train('accurate', '--preset', 'accurate', *plain),
              train('half', '--seed', '7', '--max_expected_cost', half, *plain),
              train('weighted', '--leaf_model', 'auto', '--weight', 'espalier_weight', '--seed', '3')]
    classes = tree['label']['classes']
    actual = np.array([classes.index(spelled(v)) for v in table['class'].to_pylist()])
    sides = []
    for i, model in enumerate(models):
        scored = os.path.join(folder, f'scored{i}')
        run('predict', '--model', model, '--input', rows, '--output', scored)
        sides.append(Side(scored, classes))
    wrong, checked = [], 0
    for b, weighted in [(1, False), (2, False), (3, False), (0, False), (1, True), (3, True)]:
        args = ('--weight', 'espalier_weight') if weighted else ()
        found = json.loads(run('evaluate', first, '--against', models[b], '--input', rows, '--json', *args))
        w = weights if weighted else np.ones(len(table))
        more, n = judge_pair(f'{name}, tree {b}{" weighted" * weighted}', found, [sides[0], sides[b]], actual, classes, w,
                             found['metrics'].get('weight_scale', 1) / w.mean())
        wrong += more
        checked += n
        if b == 0 and (found['flips']['rows'] or found['nodes']['differences']):
            wrong.append(f'{name}: the tree differs from itself')
    for text in wrong[:20]:
        print('DIFFERS', text)
    print(f'{"FAIL" if wrong else "ok"}: {name}, {len(table)} rows, 6 comparisons, {checked} figures, {len(wrong)} differences')
    return not wrong


judging.main(__doc__, ['iris', 'credit-g', 'phoneme', 'bank-marketing'], judge)

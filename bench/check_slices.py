#!/usr/bin/env python3
"""Judges the slices of metrics.json by pandas and scikit-learn.

    bench/check_slices.py [--sets NAME,..] [--espalier BIN]

The script trains on each of these sets of bench/data (bank-marketing and firewall, if
none is named), with and without leaf models, and asks for slices by all columns: the
features, the column that says which rows are for validation, and one of 60 texts and nulls
that is ignored. It finds the slices of the rows by pandas, and their figures by
scikit-learn from the probabilities of `espalier predict`: AUC, accuracy, balanced accuracy,
log loss, Brier score, costs, tests, the shares of the classes, and the standard errors by
DeLong's formula and the usual ones in numpy; truth.py measures what the intervals cover. All must be the same to 1e-9, slice by slice and
in the same order. Then it evaluates the test rows with the same columns, and judges that in
the same way. With leaf models, slices of more than 16,384 rows may differ by 1e-5, as
docs/reading.md says. It fails if anything else differs. It needs Python, and Go unless --espalier names
a binary; it installs by pip what is missing of numpy, pandas, pyarrow and scikit-learn.
"""

import json, math, os, subprocess, sys, warnings
from fractions import Fraction

sys.dont_write_bytecode = True
from needs import need

need('check_slices')

import numpy as np
import pandas as pd
import pyarrow as pa, pyarrow.parquet as pq
from sklearn.metrics import accuracy_score, balanced_accuracy_score, brier_score_loss, log_loss, roc_auc_score

import datasets
import judging

warnings.filterwarnings('ignore', category=UserWarning)  # of scikit-learn, for slices of one class
same = 1e-9  # greatest difference
alike = 1e-5  # the same for slices of a tree with leaf models that may have more predictions than are counted exactly
distinct = 1 << 14  # predictions that are counted exactly
z = 1.959963984540054
most_numbers, ranges, most_values = 10, 4, 50  # as docs/reading.md says


def spelled(x):
    """Spells a value as categories are spelled."""
    if isinstance(x, (bool, np.bool_)):
        return 'true' if x else 'false'
    if isinstance(x, str):
        return x
    return str(int(x)) if float(x).is_integer() else repr(float(x))


def short(a, b):
    """Returns the decimal of few digits between two numbers, as docs/dev/decisions.md describes it."""
    if a < 0 <= b:
        return 0.0
    middle = Fraction((a + b) / 2)

    def nearest(k):
        unit = Fraction(10) ** k
        n = math.floor(middle / unit + Fraction(1, 2))
        return next(((abs(m), float(m * unit)) for m in (n, n + 1, n - 1) if a < float(m * unit) <= b), None)

    k = math.ceil(math.log10(b - a)) + 1
    while Fraction(10) ** k > Fraction(b - a):
        k -= 1
    found = nearest(k)
    while found[0] >= 10 and nearest(k + 1):
        k += 1
        found = nearest(k)
    if found[0] < 10:
        finer = nearest(k - 1)
        if finer and finer[0] < 10:
            found = finer
    return found[1]


def slices_of(name, column):
    """Lists the slices of a column: what a slice is, and which rows it has. The values and ranges are chosen by the rows of
    all parts."""
    values = column.dropna()
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    missing = column.isna()
    found, kept = [], pd.Series(False, index=column.index)
    if numeric and values.nunique() > most_numbers:
        count = values.value_counts().sort_index()
        sums, distinct = count.cumsum().to_numpy(), count.index.to_numpy(dtype=float)
        at = [int(np.argmax(sums * ranges >= i * sums[-1])) for i in range(1, ranges)]
        cuts = sorted({short(distinct[i], distinct[i + 1]) for i in at if i + 1 < len(distinct)})
        bins = pd.Series(np.searchsorted(cuts, column.to_numpy(dtype=float), side='right'), index=column.index)
        for i in range(len(cuts) + 1):
            what = {'column': name, 'of': 'range'}
            what |= {'from': cuts[i - 1]} if i else {}
            what |= {'to': cuts[i]} if i < len(cuts) else {}
            found.append((what, (bins == i) & ~missing))
    else:
        count = values.value_counts()
        order = sorted(count.index, key=lambda v: (-count[v], v))[:most_values]
        for v in sorted(order):
            rows = (column == v).fillna(False).astype(bool)
            found.append(({'column': name, 'of': 'value', 'value': spelled(v)}, rows))
            kept |= rows
        found.append(({'column': name, 'of': 'others'}, ~kept & ~missing))
    found.append(({'column': name, 'of': 'missing'}, missing))
    return found


def mean_error(x):
    return np.std(x, ddof=0) / np.sqrt(len(x) - 1) if len(x) > 1 else None


def area_error(actual, p, ranked):
    """DeLong's standard error of the mean area of some classes; None: a class has too few rows."""
    counts = [int((actual == k).sum()) for k in range(p.shape[1])]
    if min(c for c in counts if c) < 2:
        return None
    moves = np.zeros(len(actual))
    for k in ranked:
        own = np.sort(p[actual == k, k])
        rest = np.sort(p[actual != k, k])
        def below(x, where):
            return (np.searchsorted(where, x, 'left') + np.searchsorted(where, x, 'right')) / 2 / len(where)
        moves[actual == k] += below(p[actual == k, k], rest) / len(own)
        moves[actual != k] += (1 - below(p[actual != k, k], own)) / len(rest)
    moves /= len(ranked)
    variance = sum(c * np.var(moves[actual == k], ddof=1) for k, c in enumerate(counts) if c)
    return np.sqrt(variance)


def figures(rows, classes, whole):
    """The figures of some rows by scikit-learn; None as a value: undefined, as a missing key: not compared."""
    n, two = len(rows), len(classes) == 2
    actual = np.array([classes.index(spelled(v)) for v in rows['class']])
    predicted = np.array([classes.index(v) for v in rows['prediction']])
    p = rows[['probability_' + c for c in classes]].to_numpy()
    seen = sorted(set(actual))
    ranked = [k for k in ([1] if two else range(len(classes))) if 0 < (actual == k).sum() < n]
    areas = [roc_auc_score(actual == k, p[:, k]) for k in ranked]
    f = {
        'rows': n, 'weight': n, 'share': n / whole, 'auc_ovr_macro': np.mean(areas) if areas else None,
        'accuracy': accuracy_score(actual, predicted),
        'log_loss': -np.log(np.clip(p[np.arange(n), actual], 1e-15, 1 - 1e-15)).mean(),
        'expected_cost': rows['cost'].mean(), 'expected_tests': rows['tests'].mean(),
    }
    if len(seen) == len(classes):
        assert abs(f['log_loss'] - log_loss(actual, np.clip(p, 1e-15, 1), labels=range(len(classes)))) < 1e-6
    if two:
        f['brier'] = brier_score_loss(actual, p[:, 1]) if len(seen) == 2 else np.mean((p[:, 1] - actual) ** 2)
    else:
        f['brier'] = ((p - np.eye(len(classes))[actual]) ** 2).sum(axis=1).mean()
    recalls = [(predicted[actual == k] == k).mean() for k in seen]
    f['balanced_accuracy'] = balanced_accuracy_score(actual, predicted) if set(predicted) <= set(seen) else np.mean(recalls)
    counts = [(actual == k).sum() for k in seen]
    error = np.sqrt(sum(r * (1 - r) / c for r, c in zip(recalls, counts))) / len(seen)
    f['intervals'] = {
        'accuracy': np.sqrt(f['accuracy'] * (1 - f['accuracy']) / n), 'balanced_accuracy': error,
        'expected_cost': mean_error(rows['cost']), 'expected_tests': mean_error(rows['tests']),
    }
    if areas and (deviation := area_error(actual, p, ranked)) is not None:
        f['intervals']['auc_ovr_macro'] = deviation
    f['classes'] = [((actual == k).mean(), (predicted == k).mean(), (predicted[actual == k] == k).mean() if k in seen else None)
                    for k in range(len(classes))]
    return f


def differences(what, got, want, models):
    found = []
    most = alike if models != 'none' and want['rows'] > distinct else same

    def near(name, a, b):
        if (a is None) != (b is None) or a is not None and abs(a - b) > most * max(1, abs(b)):
            found.append(f'{what}: {name} {a}, by scikit-learn {b}')

    for name, value in want.items():
        if name == 'intervals':
            for figure, error in value.items():
                interval = got[name][figure] if got[name] else None
                if interval is None or error is None:
                    continue
                near(f'standard error of {figure}', interval['standard_error'], error)
                if not interval['low'] - same <= got[figure] <= interval['high'] + same:
                    found.append(f'{what}: {figure} {got[figure]} is not in its interval {interval}')
        elif name == 'classes':
            for c, (prevalence, predicted, recall) in zip(got[name], value):
                near(c['class'] + ' prevalence', c['prevalence'], prevalence)
                near(c['class'] + ' predicted', c['predicted'], predicted)
                near(c['class'] + ' recall', c.get('recall'), recall)
        else:
            near(name, got[name], value)
    return found


def judge_part(part, stated, rows, names, classes, inside, models):
    """Compares the slices of a part with those of pandas."""
    found, at = [], 0
    for name in names:
        for what, member in slices_of(name, rows[name]):
            own = rows[member & inside]
            if not len(own):
                continue
            if at >= len(stated) or {k: stated[at].get(k) for k in what} != what:
                return [f'{part}: slice {at} is not {what}'], at
            found += differences(f'{part} {what}', stated[at], figures(own, classes, int(inside.sum())), models)
            at += 1
    if at != len(stated):
        found.append(f'{part}: {len(stated)} slices, by pandas {at}')
    return found, at


def write(name, folder):
    """Writes a set with a column of parts and one of texts that no tree may test."""
    table = pa.concat_tables([pq.read_table(f) for f in datasets.files(name)])
    draw = np.random.default_rng(1)
    part = draw.choice(['train', 'validation', 'test'], len(table), p=[.7, .1, .2])
    town = [None if v > 59 else f'town {v}' for v in np.minimum(62, draw.geometric(.06, len(table)))]
    table = table.append_column('part_of_row', pa.array(part)).append_column('town', pa.array(town))
    pq.write_table(table, os.path.join(folder, 'rows.parquet'), row_group_size=5000)
    pq.write_table(table.filter(pa.array(part == 'test')), os.path.join(folder, 'test.parquet'))


def run(*argv):
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)


def judge(name, binary, folder, models):
    write(name, folder)
    file, out = (lambda f: os.path.join(folder, f)), os.path.join(folder, 'run-' + models)
    names = [c for c in pq.read_schema(file('rows.parquet')).names if c != 'class']
    slices = ','.join(names)
    run(binary, 'train', '--input', file('rows.parquet'), '--label', 'class', '--split', 'part_of_row', '--ignore', 'town',
        '--leaf_model', models, '--slice', slices, '--output', out, '--progress', 'none')
    run(binary, 'predict', '--model', out, '--input', file('rows.parquet'), '--keep', 'all', '--output', out + '-scored',
        '--progress', 'none')
    run(binary, 'evaluate', '--model', out, '--input', file('test.parquet'), '--slice', slices, '--output',
        out + '-metrics.json', '--progress', 'none')
    rows = pd.read_parquet(os.path.join(out + '-scored', 'rows.parquet'))
    metrics, classes = (json.load(open(os.path.join(out, f))) for f in ('metrics.json', 'tree.json'))
    classes = classes['label']['classes']
    found, count = [], 0
    for part in ('train', 'validation', 'test'):
        differ, n = judge_part(part, metrics[part]['slices'], rows, names, classes, rows['part_of_row'] == part, models)
        found, count = found + differ, count + n
    test = rows[rows['part_of_row'] == 'test']
    every = pd.Series(True, index=test.index)
    stated = json.load(open(out + '-metrics.json'))['test']['slices']
    differ, n = judge_part('evaluate', stated, test, names, classes, every, models)
    for text in (found + differ)[:20]:
        print('DIFFERS', text)
    print(f'{name}, models {models}: {"FAIL" if found or differ else "ok"}: {len(names)} columns, {count} slices of '
          f'training, {n} of evaluation, {len(rows)} rows')
    return not found and not differ


judging.main(__doc__, ['bank-marketing', 'firewall'], lambda *of: all([judge(*of, models) for models in ('none', 'linear')]))

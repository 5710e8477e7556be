#!/usr/bin/env python3
"""Judges `espalier evaluate --predictions` by pandas, from what `espalier predict` writes.

    bench/check_live.py [--sets NAME,..] [--espalier BIN]

The script trains three trees on each of these sets of bench/data (iris, credit-g and phoneme,
if none is named): by the preset default, with leaf models, and with half of the expected cost. It
scores the rows of three days: two by a tree each, the last one by all trees (--also). It writes labels
of four fifths of the rows and of rows that nobody has scored, with keys of other types and in another
order. pandas joins the files. Counts, AUC, log loss, accuracy, cost, tests and the bins of the calibration, by
tree and by day and in all, with and without weights, must be those of `evaluate --predictions --json`,
to 1e-9. It fails if anything differs. It needs Python, and Go unless --espalier names a binary; it
installs by pip what is missing of numpy, pandas and pyarrow.
"""

import glob, json, os, subprocess, sys

sys.dont_write_bytecode = True
from needs import need

need('check_live')

import numpy as np
import pandas as pd
import pyarrow as pa, pyarrow.parquet as pq

import datasets
import judging

same = 1e-9  # greatest difference
days = ['2026-11-21', '2026-11-22', '2026-11-23']


def spelled(x):
    """Spells a class as Espalier does."""
    if isinstance(x, bool):
        return 'true' if x else 'false'
    if isinstance(x, str):
        return x
    return str(int(x)) if float(x).is_integer() else repr(float(x))


def area(own, p, w):
    """The area under the ROC curve: the share of pairs in the right order; ties count half."""
    sums = pd.DataFrame({'own': w * own, 'rest': w * ~own}).groupby(p).sum()  # ascending
    below = sums.rest.cumsum() - sums.rest / 2
    return (sums.own * below).sum() / (sums.own.sum() * sums.rest.sum())


def wanted(rows, classes):
    """The figures of joined rows."""
    p = rows[['probability_' + c for c in classes]].to_numpy()
    actual = rows.actual.map({c: i for i, c in enumerate(classes)}).to_numpy()
    predicted = rows.prediction.map({c: i for i, c in enumerate(classes)}).to_numpy()
    w = rows.weight.to_numpy()
    mean = lambda x: np.average(x, weights=w)
    ranked = [k for k in ([1] if len(classes) == 2 else range(len(classes))) if 0 < (actual == k).sum() < len(actual)]
    class_of = np.ones(len(p), int) if len(classes) == 2 else predicted
    said, true = p[np.arange(len(p)), class_of], (actual == class_of).astype(float)
    bins, gaps, chances = [], [], []
    for b, part in pd.DataFrame({'p': said, 'true': true, 'w': w}).groupby(np.minimum((said * 10).astype(int), 9)):
        said_mean, share = np.average(part.p, weights=part.w), np.average(part.true, weights=part.w)
        bins.append({'from': b / 10, 'to': (b + 1) / 10, 'weight': part.w.sum(), 'mean_probability': said_mean,
                     'observed_share': share})
        gaps.append((part.w.sum() / w.sum(), abs(said_mean - share)))
        chances.append(part.w.sum() / w.sum() * said_mean * (1 - said_mean) / len(rows))  # variance of the bin's part
    observed, chance = sum(s * g for s, g in gaps), sum(np.sqrt(2 / np.pi * np.array(chances)))
    shape = chance**2 / ((1 - 2 / np.pi) * sum(chances))
    limit = chance * (1 - 1 / (9 * shape) + 1.6448536269514722 / (3 * np.sqrt(shape))) ** 3
    by_chance = {'expected_error': np.sqrt(observed**2 - chance**2) if observed > limit else 0, 'chance_error': chance, 'chance_limit': limit}
    if len(set(w)) > 1:  # chance then depends on classes of weights
        by_chance = {}
    return {
        'rows': len(rows),
        'auc_ovr_macro': np.mean([area(actual == k, p[:, k], w) for k in ranked]) if ranked else None,
        'accuracy': mean(actual == predicted),
        'log_loss': mean(-np.log(np.clip(p[np.arange(len(p)), actual], 1e-15, 1 - 1e-15))),
        'expected_cost': mean(rows.cost), 'expected_tests': mean(rows.tests),
        'calibration': {
            **by_chance, 'observed_error': observed,
            'maximum_error': max(g for _, g in gaps), 'bins': bins,
        },
    }


class Judge:
    """Compares documents, and counts the figures."""

    def __init__(self):
        self.figures, self.wrong = 0, []

    def near(self, what, got, want):
        if isinstance(want, dict):
            for name, inner in want.items():
                self.near(f'{what}, {name}', (got or {}).get(name), inner)
        elif isinstance(want, list):
            self.near(what + ': length', len(got), len(want))
            for i, inner in enumerate(want):
                self.near(f'{what} {i}', got[i] if i < len(got) else {}, inner)
        else:
            self.figures += 1
            if got is None or want is None:
                fine = got is None and want is None
            else:
                fine = got == want or abs(got - want) <= same * max(1, abs(want))
            if not fine:
                self.wrong.append(f'{what}: {got}, by pandas {want}')

    def day(self, what, got, rows, classes):
        """Compares the figures of some predictions."""
        labelled = rows[rows.actual.notna()]
        self.near(what, got, {'predictions': len(rows), 'labelled': len(labelled), 'other_class': 0})
        measured = labelled[labelled.weight > 0]
        want = wanted(measured, classes) if len(measured) else None
        scale = ((got['metrics'] or {}).get('weight_scale', 1))
        if want and scale != 1:
            for b in want['calibration']['bins']:
                b['weight'] *= got['metrics']['weight'] / measured.weight.sum()
        self.near(what, got['metrics'], want)


def write(name, folder):
    """Writes the rows of each day, with keys, and the labels. Returns the joined labels."""
    random = np.random.default_rng(1)
    table = pa.concat_tables([pq.read_table(f) for f in datasets.files(name)], promote_options='default')
    table = table.take(random.permutation(len(table)))
    at = np.arange(len(table))
    per = -(-len(table) // len(days))
    day, customer = np.array(days)[at // per], at % per
    table = table.append_column('customer', pa.array(customer, pa.int64()))
    table = table.append_column('day', pa.array(day).cast(pa.date32()))
    for i, d in enumerate(days):
        pq.write_table(table.slice(i * per, per), os.path.join(folder, d + '.parquet'), row_group_size=max(50, per // 3))
    weight = random.integers(1, 9, len(table)) / 4
    keep = random.permutation(len(table))[:len(table) * 4 // 5]
    labels = pd.DataFrame({'customer': customer[keep], 'day': day[keep], 'weight': weight[keep],
                           'actual': [spelled(table['class'][int(i)].as_py()) for i in keep]})
    half = len(keep) // 2
    given = table['class'].take(pa.array(keep))
    others = pa.array([given[0].as_py()] * 7, given.type)
    pq.write_table(pa.table({  # texts, and keys of no prediction
        'customer': [str(c) for c in labels.customer[:half]] + [f'new{i}' for i in range(7)],
        'day': list(labels.day[:half]) + days[:1] * 7,
        'class': pa.chunked_array([*given.slice(0, half).chunks, others]), 'weight': list(labels.weight[:half]) + [1.] * 7,
    }), os.path.join(folder, 'labels_a.parquet'), row_group_size=97)
    pq.write_table(pa.table({  # integers and dates
        'class': given.slice(half), 'day': pa.array(labels.day[half:]).cast(pa.date32()),
        'weight': labels.weight[half:], 'customer': pa.array(labels.customer[half:], pa.int32()),
    }), os.path.join(folder, 'labels_b.parquet'))
    return labels


def judge(name, binary, folder):
    labels = write(name, folder)

    def run(*args):
        done = subprocess.run([binary, *args, '--progress', 'none'], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f'{" ".join(args)}: {done.stderr}')
        return done.stdout

    def train(out, *args):
        out = os.path.join(folder, 'runs', out)
        run('train', '--input', os.path.join(folder, '2026-*.parquet'), '--label', 'class', '--output', out, '--report', 'none',
            '--ignore', 'customer,day', *args)
        return out

    first = train('first')
    with open(os.path.join(first, 'tree.json')) as f:
        tree = json.load(f)
    classes = tree['label']['classes']
    half = repr(max(1, tree['complexity']['expected_cost'] / 2))
    runs = [first, train('modelled', '--leaf_model', 'auto'), train('half', '--seed', '7', '--max_expected_cost', half)]
    served = [runs[:1], runs[1:2], runs[::-1]]  # the trees of each day; the last day has two in shadow
    keys, names = ['customer', 'day'], ['prediction', 'tests', 'cost', *('probability_' + c for c in classes)]
    scored = {}
    for d, models in zip(days, served):
        run('predict', '--model', models[0], '--input', os.path.join(folder, d + '.parquet'), '--output',
            os.path.join(folder, 'scored', d), '--key', 'customer,day', '--label', 'none', '--also', ','.join(models[1:]))
        files = glob.glob(os.path.join(folder, 'scored', d, '*.parquet'))
        rows = pd.concat([pq.read_table(f, partitioning=None).to_pandas() for f in files])
        rows['day'] = rows.day.astype(str)
        for prefix, model in zip(('', 'also_', 'also2_'), models):
            own = rows[keys + [prefix + c for c in names]].set_axis(keys + names, axis=1)
            scored.setdefault(os.path.basename(model), []).append((d, own))
    judged = Judge()
    for weighted in (False, True):
        found = json.loads(run(
            'evaluate', '--predictions', os.path.join(folder, 'scored'), '--labels', os.path.join(folder, 'labels_*.parquet'),
            '--key', 'customer,day', '--json', *(['--weight', 'weight'] if weighted else [])))
        what = f'{name}{", weighted" if weighted else ""}'
        judged.near(what, found['labels_without_prediction'], 7)
        judged.near(what + ': trees', len(found['trees']), len(scored))
        given = labels if weighted else labels.assign(weight=1.)
        for t in found['trees']:
            parts = [(d, rows.merge(given, how='left', on=keys)) for d, rows in scored[t['run']]]
            judged.near(what + ': days', [d['day'] for d in t['days']], [d for d, _ in parts])
            for got, (d, rows) in zip(t['days'], parts):
                judged.day(f'{what}, {t["run"]}, {d}', got, rows, classes)
            judged.day(f'{what}, {t["run"]}, all', t['all'], pd.concat([rows for _, rows in parts]), classes)
    for text in judged.wrong[:20]:
        print('DIFFERS', text)
    print(f'{"FAIL" if judged.wrong else "ok"}: {name}, {len(labels)} labels, {judged.figures} figures, '
          f'{len(judged.wrong)} differences')
    return not judged.wrong


judging.main(__doc__, ['iris', 'credit-g', 'phoneme'], judge)

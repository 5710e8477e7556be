#!/usr/bin/env python3
"""Measures whether the default preset can be trusted on synthetic rows whose best tree is known.

    bench/trust.py [--sets NAME,..] [--seeds 10] [--slow_seeds 3] [--espalier BIN]

The cases are rare classes, one threshold with noise, XOR with noise, rows without a signal, patients
with several visits, weights in several units, a thousand classes, and costs of tests and errors. Each
case is drawn with the seeds 1 to SEEDS, the slow cases (marked by a star) with the seeds 1 to
SLOW_SEEDS. 70 % of the rows are training rows, 10 % validation rows and 20 % test rows; of the patients
all are training rows in five folds, and 2,000 new patients test.

Prints a Markdown table: leaves of the chosen tree (the median over the seeds, and the most), mean AUC and
log loss (in nats) on test rows next to those of the true probabilities on the same rows, what the case
must show, and what was seen. The script fails if a bound is missed. It needs Python, and Go unless
--espalier names a binary; it installs by pip what is missing of numpy and pyarrow.
"""

import json, math, statistics, sys

sys.dont_write_bytecode = True
from needs import need

need('trust')

import numpy as np

import judging
from check_models import area
from synthetic import Runs, labelled, parts

near = 0.01  # AUC that a tree may be below that of the true probabilities


# Rows: each function returns the columns, the label, and the true probability of the second class.


def rates(rng):
    g = rng.permutation(np.repeat(np.arange(4), 1000))
    p = np.array([0, 0.1, 0.2, 0.4])[g]
    return {'g': np.array(list('abcd'))[g]}, labelled(rng, p, 'no', 'yes'), p


def clicks(rng):
    c = rng.integers(0, 5, (100_000, 4))
    p = 1 / (1 + np.exp(6 - 0.8 * c[:, 0] - 0.6 * c[:, 1] * (c[:, 2] > 2)))
    return {f'c{j}': np.array([f'v{v}' for v in range(5)])[c[:, j]] for j in range(4)}, labelled(rng, p, 'ignored', 'pressed'), p


def stump(rng, n):
    x, z, u = rng.uniform(0, 100, n), rng.uniform(size=n), rng.uniform(size=n)
    p = np.where(x > 50, 0.1, 0.9)
    return {'x': x, 'z': z, 'u': u}, labelled(rng, p, 'ill', 'well'), p


def xor(rng):
    a, b = rng.normal(size=(2, 20_000))
    p = np.where((a > 0) != (b > 0), 0.9, 0.1)
    return {'a': a, 'b': b}, labelled(rng, p, 'even', 'odd'), p


def noise(rng, n):
    p = np.full(n, 0.5)
    return {f'x{j}': rng.normal(size=n) for j in range(5)}, labelled(rng, p, 'heads', 'tails'), p


def survey(rng):
    columns, label, p = noise(rng, 5000)
    return columns | {'weight': np.exp(2 * rng.normal(size=len(p)))}, label, p


def patients(rng, number, visits):
    """Patients whose columns a to d say who they are. Their label is of the patient, and follows risk."""
    who, risk = rng.normal(size=(number, 4)), rng.normal(size=number)
    sick = risk + 1.5 * rng.normal(size=number) > 0
    g = np.repeat(np.arange(number), visits)
    visit = who[g] + 0.02 * rng.normal(size=(len(g), 4))
    columns = {'patient': np.char.add('p', g.astype(str)), 'risk': risk[g] + 0.05 * rng.normal(size=len(g))}
    columns |= {name: visit[:, j] for j, name in enumerate('abcd')}
    true = np.array([(1 + math.erf(r / 1.5 / math.sqrt(2))) / 2 for r in risk])
    return columns, np.where(sick[g], 'sick', 'well'), 1 - true[g]


def fraud(rng):
    a, b, c, d = rng.normal(size=(4, 6000))
    return dict(a=a, b=b, c=c, d=d), np.where(a + b + 0.5 * c + rng.normal(size=6000) > 2.2, 'fraud', 'ok'), None


# Figures


def log_loss(p, positive):
    """The log loss of p in nats."""
    with np.errstate(divide='ignore'):
        return float(-np.log(np.where(positive, p, 1 - p)).mean())


def area_error(a, positive, negative):
    """The standard error of an area by Hanley and McNeil (Radiology 143, 1982), given the numbers of rows."""
    above, below = a / (2 - a), 2 * a * a / (1 + a)
    return math.sqrt((a * (1 - a) + (positive - 1) * (above - a * a) + (negative - 1) * (below - a * a)) / positive / negative)


def against_truth(draw, bound):
    """A case of rows with a column of parts: the figures of a seed, and a bound on the figures of all seeds."""

    def measure(runs, rng):
        columns, label, p = draw(rng)
        part = parts(rng, len(label))
        runs.write(columns | {'part': part}, label)
        tree, test, _ = runs.train('--split', 'part')
        last, truth = part == 'test', tree['label']['classes'][1]
        positive = label[last] == truth
        return dict(
            leaves=tree['complexity']['leaves'], auc=test['auc_ovr_macro'], loss=test['log_loss'],
            true_auc=area(p[last], positive, ~positive), true_loss=log_loss(p[last], positive),
        )

    return measure, bound


# Bounds: each function takes the figures by seed, and returns a sentence and whether the bound holds.


def close(most_leaves=None):
    def bound(found):
        lost = max(f['true_auc'] - f['auc'] for f in found)
        median = statistics.median(f['leaves'] for f in found)
        must = f'AUC at most {near} below the truth' + (f', {most_leaves} leaves in the median' if most_leaves else '')
        return must, f'at most {lost:.4f} below', lost <= near and (most_leaves is None or median <= most_leaves)

    return bound


def few_leaves(found):
    leaves = [f['leaves'] for f in found]
    median, most = statistics.median(leaves), max(leaves)
    return 'at most 4 leaves in the median, 16 in all', f'{median:g}, {most}', median <= 4 and most <= 16


def single_leaf(found):
    bare = sum(f['leaves'] == 1 for f in found)
    return 'a single leaf in 95 %', f'in {bare} of {len(found)}', bare >= 0.95 * len(found)


def visits(runs, rng):
    columns, label, _ = patients(rng, 300, 12)
    runs.write(columns, label)
    tree = runs.train('--group', 'patient', '--split', '100/0/0', '--folds', '5')[0]
    measured = runs.load('metrics.json')['folds']
    folds = measured['mean']['auc_ovr_macro'] - measured.get('optimism', 0)
    new, label_of_new, p = patients(rng, 2000, 1)
    file = runs.write(new, label_of_new, 'new.parquet')
    test = runs.evaluate(file)
    sick = label_of_new == 'sick'
    by_class = np.unique(label[::12], return_counts=True)[1]  # patients
    error = math.hypot(area_error(max(folds, 0.5), *by_class), area_error(max(test['auc_ovr_macro'], 0.5), sick.sum(), (~sick).sum()))
    return dict(
        leaves=tree['complexity']['leaves'], auc=test['auc_ovr_macro'], loss=test['log_loss'], true_auc=area(1 - p, sick, ~sick),
        true_loss=log_loss(1 - p, sick), folds=folds, apart=(folds - test['auc_ovr_macro']) / error,
    )


def within_errors(found):
    inside = sum(abs(f['apart']) <= 2 for f in found)
    above = statistics.mean(f['folds'] - f['auc'] for f in found)
    must = 'AUC of folds within 2 standard errors of that on 2,000 new patients in 90 %'
    return must, f'in {inside} of {len(found)}, {above:+.3f} on average', inside >= 0.9 * len(found)


def units(runs, rng):
    """Weights that sum to 1, and times 1e-9 and 1e9: as by weights that are about 1."""
    columns, label, p = stump(rng, 4000)
    part, weight = parts(rng, 4000), rng.uniform(0.5, 2, 4000)
    seen = []
    for factor in (1, 1 / weight.sum(), 1e-9, 1e9):
        runs.write(columns | {'part': part, 'weight': weight * factor}, label)
        tree, test, _ = runs.train('--split', 'part', '--weight', 'weight')
        seen.append((json.dumps([[n.get('test'), n['probabilities']] for n in tree['nodes']]), tree, test))
    tree, test = seen[0][1:]
    last = part == 'test'
    positive, shares = label[last] == 'well', weight[last] / weight[last].sum()
    loss = -(np.log(np.where(positive, p[last], 1 - p[last])) * shares).sum()
    above = [(shares * positive)[p[last] == v].sum() for v in (0.1, 0.9)]  # weighted area of two values
    below = [(shares * ~positive)[p[last] == v].sum() for v in (0.1, 0.9)]
    true = (above[1] * below[0] + (above[0] * below[0] + above[1] * below[1]) / 2) / sum(above) / sum(below)
    return dict(leaves=tree['complexity']['leaves'], auc=test['auc_ovr_macro'], loss=test['log_loss'], true_auc=true,
                true_loss=loss, equal=sum(s[0] == seen[0][0] for s in seen[1:]))


def same_bytes(found):
    equal, all_ = sum(f['equal'] for f in found), 3 * len(found)
    return 'the same tests and probabilities', f'in {equal} of {all_}', equal == all_


def classes(runs, rng):
    x = rng.permutation(np.resize(np.arange(1000), 20_000))
    runs.write({'x': x.astype(float), 'part': parts(rng, len(x))}, np.char.add('c', x.astype(str)))
    tree, test, _ = runs.train('--split', 'part')
    return dict(leaves=tree['complexity']['leaves'], auc=test['auc_ovr_macro'], loss=test['log_loss'], true_auc=1, true_loss=0,
                accuracy=test['accuracy'])


def accurate(found):
    least = min(f['accuracy'] for f in found)
    return 'accuracy at least 0.95', f'at least {least:.4f}', least >= 0.95


def euros(runs, rng):
    columns, label, _ = fraud(rng)
    runs.write(columns | {'part': parts(rng, len(label))}, label)
    costs = runs.text('costs.csv', 'feature,cost\n' + ''.join(f'{name},3\n' for name in columns))
    errors = runs.text('errors.csv', 'actual,predicted,cost\nfraud,ok,20\nok,fraud,1\n')
    tree, test, frontier = runs.train('--split', 'part', '--costs', costs, '--error_costs', errors, '--select', 'total')
    total = {key: p['test']['expected_total_cost'] for p in frontier['points'] for key in ('selected', p['leaves'])
             if key == 1 or p.get(key)}
    return dict(leaves=tree['complexity']['leaves'], auc=test['auc_ovr_macro'], loss=test['log_loss'],
                total=total['selected'], bare=total[1])


def cheap(found):
    total, bare = (statistics.mean(f[key] for f in found) for key in ('total', 'bare'))
    return 'tests and errors cost no more than by a single leaf', f'{total:.3f}, {bare:.3f} by a single leaf', total <= bare


# Cases by name: title, whether it is slow, figures of a seed, bound.
cases = {
    'rates': ('rates of 0, 10, 20, 40 %, one text column', False, *against_truth(rates, close())),
    'clicks': ('4 text columns, 100,000 rows', True, *against_truth(clicks, close())),
    **{f'stump{n}': (f'stump, 10 % noise, {n:,} rows', n > 10_000, *against_truth(lambda r, n=n: stump(r, n), few_leaves))
       for n in (1000, 4000, 20_000)},
    'xor': ('XOR, 10 % noise, 20,000 rows', True, *against_truth(xor, close(30))),
    **{f'noise{n}': (f'noise, 5 columns, {n:,} rows', n > 10_000, *against_truth(lambda r, n=n: noise(r, n), single_leaf))
       for n in (1000, 4000, 20_000, 100_000)},
    'survey': ('noise, 5 columns, 5,000 rows, log-normal weights', False, *against_truth(survey, single_leaf)),
    'patients': ('300 patients, 12 visits each, --group', False, visits, within_errors),
    'weights': ('weights that sum to 1, times 1e-9, 1e9', False, units, same_bytes),
    'classes': ('1,000 classes, x is the class', True, classes, accurate),
    'fraud': ('fraud, --select total', False, euros, cheap),
}


def judge(name, binary, folder, seeds, slow_seeds):
    title, slow, measure, bound = cases[name]
    runs = Runs(binary, folder)
    found = [measure(runs, np.random.default_rng(seed)) for seed in range(1, (slow_seeds if slow else seeds) + 1)]

    def mean(key):
        return f'{statistics.mean(f[key] for f in found):.3f}' if key in found[0] else ''

    must, seen, fine = bound(found)
    leaves = [f['leaves'] for f in found]
    print('|', ' | '.join([title + ' *' * slow, str(len(found)), f'{statistics.median(leaves):g}', str(max(leaves)),
                           *map(mean, ('auc', 'true_auc', 'loss', 'true_loss')), must, seen, 'ok' if fine else 'MISSED']),
          '|', flush=True)
    return fine


if '-h' not in sys.argv and '--help' not in sys.argv:
    print('| case | seeds | leaves, median | most | AUC | truth | log loss | truth | must show | seen | |')
    print('| --- | --: | --: | --: | --: | --: | --: | --: | --- | --- | --- |')
judging.main(__doc__, list(cases), judge, seeds=10, slow_seeds=3)

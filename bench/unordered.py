#!/usr/bin/env python3
"""Measures whether the printed cost and AUC hold where values are absent because nobody ordered them.

    bench/unordered.py [--sets NAME,..] [--seeds 10] [--rows 6000] [--presets default] [--espalier BIN]

Made-up cohorts: an unseen severity decides the class; age is free, crp costs 5, lab 30 and ct 120, and the severity is in all of
them. lab and ct are known of the rows for which somebody ordered them:

    random  of 45 % and 25 % of the rows
    seen    more often if age (lab) or crp (ct), which are known of all rows, are high
    order   likewise, and crp itself was ordered for half of the rows, more often if age is high: ct only where crp is known
    rare    as seen, and 3 % of the rows are ill instead of 20 %
    unseen  more often if the severity is high, which no column tells

The truth is 200,000 new rows of which all values are known: what the chosen tree costs, and its AUC, if its tests are really done.
Each cohort is read in both ways, --absent unordered and --absent value. The table has the means over the seeds: of what is printed for
the test rows, of the truth, of the difference with its standard error, and the share of runs whose truth is within two printed
standard errors. The script fails if, read as unordered, the mean difference of random, seen, order or rare is beyond two printed
standard errors, and two of its own. It needs Python, and Go unless --espalier names a binary; it installs by pip what is missing of numpy and pyarrow.
"""

import math, statistics, sys

sys.dont_write_bytecode = True
from needs import need

need('unordered')

import numpy as np

import judging
from synthetic import Runs

prices = {'age': 0, 'crp': 5, 'lab': 30, 'ct': 120}


def patients(rng, n, way):
    """The values of n patients, their severity and their class."""
    z = rng.normal(size=n)
    values = {
        'age': 0.5 * z + rng.normal(size=n),
        'crp': 0.7 * z + 0.8 * rng.normal(size=n),
        'lab': z + 0.7 * rng.normal(size=n),
        'ct': z + 0.35 * rng.normal(size=n),
    }
    return values, z, np.where(z + 0.4 * rng.normal(size=n) > (2 if way == 'rare' else 0.9), 'ill', 'well')


def chance(x):
    return 1 / (1 + np.exp(-x))


def drawn(rng, p):
    return rng.uniform(size=len(p)) < p


def ordered(rng, way, values, z):
    """Which values were ordered."""
    n = len(z)
    if way == 'random':
        return {'lab': drawn(rng, np.full(n, 0.45)), 'ct': drawn(rng, np.full(n, 0.25))}
    if way == 'unseen':
        return {'lab': drawn(rng, chance(1.5 * z)), 'ct': drawn(rng, chance(1.5 * z - 1))}
    seen = {'lab': drawn(rng, chance(1.5 * values['age'])), 'ct': drawn(rng, chance(1.5 * values['crp'] - 1))}
    if way == 'order':
        seen['crp'] = drawn(rng, chance(values['age']))
        seen['ct'] &= seen['crp']
    return seen


def cohort(seed, way, n):
    rng = np.random.default_rng(seed)
    values, z, label = patients(rng, n, way)
    for name, known in ordered(rng, way, values, z).items():
        values[name] = np.where(known, values[name], np.nan)
    return values, label


def one(runs, seed, way, reading, n, preset):
    """Printed cost and AUC of the chosen tree, their standard errors, and the truth."""
    runs.write(*cohort(seed, way, n))
    costs = runs.text('costs.csv', 'feature,cost\n' + ''.join(f'{name},{price}\n' for name, price in prices.items()))
    tree, test, _ = runs.train('--costs', costs, '--absent', reading, '--preset', preset, '--seed', str(seed))
    values, _, label = patients(np.random.default_rng(10_000 + seed), 200_000, way)
    truth = runs.evaluate(runs.write(values, label, 'truth.parquet'))
    intervals = test['intervals']
    return {
        'cost': (test['expected_cost'], intervals['expected_cost']['standard_error'], truth['expected_cost']),
        'auc': (test['auc_ovr_macro'], intervals['auc_ovr_macro']['standard_error'], truth['auc_ovr_macro']),
        'leaves': tree['complexity']['leaves'],
    }


def judge(way, binary, folder, seeds, rows, readings, presets):
    runs, fine = Runs(binary, folder), True
    for preset in presets:
        for reading in readings:
            all_runs = [one(runs, seed, way, reading, rows, preset) for seed in range(1, seeds + 1)]
            cells, shares = [], []
            for name, digits in (('cost', 2), ('auc', 4)):
                printed, errors, truth = (np.array(x) for x in zip(*(r[name] for r in all_runs)))
                gap = printed - truth
                error = gap.std(ddof=1) / math.sqrt(seeds)
                cells += [f'{printed.mean():.{digits}f}', f'{truth.mean():.{digits}f}', f'{gap.mean():+.{digits}f} ± {error:.{digits}f}']
                shares.append(f'{np.mean(abs(gap) <= 2 * errors):.2f}')
                if reading == 'unordered' and way != 'unseen' and abs(gap.mean()) > 2 * max(errors.mean(), error):
                    fine = False
                    cells[-1] += ' MISSED'
            leaves = statistics.median(r['leaves'] for r in all_runs)
            print('|', ' | '.join([preset, way, reading, f'{leaves:g}', *cells, *shares]), '|', flush=True)
    return fine


if '-h' not in sys.argv and '--help' not in sys.argv:
    head = 'preset,ordered,read as,leaves,cost printed,true,difference,AUC printed,true,difference,within 2 SE: cost,AUC'.split(',')
    print('|', ' | '.join(head), '|')
    print('|' + ' --- |' * len(head))
judging.main(
    __doc__, ['random', 'seen', 'order', 'rare', 'unseen'], judge, seeds=10, rows=6000, readings=['unordered', 'value'], presets=['default']
)

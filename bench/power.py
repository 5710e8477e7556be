#!/usr/bin/env python3
"""Measures how often --select best takes a tree on rows without a signal, and on rows with a planted one.

    bench/power.py [--sets NAME,..] [--seeds 20] [--espalier BIN]

Rows without a signal are of 15 kinds: few and many rows, many columns, texts with few and with thousands of values,
rare classes, five and twenty classes, weights, keys, missing and discrete values, copied rows, and times. At most 5 of
100 trees may have more than one leaf; with fewer seeds, as many as chance explains. Rows with a signal have one column
whose AUC is known, classes along a line, misspelled labels, a column that matters at both ends, texts with effects of
their own, or a signal that no single column has (XOR). The share of trees must be that of a good test of the columns.

Prints a Markdown table: how many trees have more than one leaf, the mean p-value's share of at most 0.02 where the choice
has tested columns, the median of the leaves, and the bound. Fails if a bound is missed. The script needs Python, and Go
unless --espalier names a binary; it installs by pip what is missing of numpy and pyarrow.
"""

import math, statistics, sys

sys.dont_write_bytecode = True
from needs import need

need('trust')

import numpy as np

import judging
from synthetic import Runs

# Rows: each function returns the columns, the class of each row, and options.


def normals(rng, n, columns):
    return {f'x{j:02d}': rng.normal(size=n) for j in range(columns)}


def texts(rng, n, values):
    return np.char.add('v', rng.integers(0, values, n).astype(str))


def even(rng, n):
    return rng.integers(0, 2, n)


def exactly(rng, n, positive):
    y = np.zeros(n, int)
    y[rng.choice(n, positive, replace=False)] = 1
    return y


def mixed(rng, n):
    return normals(rng, n, 3) | {'five': texts(rng, n, 5), 'two': texts(rng, n, 2), 'count': rng.poisson(0.3, n).astype(float),
                                 'seldom': (rng.uniform(size=n) < 0.01).astype(float)}


def discrete(rng, n):
    columns = mixed(rng, n) | {'twenty': texts(rng, n, 20)}
    for share in (3, 10, 30, 50):
        columns[f'yes{share}'] = (rng.uniform(size=n) < share / 100).astype(float)
    for name, column, share in (('holes', rng.normal(size=n), 0.3), ('level', rng.integers(0, 5, n).astype(float), 0.05)):
        columns[name] = np.where(rng.uniform(size=n) < share, np.nan, column)
    return columns


def patients(rng, number, visits, area=0.5):
    """Patients that come several times. The columns say who they are; the first has a signal of the given AUC."""
    who, sick = rng.normal(size=(number, 4)), rng.integers(0, 2, number)
    who[:, 0] += shift(area) * sick
    i = np.repeat(np.arange(number), visits)
    columns = {f'x{j}': who[i, j] + 0.02 * rng.normal(size=len(i)) for j in range(4)}
    return columns | {'key': np.char.add('k', i.astype(str))}, sick[i], ['--group', 'key']


def weighted(rng, n, area=0.5):
    columns, y, _ = planted(rng, n, 5, area, even(rng, n))
    return columns | {'w': np.exp(rng.normal(size=n))}, y, ['--weight', 'w']


def copied(rng, n):
    twice, columns, y = np.repeat(np.arange(n), 2), normals(rng, n, 5), even(rng, n)
    return {name: column[twice] for name, column in columns.items()}, y[twice], []


def dated(rng, n):
    day = np.sort(rng.integers(0, 365, n)).astype('datetime64[D]')
    return normals(rng, n, 4) | {'five': texts(rng, n, 5), 'day': day}, even(rng, n), ['--split_time', 'day']


def shift(area):
    """By how many standard deviations the means of two normal classes differ, given the AUC."""
    return math.sqrt(2) * statistics.NormalDist().inv_cdf(area)


def planted(rng, n, columns, area, y):
    found = normals(rng, n, columns)
    found['x00'] += shift(area) * y
    return found, y, []


def line(rng, n, step):
    y = np.repeat(np.arange(5), n // 5)
    return {'x': step * y + rng.normal(size=n), 'z': rng.normal(size=n)}, y, []


def misspelled(rng, n):
    yes = rng.uniform(size=n) < 0.4
    y = np.where(yes, 'yes', 'no ')
    y = np.where(rng.uniform(size=n) < 0.03, rng.choice(['No', 'YES', 'y'], n), y)
    return {'x': rng.normal(size=n) + yes, 'z': rng.normal(size=n)}, np.char.strip(y), []


def by(rng, columns, p):
    return columns, (rng.uniform(size=len(p)) < p).astype(int), []


def logistic(z):
    return 1 / (1 + np.exp(-z))


def both_ends(rng, n):
    columns = normals(rng, n, 10)
    return by(rng, columns, logistic(0.45 * (columns['x00'] ** 2 - 1)))


def shops(rng, n, number, effect):
    shop, of = rng.integers(0, number, n), effect * rng.normal(size=number)
    return by(rng, normals(rng, n, 5) | {'shop': np.char.add('s', shop.astype(str))}, logistic(of[shop]))


def one_value(rng, n):
    value = rng.integers(0, 30, n)
    return by(rng, normals(rng, n, 5) | {'value': np.char.add('v', value.astype(str))}, np.where(value == 3, 0.9, 0.45))


def xor(rng, n):
    columns = normals(rng, n, 4)
    return by(rng, columns, np.where((columns['x00'] > 0) != (columns['x01'] > 0), 0.75, 0.25))


# Cases by name: title, rows, and the least share of trees with more than one leaf; None: rows without a signal.
cases = {
    'n200': ('noise, 5 columns, 200 rows', lambda r: (normals(r, 200, 5), even(r, 200), []), None),
    'n1000': ('1,000 rows', lambda r: (normals(r, 1000, 5), even(r, 1000), []), None),
    'n10000': ('3 columns, 10,000 rows', lambda r: (normals(r, 10_000, 3), even(r, 10_000), []), None),
    'wide': ('50 columns, 1,000 rows', lambda r: (normals(r, 1000, 50), even(r, 1000), []), None),
    'texts300': ('2 texts of 300 values, 2,000 rows',
                 lambda r: (normals(r, 2000, 2) | {'a': texts(r, 2000, 300), 'b': texts(r, 2000, 300)}, even(r, 2000), []), None),
    'texts5000': ('text of 5,000 values, 6,000 rows',
                  lambda r: (normals(r, 6000, 2) | {'a': texts(r, 6000, 5000)}, even(r, 6000), []), None),
    'rare2': ('2 % of 2,000 rows, mixed columns', lambda r: (mixed(r, 2000), exactly(r, 2000, 40), []), None),
    'rare.1': ('.1 % of 10,000 rows, mixed columns', lambda r: (mixed(r, 10_000), exactly(r, 10_000, 10), []), None),
    'classes5': ('5 classes of 25 rows', lambda r: (normals(r, 125, 4), np.repeat(np.arange(5), 25), []), None),
    'classes20': ('20 classes, 1,000 rows, mixed columns', lambda r: (mixed(r, 1000), r.integers(0, 20, 1000), []), None),
    'weights': ('log-normal weights, 1,500 rows', lambda r: weighted(r, 1500), None),
    'keys': ('200 patients, 8 visits each', lambda r: patients(r, 200, 8), None),
    'discrete': ('discrete and missing values, 600 rows', lambda r: (discrete(r, 600), even(r, 600), []), None),
    'copies': ('500 rows, twice', lambda r: copied(r, 500), None),
    'times': ('2,000 rows, --split_time', lambda r: dated(r, 2000), None),
    'a200.70': ('1 of 10 columns has an AUC of .70, 200 rows', lambda r: planted(r, 200, 10, 0.70, even(r, 200)), 0.75),
    'a1000.58': ('.58, 1,000 rows', lambda r: planted(r, 1000, 10, 0.58, even(r, 1000)), 0.6),
    'a1000.62': ('.62, 1,000 rows', lambda r: planted(r, 1000, 10, 0.62, even(r, 1000)), 0.9),
    'a10000.53': ('.53, 10,000 rows', lambda r: planted(r, 10_000, 10, 0.53, even(r, 10_000)), 0.75),
    'r2.75': ('.75, 2 % of 2,000 rows', lambda r: planted(r, 2000, 10, 0.75, exactly(r, 2000, 40)), 0.8),
    'r.1.90': ('.90, .1 % of 10,000 rows', lambda r: planted(r, 10_000, 10, 0.90, exactly(r, 10_000, 10)), 0.7),
    'line': ('5 classes of 25 rows, a standard deviation apart', lambda r: line(r, 125, 1), 0.95),
    'closer': ('half of that apart', lambda r: line(r, 125, 0.5), 0.75),
    'misspelled': ('yes and no, 3 % misspelled, 2,000 rows', lambda r: misspelled(r, 2000), 0.95),
    'ends': ('both ends of a column, 1,000 rows', lambda r: both_ends(r, 1000), 0.75),
    'shops': ('50 shops, effects of .6, 2,000 rows', lambda r: shops(r, 2000, 50, 0.6), 0.75),
    'value': ('one of 30 values, 1,000 rows', lambda r: one_value(r, 1000), 0.6),
    'xor': ('XOR, 2,000 rows', lambda r: xor(r, 2000), 0.95),
    'weights.58': ('.58, log-normal weights, 1,500 rows', lambda r: weighted(r, 1500, 0.58), 0.2),
    'keys.65': ('.65, 200 patients, 8 visits each', lambda r: patients(r, 200, 8, 0.65), 0.3),
}


def chance(n, p, least):
    """The probability of at least so many of n, each with the probability p."""
    return sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(least, n + 1))


def judge(name, binary, folder, seeds):
    title, draw, share = cases[name]
    runs = Runs(binary, folder)
    leaves, values = [], []
    for seed in range(1, seeds + 1):
        rng = np.random.default_rng([seed, sum(map(ord, name))])
        columns, y, options = draw(rng)
        order = np.arange(len(y)) if 'day' in columns else rng.permutation(len(y))
        columns = {k: v[order] for k, v in columns.items()}
        runs.write(columns, y[order].astype(str) if y.dtype.kind == 'U' else np.char.add('c', y[order].astype(str)))
        tree, _, frontier = runs.train(*options)
        leaves.append(tree['complexity']['leaves'])
        if association := (frontier or {}).get('association'):
            values.append(association['p_value'])
    trees = sum(n > 1 for n in leaves)
    if share is None:
        fine = chance(seeds, 0.05, trees) > 0.05 or trees <= 0.05 * seeds
        must = 'at most 5 %'
    else:
        fine = chance(seeds, 1 - share, seeds - trees) > 0.01
        must = f'at least {100 * share:g} %'
    print('|', ' | '.join([title, str(seeds), str(trees), f'{sum(p <= 0.02 for p in values)} of {len(values)}',
                           f'{statistics.median(leaves):g}', must, 'ok' if fine else 'MISSED']), '|', flush=True)
    return fine


if '-h' not in sys.argv and '--help' not in sys.argv:
    print('| rows | seeds | trees | p at most .02, of tested | leaves, median | must show | |')
    print('| --- | --: | --: | --: | --: | --- | --- |')
judging.main(__doc__, list(cases), judge, seeds=20)

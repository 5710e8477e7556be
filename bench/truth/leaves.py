"""Leaves that are said to be sure, and the verdict on the calibration."""

import json

import numpy as np

from . import rows, table


def sure(runs, samples):
    """The share of right classes of the cases of which `ask --confidence` is sure."""
    for n, least, steep in ((300, 0.95, 2), (1000, 0.9, 1)):
        kind = rows.Kind(f'{n:,} rows', rows.single(n, lambda x: steep * rows.score(x)))
        new = kind.draw(np.random.default_rng(1), 20_000)
        right, share = [], []
        for seed in range(max(10, samples // 5)):
            r = rows.sample(kind, seed)
            runs.write(r.columns(), r.classes())
            tree, _, _ = runs.train()
            hits, all_ = answers(runs, tree, new, least)
            right += [hits / all_] if all_ else []
            share.append(all_ / len(new.q))
        title = f'{kind.title}; {np.mean(share):.0%} of the cases, in {len(right)} of {len(share)} trees'
        if right:
            table.mean(f'cases that are {least:g} sure are right', title, right, least, 1)
        else:
            table.line(f'cases that are {least:g} sure are right', title, 0, 'none is sure', '', 'ok')


def answers(runs, tree, new, least):
    """The numbers of right classes and of all cases of which ask is sure. All rows of a leaf have the same answer."""
    _, _, _, leaf = rows.scored(tree, new.features())
    asked = [f['name'] for f in tree['features']]
    hits = n = 0
    for number in np.unique(leaf):
        ids = np.flatnonzero(leaf == number)
        values = [f'--value={name}={float(new.features()[name][ids[0]])!r}' for name in asked]
        said = json.loads(runs.said('ask', '--model', runs.out, '--confidence', str(least), '--json', *values))
        if said.get('at_least', said['probabilities'][said['class']]) >= least:  # earlier versions had no bound
            hits += new.q[ids, tree['label']['classes'].index(said['class'])].sum()
            n += len(ids)
    return hits, n


def calibration(runs, samples):
    """A tree whose probabilities are true, and one whose probabilities are off by 0.1: how often their calibration is
    said to be off by more than chance explains."""
    shares, letters = np.arange(1, 9) / 10, np.array(list('abcdefgh'))

    def write(rng, groups, size, p, sd=0, name='new.parquet'):
        c = rng.integers(0, 8, groups)
        yes = rng.uniform(size=groups) < p[c]
        g = np.repeat(np.arange(groups), size)
        columns = {'c': letters[c[g]]} | ({'g': np.char.add('g', g.astype(str))} if size > 1 else {})
        columns |= {'w': np.exp(sd * rng.normal(size=len(g)))} if sd else {}
        return runs.write(columns, np.where(yes[g], 'yes', 'no'), name)

    write(np.random.default_rng(0), 100_000, 1, shares, name='rows.parquet')
    tree, _, _ = runs.train('--select', 'first', '--folds', '0', '--teacher', 'none')
    true = rows.scored(tree, {'c': letters})[0][:, 1]
    for title, groups, size, sd, moved in (
        ('200 rows', 200, 1, 0, 0), ('2,000 rows', 2000, 1, 0, 0), ('1,000 rows, log-normal weights, sd 1', 1000, 1, 1, 0),
        ('50 groups of 10 rows of one class', 50, 10, 0, 0), ('500 rows, off by 0.1', 500, 1, 0, 0.1),
    ):
        flags = [*(['--group', 'g'] if size > 1 else []), *(['--weight', 'w'] if sd else [])]
        off = 0
        low, high = (0.9, 1) if moved else (0, 0.07)
        with table.attempt('calibration', title):
            for seed in range(samples):
                file = write(np.random.default_rng([seed, 1]), groups, size, true + moved, sd)
                off += runs.evaluate(file, *flags)['calibration']['expected_error'] > 0
            table.share('calibration is said to be off', title, off, samples, low, high)

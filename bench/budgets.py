#!/usr/bin/env python3
"""Holds the frontier against the published figures of the paper, and against
Espalier's own paper preset where tests have costs of their own.

    bench/budgets.py [--sets NAME,..] [--splits 5] [--csv FILE] [--costs_csv FILE] [--only published|costs]
                     [--preset accurate]

For each data set of the paper in bench/data and each seed 1..SPLITS of the
split there is one training with the preset (default by default), which makes a frontier.

- Published: the frontiers are those of the paper's experiments (`experiments`). Each point (AUC, cost) of
  published.csv (153 on these sets) is put to them as a budget
  query: of the trees within the published cost, the tree that is best on validation.
  The point is matched or beaten if the mean test AUC of this tree over the splits is at
  least the published AUC.
- Costs: in each split the features get random seeded costs, once whole numbers
  from 1 to 10, once log-uniform numbers from .1 to 10. The frontier answers the
  same query at the expected cost of each tree of the paper preset under these
  costs (its algorithms, --prune none). On every set the mean over the splits must
  be at least that of every algorithm.

No choice uses the test rows. Prints two Markdown tables, and fails if a point is
missed. Needs the data sets, Go, and Python with numpy and pyarrow
(installed by pip where they are missing).
"""

import csv, os, sys

sys.dont_write_bytecode = True
from needs import need

need('budgets')

import numpy as np
import pyarrow.parquet as pq

import datasets
from protocol import Espalier, Point, arguments, data_sets, load, oracle, query, save, splits, table

level = 1e-9  # AUCs within it are equal
paper = {name: ['--algorithm', name] for name in ('ec45', 'ecart', 'c45', 'cart', 'cc45', 'ccart', 'asr', 'ip', 'bal')}
laws = {
    'whole': lambda rng, n: rng.integers(1, 11, n),
    'log-uniform': lambda rng, n: np.round(10 ** rng.uniform(-1, 1, n), 3),
}


def frontiers(espalier, options):
    """The points of the frontiers of the paper's experiments, by data set and seed."""
    names = ','.join(d.name for d in data_sets(options.sets))
    flags = ['--splits', str(options.splits), '--budgets', options.preset, '--algorithm', 'c45', '--scaling=false']
    out = os.path.join(espalier.work, 'results')
    results = espalier.experiments(datasets.folder, out, '--sets', names, *flags, '--quiet')
    return {
        (s['set'], s['seed']): [Point(p['cost'], p['merit'], p['auc']) for p in s['frontier']]
        for s in results['splits']
    }


def against_published(points, data, seed):
    rows = []
    for p in data.published:
        chosen = query(points, p.cost)
        rows.append(
            dict(
                set=data.name,
                split=seed,
                against=p.name,
                budget=p.cost,
                theirs=p.test,
                ours=chosen.test,
                cost=chosen.cost,
                validation=chosen.validation,
                best_on_test=oracle(points, p.cost).test,
                points=len(points),
            )
        )
    return rows


def against_paper_preset(espalier, data, seed):
    rows = []
    for law, draw in laws.items():
        flags = ['--seed', str(seed), '--costs', write_costs(espalier, data, draw, seed)]
        points, _ = espalier.frontier(data, data.files, *flags)
        for name, algorithm in paper.items():
            out = espalier.train(data, data.files, '--preset', 'paper', '--prune', 'none', *algorithm, *flags)
            budget, theirs = (
                load(out, 'tree.json')['complexity']['expected_cost'],
                load(out, 'metrics.json')['test']['auc_ovr_macro'],
            )
            chosen = query(points, budget)
            rows.append(
                dict(
                    set=data.name,
                    split=seed,
                    against=f'{name} {law}',
                    budget=budget,
                    theirs=theirs,
                    ours=chosen.test,
                    cost=chosen.cost,
                    validation=chosen.validation,
                    best_on_test=oracle(points, budget).test,
                    tree=chosen.name,
                    points=len(points),
                )
            )
    return rows


def write_costs(espalier, data, draw, seed):
    file = os.path.join(espalier.work, 'costs.csv')
    features = [name for name in pq.read_schema(data.files[0]).names if name != 'class']
    with open(file, 'w', newline='') as f:
        w = csv.writer(f)
        w.writerow(['feature', 'cost'])
        w.writerows(zip(features, draw(np.random.default_rng(seed), len(features))))
    return file


def margins(rows, ours='ours'):
    """By opponent: ours less theirs, mean over the splits."""
    by_name = {}
    for row in rows:
        by_name.setdefault(row['against'], []).append(row[ours] - row['theirs'])
    return {name: np.mean(m) for name, m in by_name.items()}


def verdict(name, rows_by_set):
    """A line of the table over the points of all given sets, and the number of missed points."""
    m = [pair for rows in rows_by_set for pair in margins(rows).items()]
    best = [x for rows in rows_by_set for x in margins(rows, 'best_on_test').values()]
    least = min(m, key=lambda pair: pair[1])
    held = sum(x >= -level for _, x in m)
    return [
        name,
        f'{held} of {len(m)}',
        f'{np.mean([x for _, x in m]):+.4f}',
        f'{least[1]:+.4f} ({least[0]})',
        f'{np.mean(best):+.4f}',
    ], len(m) - held


def report(title, rows):
    """Prints the table, and returns how many points are missed."""
    if not rows:
        return 0
    sets = {}
    for row in rows:
        sets.setdefault(row['set'], []).append(row)
    lines = [verdict(name, [group])[0] for name, group in sets.items()]
    total, missed = verdict('all', list(sets.values()))
    print(f'{title}\n')
    table(['data set', 'matched or beaten', 'mean margin', 'least margin', 'mean, best on test'], [*lines, total])
    return missed


def main():
    ap = arguments(__doc__)
    ap.add_argument('--only', choices=['published', 'costs'])
    ap.add_argument('--costs_csv')
    options = ap.parse_args()
    published, costs = [], []
    with Espalier(options.espalier, options.preset) as espalier:
        found = frontiers(espalier, options) if options.only != 'costs' else {}
        for data, seed in splits(options):
            if found:
                published += against_published(found[data.name, seed], data, seed)
                save(options.csv, published)
            if options.only != 'published':
                costs += against_paper_preset(espalier, data, seed)
                save(options.costs_csv, costs)
    missed = report('Published points, AUC on test rows', published)
    missed += report("The paper preset's trees, with random costs", costs)
    sys.exit(int(missed > 0))


main()

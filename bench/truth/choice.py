"""Figures of the chosen tree on the rows that chose it, and the choice under priors."""

import os, re

import numpy as np

from . import rows, table


def listed(runs, frontier):
    """The points of frontier.json with their trees."""
    return [(p, rows.read(os.path.join(runs.out, p['tree']))) for p in frontier['points']]


def merit(runs, samples):
    """The AUC on validation rows and folds, without its optimism, of the chosen tree and of the other listed trees."""
    for title, draw in (
        ('200 rows', rows.single(200)),
        ('900 rows', rows.single(900)),
        ('2,000 rows, 2 % of a class', rows.single(2000, lambda x: rows.score(x) - 5)),
    ):
        kind = rows.Kind(title, draw)
        new = draw(np.random.default_rng(1), 30_000)
        chosen, change = [], []
        for seed in range(samples):
            r = rows.sample(kind, seed)
            runs.write(r.columns(), r.classes())
            _, _, frontier = runs.train()
            points = [(p, p['merit'] - p.get('optimism', 0), rows.figures(tree, new)['AUC']) for p, tree in listed(runs, frontier)]
            _, printed, true = next(f for f in points if f[0].get('selected'))
            chosen.append(printed - true)
            change += [np.mean([(m - printed) - (t - true) for p, m, t in points if not p.get('selected')])] * (len(points) > 1)
        table.mean('AUC of the chosen tree less its true AUC', title, chosen, -0.01, 0.01)
        table.mean('change of AUC of other trees less the true change', title, change, -0.01, 0.01)


def folds(runs, samples):
    """The AUC on the first screen of a run without validation and test rows."""
    for title, draw in (
        ('200 rows', rows.single(200)),
        ('900 rows', rows.single(900)),
        ('100 groups of 5 rows of one class', rows.grouped([5] * 100, True)),
    ):
        kind = rows.Kind(title, draw)
        new = draw(np.random.default_rng(1), 30_000)
        hits, above = 0, []
        for seed in range(samples):
            r = rows.sample(kind, seed)
            runs.write(r.columns(), r.classes())
            tree, _, _ = runs.train('--split', '100/0/0', '--folds', '5', *kind.flags(r))
            with open(rows.path(runs, 'said.txt')) as f:
                printed, low, high = map(float, re.search(r'AUC (\d\.\d+) \((\d\.\d+)-(\d\.\d+)\)', f.read()).groups())
            true = rows.figures(tree, new)['AUC']
            hits += low <= true <= high
            above.append(printed - true)
        table.share('AUC on the first screen covers, 100/0/0', title, hits, samples, *rows.covered)
        table.mean('AUC on the first screen less the true AUC, 100/0/0', title, above, -0.01, 0.01)


def priors(runs, samples):
    """Trees for other frequencies of the classes than those of the rows."""
    seeds = max(3, samples // 10)
    rare_use(runs, seeds)
    case_control(runs, seeds)


def rare_use(runs, seeds):
    """A weak feature, 15 % of the rows of class b, and 90 % where the tree is used."""
    kind = rows.Kind('2,000 rows, priors', rows.single(2000, lambda x: 0.8 * x[0] - 1.9))
    new = kind.draw(np.random.default_rng(1), 30_000)
    share = new.q[:, 1].mean()
    new.weight = np.tile([0.1 / (1 - share), 0.9 / share], (len(new.q), 1))
    single = -(0.1 * np.log(0.1) + 0.9 * np.log(0.9))
    best, bare = [], []
    for seed in range(seeds):
        r = rows.sample(kind, seed)
        runs.write(r.columns(), r.classes())
        tree, _, frontier = runs.train('--priors', 'a=.1,b=.9')
        loss = rows.figures(tree, new)['log loss']
        best.append(loss / min(rows.figures(t, new)['log loss'] for _, t in listed(runs, frontier)))
        bare.append(loss / single)
    table.mean('log loss in use, of the best listed tree', kind.title, best, 1, 1.02)
    table.mean('log loss in use, of a single leaf', kind.title, bare, 0, 1.02)


def case_control(runs, seeds):
    """Half of the rows are ill, and 2 % where the tree is used. A missed one costs 20, a false alarm 1."""
    errors, use = np.array([[0, 20], [1, 0]]), np.array([0.02, 0.98])  # ill, well

    def draw(rng, n):
        ill = np.arange(n) % 2 == 0
        x = rng.normal(size=(4, n)) + np.array([1.2, 0.9, 0.6, 0.3])[:, None] * ill
        return {f'x{j}': x[j] for j in range(4)}, ill

    new, actual = draw(np.random.default_rng(1), 40_000)
    actual = np.where(actual, 0, 1)

    def totals(tree):
        _, predicted, cost, _ = rows.scored(tree, new)
        wrong = errors[actual, predicted]
        return np.average(wrong, weights=use[actual]), np.average(wrong + cost, weights=use[actual])

    best, printed = [], []
    for seed in range(seeds):
        columns, ill = draw(np.random.default_rng([seed, 1]), 4000)
        runs.write(columns, np.where(ill, 'ill', 'well'))
        tree, test, frontier = runs.train(
            '--costs', runs.text('prices.csv', 'feature,cost\n' + ''.join(f'x{j},0.05\n' for j in range(4))),
            '--error_costs', runs.text('errors.csv', 'actual,predicted,cost\nill,well,20\nwell,ill,1\n'),
            '--priors', 'ill=0.02,well=0.98', '--select', 'total')
        wrong, total = totals(tree)
        best.append(total / min(totals(t)[1] for _, t in listed(runs, frontier)))
        printed.append((test['expected_error_cost'] - wrong) / wrong)
    title = '4,000 rows, half ill, priors of 2 %'
    table.mean('total in use, of the best listed tree', title, best, 1, 1.02)
    table.mean('printed error cost over the true one, less 1', title, printed, -0.1, 0.1)

#!/usr/bin/env python3
"""Holds trees grown by the true prices of tests against trees grown by false prices.

    bench/prices.py [--sets NAME,..] [--splits 5] [--csv FILE]

Five price lists for each case and split: the true one, and four false ones. Free features cost a quarter of the
usual price (quarter) or all of it (whole), all features cost the same (equal), or prices below the median are halved
(halved). The trees of all frontiers are billed by the true prices. For each of eight budgets, the best tree on
validation (by its merit) is taken from each run.

Cases: visits is synthetic, with 12 free features and 6 labs that share a price. In a data set of bench/data,
a third of the features is free, a third cheap and a third expensive (mixed), or a third is free and two thirds
are in two groups with a price (groups). Prices are random, and differ by split.

A false list is better at a budget if its mean merit over the splits exceeds that of the true list by more than one
standard error: that of the mean paired difference, or that of the mean validation AUC, whichever is larger. Prints
a Markdown table, and fails if a false list is better anywhere. Test rows take no part in a choice. Needs
the data sets, Go, and Python with numpy and pyarrow (installed by pip where they are missing).
"""

import csv, math, os, sys

sys.dont_write_bytecode = True
from needs import need

need('prices')

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from protocol import DataSet, Espalier, arguments, data_sets, load, save, table

false = ['quarter', 'whole', 'equal', 'halved']
shares = 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1  # budgets, of the cost of the best tree
plain = ['--frontier_step', '0', '--certificate', 'none', '--report', 'none']


def visits(espalier, seed, n=30_000):
    """30,000 rows of 12 free features that say a little each, and 6 labs that say more."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3))
    columns, prices = {}, {}
    for i in range(12):
        columns[f'history_{i}'] = np.round(0.35 * z[:, i % 3] + rng.normal(size=n), 2)
        prices[f'history_{i}'] = 0.0, '', 0.0
    for i in range(6):
        columns[f'lab_{i}'] = np.round(z[:, i % 3] + 0.6 * rng.normal(size=n), 2)
        prices[f'lab_{i}'] = 1.0 + i % 4, 'blood', 8.0
    ill = z[:, 0] + 0.8 * z[:, 1] * (z[:, 2] > 0) + 0.7 * rng.normal(size=n) > 0.3
    file = os.path.join(espalier.work, 'visits.parquet')
    pq.write_table(pa.table(columns | {'class': np.where(ill, 'ill', 'well')}), file)
    return [file], prices


def draw(files, law, seed):
    """Prices of the features: (own, group, of the group)."""
    names = [n for n in pq.read_schema(files[0]).names if n != 'class']
    rng = np.random.default_rng([seed, len(law), len(names)])
    found = {}
    for name, third in zip(names, rng.permutation(len(names)) % 3):
        cheap, dear, lab = (round(float(rng.uniform(*r)), 2) for r in ((0.5, 2), (5, 20), (0.5, 4)))
        if law == 'mixed':
            found[name] = (0.0, cheap, dear)[third], '', 0.0
        else:
            found[name] = ((0.0, '', 0.0), (lab, 'a', 6.0), (lab, 'b', 12.0))[third]
    return found


def falsified(prices, way):
    """The list of prices that a run is told."""
    sizes = {}
    for _, group, _ in prices.values():
        sizes[group] = sizes.get(group, 0) + 1
    whole = [own + (shared / sizes[group] if group else 0) for own, group, shared in prices.values()]
    usual, median = np.mean([p for p in whole if p > 0]), np.median([p for p in whole if p > 0])
    if way == 'equal':
        return {name: (usual, '', 0.0) for name in prices}
    told = {}
    for name, (own, group, shared) in prices.items():
        if way == 'halved' and own < median:
            own /= 2
        if way in ('quarter', 'whole') and not (own or group):
            own = usual * {'quarter': 0.25, 'whole': 1}[way]
        told[name] = own, group, shared
    return told


def write(espalier, prices):
    file = os.path.join(espalier.work, 'costs.csv')
    with open(file, 'w', newline='') as f:
        w = csv.writer(f)
        w.writerow(['feature', 'cost', 'group', 'group_cost'])
        w.writerows([name, own, group, shared if group else ''] for name, (own, group, shared) in prices.items())
    return file


def bill(tree, prices):
    """The expected cost of a tree per training row: a path pays a group once, and a feature once if repeats are free."""
    nodes, total, stack = {n['id']: n for n in tree['nodes']}, 0, [(0, 0, frozenset())]
    once = tree['algorithm'].get('repeat_cost') == 'free'
    while stack:
        at, paid, known = stack.pop()
        node = nodes[at]
        if not node.get('branches'):
            total += node['weight'] * paid
            continue
        name = node['test']['feature']
        own, group, shared = prices[name]
        paid += 0 if once and ('feature', name) in known else own
        paid += shared if group and ('group', group) not in known else 0
        stack += [(b['child'], paid, known | {('feature', name), ('group', group)}) for b in node['branches']]
    return total / nodes[0]['weight']


def points(espalier, data, files, prices, way, seed):
    """(true cost, merit, test AUC, standard error on validation) of each tree of a frontier."""
    costs = write(espalier, falsified(prices, way) if way else prices)
    out = espalier.train(data, files, '--preset', espalier.preset, '--costs', costs, '--seed', str(seed), *plain)
    return [
        (
            bill(load(out, p['tree']), prices),
            p['merit'],
            p['test']['auc'],
            (p['validation']['high'] - p['validation']['low']) / 3.92 if 'high' in p['validation'] else 0,
        )
        for p in load(out, 'frontier.json')['points']
    ]


def best(found, budget):
    return max((p for p in [(0, 0.5, 0.5, 0), *found] if p[0] <= budget + 1e-9), key=lambda p: (p[1], -p[0]))


def compare(espalier, data, law, seed):
    files, prices = visits(espalier, seed) if law == 'visits' else (data.files, draw(data.files, law, seed))
    found = {way: points(espalier, data, files, prices, way, seed) for way in ['', *false]}
    top = max((p for f in found.values() for p in f), key=lambda p: (p[1], -p[0]))[0]
    rows = []
    for share in shares:
        budget = top * share
        for way, f in found.items():
            cost, merit, test, error = best(f, budget)
            case = 'visits' if law == 'visits' else f'{data.name} {law}'
            rows.append(
                dict(case=case, split=seed, share=share, way=way or 'true', cost=cost, merit=merit, test=test, error=error)
            )
    return rows


def verdicts(case, rows):
    """A line for each false list: mean margins of the true list, and the budgets at which the false list is better."""
    lines, missed = [], 0
    at = {(r['split'], r['share'], r['way']): r for r in rows}
    splits = sorted({r['split'] for r in rows})
    for way in false:
        merits, tests, better, worst = [], [], 0, math.inf
        for share in shares:
            pairs = [(at[s, share, 'true'], at[s, share, way]) for s in splits]
            margins = np.array([t['merit'] - f['merit'] for t, f in pairs])
            own = np.mean([t['error'] for t, _ in pairs]) / math.sqrt(len(pairs))
            error = max(own, margins.std(ddof=1) / math.sqrt(len(pairs)) if len(pairs) > 1 else 0)
            better += margins.mean() < -error
            worst = min(worst, margins.mean())
            merits.append(margins.mean())
            tests.append(np.mean([t['test'] - f['test'] for t, f in pairs]))
        missed += better
        lines.append([case, way, f'{np.mean(merits):+.4f}', f'{worst:+.4f}', f'{np.mean(tests):+.4f}', f'{better} of {len(shares)}'])
    return lines, missed


def main():
    ap = arguments(__doc__)
    options = ap.parse_args()
    names = options.sets or ['visits', 'phoneme', 'spambase', 'electricity', 'credit-g']
    cases = [(DataSet('visits', '', []), ['visits'])] if 'visits' in names else []
    known = [n for n in names if n != 'visits']
    cases += [(d, ['mixed', 'groups']) for d in (data_sets(known, of_paper=False) if known else [])]
    rows, lines, missed = [], [], 0
    with Espalier(options.espalier, options.preset) as espalier:
        for data, laws in cases:
            for law in laws:
                own = []
                for seed in range(1, options.splits + 1):
                    own += compare(espalier, data, law, seed)
                    print(f'{data.name} {law} split {seed} done', file=sys.stderr, flush=True)
                rows += own
                save(options.csv, rows)
                more, less = verdicts(own[0]['case'], own)
                lines, missed = lines + more, missed + less
    table(['case', 'false prices', 'mean margin', 'least', 'test AUC', 'better at'], lines)
    sys.exit(int(missed > 0))


main()

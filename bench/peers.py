#!/usr/bin/env python3
"""Holds the frontier against trees of other libraries, on the same rows.

    bench/peers.py [--sets NAME,..] [--splits 5] [--csv FILE] [--optimal_csv FILE]
                   [--preset accurate] [--without_optimal]

For each data set of the paper in bench/data and each seed 1..SPLITS, the
rows are split into train, validation and test (70/10/20). The part is a column of
a Parquet copy, which Espalier trains on (--split part, and the preset) and all
peers use. Each side offers trees. Each published cost of the set is a budget of
expected tests on the training rows. For each budget each side chooses its tree that
is best on validation within the budget, and the tree is scored on test (AUC, one
class against the rest, macro). The peers:

- CART: scikit-learn's, by entropy and by Gini, on exact thresholds and one-hot
  categories, pruned along its whole cost-complexity path (--min_leaf: rows of a
  leaf, a list makes more trees);
- one LightGBM tree: one round at full step, a grid of num_leaves and
  min_data_in_leaf; of more than two classes that is a tree a class;
- LightGBM, 100 rounds with its defaults, whatever tests that takes, against the
  frontier at 10 expected tests;
- STreeD: the tree of least training error at depth 2 and 3, and 4, on indicators
  of 9 quantile cuts, on sets of up to 6,000 rows and 100 columns, if it ends within a
  minute;
  against the frontier of --max_depth at equal depth by accuracy, and against the
  frontier of any depth at equal expected tests by AUC.

Prints two Markdown tables, the means over the splits: at how many budgets
Espalier is ahead (level: within 1e-9), with the mean and the least margin; and
"best on test", the mean margins when both sides choose by test AUC. This is not a
result; it shows whether the trees or the choice among them could be better. Needs
the data sets and Python; installs by pip what is missing of numpy,
pandas, pyarrow, scikit-learn, lightgbm and pystreed.
"""

import os, sys

sys.dont_write_bytecode = True
from needs import need

need('peers')

import numpy as np

import rivals
from protocol import Espalier, arguments, load, oracle, query, save, splits, table

level = 1e-9
plenty = 10  # budget of expected tests for the comparison with the ensemble


def one_split(espalier, data, seed, options):
    """Rows of the two CSV files."""
    split = rivals.Split(data, seed)
    file = rivals.write_parts(split, espalier.work)
    kept = options.keep and os.path.join(options.keep, f'{data.name}-{seed}.json')
    peers = rivals.kept_offers(split, options.min_leaf, kept, not options.without_optimal)
    ours, _ = espalier.frontier(data, [file], '--split', 'part')
    rows = []
    for published in data.published:
        row = dict(set=data.name, split=seed, against=published.name, budget=published.cost)
        for side, points in ('ours', ours), ('cart', peers.cart), ('lightgbm', peers.lightgbm):
            chosen = query(points, published.cost)
            row |= {
                side: chosen.test,
                f'{side}_validation': chosen.validation,
                f'{side}_tests': chosen.cost,
                f'{side}_tree': chosen.name,
                f'{side}_best_on_test': oracle(points, published.cost).test,
            }
        rows.append(
            row
            | dict(
                ours_plenty=query(ours, plenty).test, ensemble=peers.ensemble.test, ensemble_tests=peers.ensemble.cost
            )
        )
    if options.without_optimal:
        return rows, []
    return rows, [shallow(espalier, data, seed, file, ours, depth, *found) for depth, found in peers.optimal.items()]


def shallow(espalier, data, seed, file, frontier, depth, point, accuracy, seconds):
    trees, folder = espalier.frontier(data, [file], '--split', 'part', '--max_depth', str(depth))
    return dict(
        set=data.name,
        split=seed,
        depth=depth,
        seconds=seconds,
        optimal_accuracy=accuracy,
        optimal_auc=point.test,
        optimal_tests=point.cost,
        accuracy=load(folder, 'metrics.json')['test']['accuracy'],
        by_accuracy=most_accurate(espalier, folder, trees),
        auc=query(trees, np.inf).test,
        auc_at_tests=query(frontier, point.cost).test,
    )


def most_accurate(espalier, folder, trees):
    """Test accuracy of the frontier's tree with the highest accuracy on validation."""
    best = max(trees, key=lambda p: (espalier.measure(folder, p.name, 'validation')['accuracy'], -p.cost))
    return espalier.measure(folder, best.name, 'test')['accuracy']


def margins(rows, peer, suffix=''):
    """Ours less the peer's at each published cost, means over the splits."""
    by_name = {}
    for row in rows:
        by_name.setdefault(row['against'], []).append(row[f'ours{suffix}'] - row[f'{peer}{suffix}'])
    return np.array([np.mean(m) for m in by_name.values()])


def verdict(rows, peer):
    m = margins(rows, peer)
    ahead, even = (m > level).sum(), (abs(m) <= level).sum()
    return [
        f'{ahead}{f" + {even} level" if even else ""} of {len(m)}',
        f'{m.mean():+.4f}',
        f'{m.min():+.4f}',
        f'{margins(rows, peer, "_best_on_test").mean():+.4f}',
    ]


def mean(rows, key):
    return np.mean([row[key] for row in rows])


def budget_table(groups):
    rows = []
    for name, group in groups.items():
        distance = mean(group, 'ours_plenty') - mean(group, 'ensemble')
        rows.append(
            [
                name,
                *verdict(group, 'cart'),
                *verdict(group, 'lightgbm'),
                f'{mean(group, "ours_plenty"):.4f}',
                f'{mean(group, "ensemble"):.4f}',
                f'{distance:+.4f}',
                f'{mean(group, "ensemble_tests"):.0f}',
            ]
        )
    columns = 'margin', 'least', 'best on test'
    table(
        [
            'data set',
            'ahead of CART',
            *columns,
            'ahead of one LightGBM tree',
            *columns,
            f'AUC at {plenty} tests',
            '100 rounds',
            'distance',
            'its tests',
        ],
        rows,
    )


def depth_table(groups):
    rows = []
    for name, group in groups.items():
        for depth in sorted({row['depth'] for row in group}):
            g = [row for row in group if row['depth'] == depth]
            rows.append(
                [
                    name,
                    depth,
                    *(
                        f'{mean(g, k):.4f}'
                        for k in ('by_accuracy', 'accuracy', 'optimal_accuracy', 'auc_at_tests', 'optimal_auc')
                    ),
                    f'{mean(g, "optimal_tests"):.2f}',
                    f'{mean(g, "seconds"):.2f}',
                ]
            )
    if rows:
        table(
            [
                'data set',
                'depth',
                'accuracy, chosen by accuracy',
                'by AUC',
                'STreeD',
                'AUC at its tests',
                'STreeD',
                'its tests',
                'its seconds',
            ],
            rows,
        )


def by_set(rows):
    groups = {}
    for row in rows:
        groups.setdefault(row['set'], []).append(row)
    return groups


def main():
    ap = arguments(__doc__)
    ap.add_argument('--min_leaf', type=lambda s: [int(n) for n in s.split(',')], default=[1])
    ap.add_argument('--keep', help='folder that keeps what the peers offer, for later runs with the same options')
    ap.add_argument('--optimal_csv')
    ap.add_argument('--without_optimal', action='store_true', help='leave out STreeD')
    options = ap.parse_args()
    budgets, depths = [], []
    with Espalier(options.espalier, options.preset) as espalier:
        for data, seed in splits(options):
            b, d = one_split(espalier, data, seed, options)
            budgets, depths = budgets + b, depths + d
            save(options.csv, budgets)
            save(options.optimal_csv, depths)
    budget_table(by_set(budgets))
    depth_table(by_set(depths))


main()

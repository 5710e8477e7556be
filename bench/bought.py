#!/usr/bin/env python3
"""What trees and boosters of several libraries buy: on the same rows, the AUC within a number of
features that are bought for a row, tests, and time.

    bench/bought.py [--sets NAME,..] [--splits 2] [--bought 1,2,3,4,6,8] [--preset default,accurate]
                    [--sides NAME,..] [--csv FILE] [--picture FILE]

Each data set of the paper in bench/data is split into 70/10/20 by seeds, as for peers.py.
A feature is bought for a row at the first test that asks for it; further tests are free. Each
side offers models:

- Espalier: the frontier of each preset with --repeat_cost free, whose costs are bought features;
- CART: scikit-learn's, by entropy and by Gini, at 20 alphas of its cost-complexity path, denser
  where trees are small;
- one LightGBM tree: one round at full step, a grid of sizes;
- LightGBM: 10, 30 and 100 rounds with its defaults;
- LightGBM with cost-efficient boosting: 10, 30 and 100 rounds, cegb_penalty_feature_lazy 1 for each
  feature, a grid of cegb_tradeoff;
- chosen once: 1 to 8 features for all rows, by forward selection with 60 boosted trees of 8 leaves on
  at most 20,000 training rows, among the 25 features with the highest gain;
- STreeD: the optimal trees of depth 2, 3 and 4 on indicators of quantiles, on small sets.

For each number of bought features each side answers with its model that is best on validation
rows within it. The first table has the AUC of these answers on test rows, the second one the averages
over the data sets that all sides have models for (STreeD apart), the third one what the model
without a limit asks and buys, and the seconds that all models of a side took. The script
prints tables and never fails. --sides names sides by a part of their names. --picture draws the averages, as in
docs/bought.svg; a side starts where it has models for all sets. Needs the data sets, Go and Python; installs
by pip what is missing of numpy, pandas, pyarrow, scikit-learn, lightgbm, pystreed and matplotlib.
"""

import dataclasses, sys, time

sys.dont_write_bytecode = True
from needs import need

need('peers')

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import rivals
from protocol import Espalier, Point, arguments, load, save, splits, table
from rivals import write_parts

small_trees = dict(num_leaves=8, min_data_in_leaf=20)  # of the side that chooses features once
tradeoffs = 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 0.3, 1.0, 3.0


@dataclasses.dataclass
class Model(Point):
    """A point whose cost is the number of bought features of a training row."""

    tests: float = 0.0


def within(models, bought):
    """The model of the largest validation area within a number of bought features."""
    fits = [m for m in models if m.cost <= bought + 1e-9]
    return max(fits, key=lambda m: (m.validation, -m.cost)) if fits else Model(0.0, 0.5, 0.5, 'leaf')


def ours(espalier, preset, data, split):
    espalier.preset = preset
    file = write_parts(split, espalier.work)
    _, folder = espalier.frontier(data, [file], '--split', 'part', '--repeat_cost', 'free')
    return [
        Model(
            p['expected_cost'],
            p['merit'],
            p['test']['auc'],
            p['tree'],
            p['expected_tests'],
        )
        for p in load(folder, 'frontier.json')['points']
    ]


def origins(split):
    """The feature of each column of Split.one_hot and of Split.binary."""
    one_hot = []
    for i, name in enumerate(split.frame):
        values = split.codes[name].max() + 1 if name in split.codes else 2
        one_hot += [i] * (0 if values == 1 else 1 if values == 2 else values)
    return np.array(one_hot)


def cart(split):
    x, origin, train = split.one_hot(), origins(split), split.rows['train']
    models = []
    for criterion in 'entropy', 'gini':
        whole = DecisionTreeClassifier(criterion=criterion, random_state=0)
        alphas = whole.cost_complexity_pruning_path(x[train], split.y[train]).ccp_alphas
        from_end = np.geomspace(1, len(alphas), 20).astype(int)  # the last alpha leaves the root alone
        for alpha in np.unique(alphas[len(alphas) - from_end]):
            tree = DecisionTreeClassifier(criterion=criterion, random_state=0, ccp_alpha=max(0, alpha))
            tree.fit(x[train], split.y[train])
            asked = tree.tree_.feature[: tree.tree_.node_count]
            path = tree.decision_path(x[train]).tocsr()
            bought = np.zeros((len(train), split.frame.shape[1]), bool)
            rows = np.repeat(np.arange(len(train)), np.diff(path.indptr))
            inner = asked[path.indices] >= 0
            bought[rows[inner], origin[asked[path.indices[inner]]]] = True
            area = {p: rivals.row_area(tree.predict_proba(x[split.rows[p]]), split.labels(p)) for p in rivals.parts}
            models.append(
                Model(
                    float(bought.sum(1).mean()),
                    area['validation'],
                    area['test'],
                    f'{criterion} {tree.get_n_leaves()} leaves',
                    float(inner.sum() / len(train)),
                )
            )
    return models


class Boosting(rivals.Boosting):
    """LightGBM, with the features that a row buys as the cost of a point."""

    def measured(self, model, name):
        point = super().measured(model, name)
        leaves = model.predict(self.rows['train'], pred_leaf=True, num_threads=1).astype(int)
        leaves = leaves.reshape(len(self.rows['train']), -1)
        bought = np.zeros((len(leaves), self.x.shape[1]), bool)
        for tree, column in zip(model.dump_model()['tree_info'], leaves.T):
            bought |= features_of(tree['tree_structure'], tree['num_leaves'], self.x.shape[1])[column]
        return Model(float(bought.sum(1).mean()), point.validation, point.test, name, point.cost)

    def ensembles(self):
        return [self.point(rounds, f'{rounds} rounds') for rounds in (10, 30, 100)]

    def cost_efficient(self):
        lazy = [1.0] * self.x.shape[1]
        return [
            self.point(rounds, f'{rounds} rounds at {t:g}', cegb_tradeoff=t, cegb_penalty_feature_lazy=lazy)
            for rounds in (10, 30, 100)
            for t in tradeoffs
        ]

    def chosen_once(self):
        """Features that are bought for all rows, by forward selection on the validation rows."""
        some = np.random.default_rng(0).permutation(len(self.rows['train']))[:20_000]
        gain = self.fitted(range(self.x.shape[1]), some).feature_importance('gain')
        pool = [int(f) for f in np.argsort(-gain, kind='stable')[:25]]
        chosen, models = [], []
        for _ in range(min(8, len(pool))):
            ways = [[*chosen, f] for f in pool if f not in chosen]
            chosen = max(ways, key=lambda way: self.areas(self.fitted(way, some), way)['validation'])
            model = self.fitted(chosen, slice(None))
            area, names = self.areas(model, chosen), ', '.join(self.split.frame.columns[chosen])
            tests = self.tests(model, chosen)
            models.append(Model(float(len(chosen)), area['validation'], area['test'], names, tests))
        return models

    def areas(self, model, features):
        found = {}
        for part in 'validation', 'test':
            p = model.predict(self.rows[part][:, features], num_threads=1)
            found[part] = rivals.row_area(p if p.ndim == 2 else np.stack([1 - p, p], 1), self.split.labels(part))
        return found

    def fitted(self, features, rows):
        """60 rounds on some features and training rows."""
        features, k = list(features), len(self.split.classes)
        objective = dict(objective='binary') if k == 2 else dict(objective='multiclass', num_class=k)
        data = rivals.lgb.Dataset(
            self.rows['train'][rows][:, features],
            self.split.labels('train')[rows],
            categorical_feature=[i for i, f in enumerate(features) if f in self.categorical],
            params=dict(rivals.quiet),
        )
        return rivals.lgb.train(dict(rivals.quiet, **objective, **small_trees), data, 60)


def features_of(node, leaves, columns):
    """Which features are asked on the way to each leaf."""
    found = np.zeros((leaves, columns), bool)
    stack = [(node, ())]
    while stack:
        node, path = stack.pop()
        if 'left_child' in node:
            path = (*path, node['split_feature'])
            stack += [(node['left_child'], path), (node['right_child'], path)]
        else:
            found[node.get('leaf_index', 0), list(path)] = True
    return found


def optimal(split):
    """STreeD's trees. Its indicators stand for their features, so that each test buys one at most."""
    if len(split.y) > rivals.small[0] or split.frame.shape[1] > rivals.small[1]:
        return []
    return [Model(p.cost, p.validation, p.test, p.name, p.cost) for p, *_ in rivals.optimal_trees(split).values()]


def offers(espalier, presets, data, seed, wanted):
    """The models of each side, and the seconds that they took."""
    split = rivals.Split(data, seed)
    boosting = Boosting(split)
    sides = {f'Espalier, {preset}': lambda preset=preset: ours(espalier, preset, data, split) for preset in presets}
    sides |= {
        'CART': lambda: cart(split),
        'one LightGBM tree': boosting.single_trees,
        'LightGBM': boosting.ensembles,
        'cost-efficient LightGBM': boosting.cost_efficient,
        'chosen once': boosting.chosen_once,
        'STreeD': lambda: optimal(split),
    }
    for name, make in sides.items():
        if wanted and not any(part in name for part in wanted):
            continue
        start = time.perf_counter()
        models = make()
        yield name, models, time.perf_counter() - start


def main():
    ap = arguments(__doc__)
    ap.set_defaults(splits=2, preset='default,accurate')
    ap.add_argument('--bought', type=lambda s: [float(x) for x in s.split(',')], default=[1.0, 2.0, 3.0, 4.0, 6.0, 8.0])
    ap.add_argument('--sides', type=lambda s: s.split(','), default=[])
    ap.add_argument('--picture')
    options = ap.parse_args()
    rows = []
    with Espalier(options.espalier) as espalier:
        for data, seed in splits(options):
            for side, models, seconds in offers(espalier, options.preset.split(','), data, seed, options.sides):
                if not models:
                    continue
                for bought in [*options.bought, np.inf]:
                    m = within(models, bought)
                    rows.append(
                        dict(set=data.name, split=seed, side=side, within=bought, auc=m.test, tests=m.tests,
                             bought=m.cost, model=m.name, seconds=seconds)
                    )  # fmt: skip
            save(options.csv, rows)
    report(rows, options.bought)
    if options.picture:
        draw(rows, options.bought, options.picture)


def draw(rows, budgets, file):
    """The AUC by the number of bought features, for each side that has models for all data sets."""
    need('paid_values')
    from pictures import picture, write

    figure, axes = picture()
    names = {r['set'] for r in rows}
    for side in dict.fromkeys(r['side'] for r in rows):
        own = [r for r in rows if r['side'] == side and r['tests'] > 0]
        known = [b for b in budgets if {r['set'] for r in own if r['within'] == b} == names]
        areas = [np.mean([r['auc'] for r in own if r['within'] == b]) for b in known]
        if known:
            axes.plot(known, areas, marker='o', lw=2.5 if 'Espalier' in side else 1.2, label=side)
    axes.set_xlabel('features bought for a row, at most'), axes.set_ylabel('AUC on test rows')
    axes.set_xticks(budgets), axes.legend(frameon=False, loc='lower right')
    write(figure, file)


def report(rows, budgets):
    def mean(name, side, bought, key):
        found = [r[key] for r in rows if (r['set'], r['side'], r['within']) == (name, side, bought)]
        return np.mean(found) if found else None

    names, sides = list(dict.fromkeys(r['set'] for r in rows)), list(dict.fromkeys(r['side'] for r in rows))

    def cells(name, bought, key, digits):
        found = [mean(name, side, bought, key) for side in sides]
        return ['' if x is None else f'{x:.{digits}f}' for x in found]

    def averages(bought):
        everywhere = [[mean(n, side, bought, 'auc') for n in names] for side in sides]
        return ['' if None in found else f'{np.mean(found):.3f}' for found in everywhere]

    table(['data set', 'bought', *sides], [[n, f'{b:g}', *cells(n, b, 'auc', 4)] for n in names for b in [*budgets, np.inf]])
    table(['average of the sets', *sides], [[f'{b:g}', *averages(b)] for b in [*budgets, np.inf]])
    table(
        ['data set', 'without a limit', *sides],
        [
            [n, title, *cells(n, np.inf, key, digits)]
            for n in names
            for title, key, digits in (('tests', 'tests', 1), ('bought', 'bought', 1), ('seconds', 'seconds', 1))
        ],
    )


if __name__ == '__main__':
    main()

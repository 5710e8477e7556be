#!/usr/bin/env python3
"""Measures what a monotone wish costs: Espalier, scikit-learn and LightGBM on the same rows.

    bench/monotone.py [--sets NAME,..] [--splits 5] [--select best,highest] [--csv FILE]

For each data set of two classes and each seed 1..SPLITS, the rows are split into train,
validation and test (70/10/20). The wished feature is the numeric one with the highest AUC
alone on all rows, or 1 - AUC, whichever is higher; the sign of the wish is the side. Each
library trains without the wish and with it, and chooses on validation rows:

- Espalier: the preset, by each of the rules --select; and the same without leaf models and
  teachers, which are left out next to a wish;
- scikit-learn: CART by Gini with min_samples_leaf 1, 5, 20, 50 and 100, with monotonic_cst;
- LightGBM: one tree at full step, over a grid of num_leaves and min_data_in_leaf, with
  monotone_constraints by each of the three methods.

Prints a Markdown table of mean test AUC without the wish, and the loss with it. Needs the
data sets and Python; installs by pip what is missing of numpy, pandas, pyarrow, scikit-learn and
lightgbm.
"""

import sys

sys.dont_write_bytecode = True
from needs import need

need('monotone')

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

import rivals
from protocol import Espalier, arguments, load, save, splits, table

standard = ['breast-w', 'credit-g', 'phoneme', 'spambase', 'electricity', 'bank-marketing']
min_leaf = 1, 5, 20, 50, 100
leaf_counts = 4, 8, 16, 32, 64, 128, 256
leaf_rows = 1, 5, 20, 100
methods = 'basic', 'intermediate', 'advanced'


def wish(split):
    """The name of the wished feature and the sign."""
    found = []
    for name in split.frame:
        if name in split.codes or split.frame[name].isna().any():
            continue
        area = roc_auc_score(split.y, split.frame[name].astype(float))
        found.append((abs(area - 0.5), name, 1 if area > 0.5 else -1))
    return max(found)[1:]


def best(models, area):
    """The test AUC of the model that has the highest AUC on validation rows."""
    return max(((area(m, 'validation'), area(m, 'test')) for m in models), key=lambda a: a[0])[1]


def of_cart(split, feature, sign):
    """Test AUC without the wish and with it."""
    x = pd.concat([split.frame[[feature]].astype('float32'), pd.DataFrame(split.one_hot())], axis=1)
    x = x.to_numpy('float32', na_value=np.nan)  # the wished feature once more, so it is the first
    same = [i for i in range(1, x.shape[1]) if np.array_equal(x[:, i], x[:, 0])]
    x = np.delete(x, same, axis=1)
    train = split.rows['train']

    def area(model, part):
        return roc_auc_score(split.labels(part), model.predict_proba(x[split.rows[part]])[:, 1])

    def chosen(constraints):
        return best(
            (
                DecisionTreeClassifier(min_samples_leaf=n, random_state=0, monotonic_cst=constraints).fit(
                    x[train], split.y[train]
                )
                for n in min_leaf
            ),
            area,
        )

    return chosen(None), chosen([sign] + [0] * (x.shape[1] - 1))


def of_lightgbm(split, feature, sign):
    """Test AUC without the wish, and with it by method."""
    boosting = rivals.Boosting(split)
    wished = [sign if name == feature else 0 for name in split.frame]

    def points(**parameters):
        return [
            boosting.point(
                1,
                '',
                learning_rate=1.0,
                num_leaves=leaves,
                min_data_in_leaf=rows,
                min_sum_hessian_in_leaf=0.0,
                **parameters,
            )
            for leaves in leaf_counts
            for rows in leaf_rows
        ]

    def chosen(found):
        return max(found, key=lambda p: p.validation).test

    return chosen(points()), {
        m: chosen(points(monotone_constraints=wished, monotone_constraints_method=m)) for m in methods
    }


def of_espalier(espalier, data, file, feature, sign, select):
    """Test AUC of the preset, of the preset without leaf models and teachers, and with the wish; tests of the last two."""
    common = ['--preset', espalier.preset, '--split', 'part', '--select', select, '--report', 'none', '--certificate', 'none']
    plain = ['--leaf_model', 'none', '--teacher', 'none']
    found = []
    for flags in [], plain, ['--monotone', f'{feature}={sign:+d}']:
        folder = espalier.train(data, [file], *common, *flags)
        found.append((load(folder, 'metrics.json')['test']['auc_ovr_macro'], load(folder, 'tree.json')['complexity']['expected_tests']))
    return found


def one_split(espalier, data, seed, options):
    """A row of the CSV file."""
    split = rivals.Split(data, seed)
    file = rivals.write_parts(split, espalier.work)
    feature, sign = wish(split)
    row = dict(set=data.name, split=seed, feature=feature, sign=sign)
    for select in options.select:
        (free, _), (plain, tests), (wished, fewer) = of_espalier(espalier, data, file, feature, sign, select)
        row |= {
            f'{select}_free': free,
            f'{select}_plain': plain,
            f'{select}_plain_tests': tests,
            f'{select}_wished': wished,
            f'{select}_wished_tests': fewer,
        }
    if not options.alone:
        row['cart_free'], row['cart_wished'] = of_cart(split, feature, sign)
        row['lightgbm_free'], wished = of_lightgbm(split, feature, sign)
        row |= {f'lightgbm_{method}': area for method, area in wished.items()}
    return row


def main():
    ap = arguments(__doc__)
    ap.add_argument('--select', type=lambda s: s.split(','), default=['best', 'highest'])
    ap.add_argument('--alone', action='store_true', help='leave out the other libraries')
    options = ap.parse_args()
    options.sets = options.sets or standard
    rows = []
    with Espalier(options.espalier, options.preset) as espalier:
        for data, seed in splits(options, of_paper=False):
            rows.append(one_split(espalier, data, seed, options))
            save(options.csv, rows)
    report(rows, options)


def report(rows, options):
    pairs = [(f'{s} {kind}', f'{s}_{kind}', f'{s}_wished') for s in options.select for kind in ('free', 'plain')]
    if not options.alone:
        pairs += [('scikit-learn', 'cart_free', 'cart_wished')]
        pairs += [(f'LightGBM {m}', 'lightgbm_free', f'lightgbm_{m}') for m in methods]
    lines = []
    for name in [*dict.fromkeys(row['set'] for row in rows), 'mean']:
        group = [row for row in rows if name in (row['set'], 'mean')]
        wished = f'{group[0]["feature"]} {group[0]["sign"]:+d}' if name != 'mean' else ''
        cells = []
        for _, free, with_wish in pairs:
            cells += [f'{np.mean([row[free] for row in group]):.4f}', f'{np.mean([row[free] - row[with_wish] for row in group]):+.4f}']
        lines.append([name, wished, *cells])
    table(['data set', 'wish', *(cell for title, _, _ in pairs for cell in (title, 'loss'))], lines)


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""Accuracy and log loss on sets of three and more classes, at the tests of other programs' trees.

    bench/classes.py FOLDER [--sets NAME,..] [--splits 3] [--espalier BINARY] [-- FLAGS OF ESPALIER]

FOLDER has a file NAME.csv for each data set, whose label is the column class in any case or else the last
column; sets of OpenML are such files. The rivals are the trees of scikit-learn's CART along its cost-
complexity path, chosen on validation rows, and the CART of YDF, which prunes by them. For each rival,
frontier.json answers with its tree of the highest accuracy (the least log loss) that asks no more tests than
the rival's tree; each test is paid. Figures are figures of test rows, less the figures of the rival. Classes
of fewer than 15 rows are left out.
"""

import argparse, glob, os, sys, tempfile

sys.dont_write_bytecode = True
from needs import need

need('classes')

import numpy as np, pandas as pd, ydf
from sklearn.tree import DecisionTreeClassifier

import sets
from protocol import Espalier, load


def read(file):
    df = pd.read_csv(file)
    df = df.rename(columns={next((c for c in df if c.lower() == 'class'), df.columns[-1]): 'class'})
    df['class'] = df['class'].astype(str)
    df = df[df.groupby('class')['class'].transform('size') >= 15].reset_index(drop=True)
    for c in df.columns.drop('class'):
        if not pd.api.types.is_numeric_dtype(df[c]):
            df[c] = df[c].astype('string')
    return df, df['class'].astype('category').cat.codes.to_numpy()


def figures(y, p):
    p = np.clip(p, 1e-4, 1)
    p /= p.sum(1, keepdims=True)
    return (p.argmax(1) == y).mean(), -np.log(p[np.arange(len(y)), y]).mean()


def cart(df, y, parts):
    """Tests, accuracy and log loss on validation rows and on test rows of each tree of the path, at most 40."""
    x = df.drop(columns='class')
    text = [c for c in x if not pd.api.types.is_numeric_dtype(x[c])]
    x = (pd.get_dummies(x, columns=text, dtype=float) if text else x).fillna(-999).to_numpy('float32')
    train = parts[0]
    path = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(x[train], y[train])
    alphas = np.unique(np.maximum(path.ccp_alphas, 0))
    some = np.r_[np.linspace(0, len(alphas) - 1, 20).astype(int), np.arange(max(0, len(alphas) - 20), len(alphas))]
    points = []
    for alpha in alphas[np.unique(some)]:
        t = DecisionTreeClassifier(random_state=0, ccp_alpha=alpha).fit(x[train], y[train]).tree_
        rows = t.n_node_samples
        point = [rows[t.children_left >= 0].sum() / rows[0]]
        for part in parts[1:]:
            at = t.apply(x[part])
            counts = t.value[at][:, 0, :] * rows[at][:, None] + 1  # as Laplace
            point += figures(y[part], counts / counts.sum(1, keepdims=True))
        points.append(point)
    return max(points, key=lambda p: (p[1], -p[0])), min(points, key=lambda p: p[2])


def ydf_cart(df, y, parts):
    frame = df.assign(**{'class': [f'c{k:03d}' for k in y]})
    for c in frame:
        if not pd.api.types.is_numeric_dtype(frame[c]):
            frame[c] = frame[c].astype(object).where(frame[c].notna(), '').astype(str)
    ydf.verbose(0)
    train, validation, test = (frame.iloc[part] for part in parts)
    model = ydf.CartLearner(label='class').train(train, valid=validation)
    order = [model.label_classes().index(f'c{k:03d}') for k in range(y.max() + 1)]
    depths = []

    def walk(node, depth):
        if node.is_leaf:
            depths.append(depth)
            return
        walk(node.neg_child, depth + 1)
        walk(node.pos_child, depth + 1)

    walk(model.get_tree(0).root, 0)
    point = [np.array(depths)[model.predict_leaves(train)[:, 0]].mean(), 0, 0]
    point += figures(y[parts[2]], model.predict(test)[:, order])
    return point, point


def frontier(espalier, df, parts, flags):
    with tempfile.TemporaryDirectory() as work:
        sets.write(df, *parts, work)
        espalier.run(
            'train', '--input', work + '/a.parquet', '--label', 'class', '--split', 'part_', '--output', work + '/run',
            '--certificate', 'none', '--report', 'none', '--progress', 'none', '--repeat_cost', 'full', *flags,
        )  # fmt: skip
        return load(work, 'run', 'frontier.json')['points']


def against(points, rivals):
    """Accuracy and log loss of the listed trees within the tests of the rivals' trees, less the rivals'."""
    by_accuracy, by_loss = rivals
    within = lambda rival: [p for p in points if p['expected_tests'] <= rival[0] * (1 + 1e-9)]
    best = max(within(by_accuracy), key=lambda p: (p['merits']['accuracy'], -p['expected_tests']))
    least = min(within(by_loss), key=lambda p: (p['merits']['log_loss'], p['expected_tests']))
    return best['test']['accuracy'] - by_accuracy[3], least['test']['log_loss'] - by_loss[4]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('folder')
    ap.add_argument('--sets', type=lambda s: s.split(','), default=[])
    ap.add_argument('--splits', type=int, default=3)
    ap.add_argument('--espalier')
    options, flags = ap.parse_known_args()
    files = {os.path.basename(f)[:-4]: f for f in sorted(glob.glob(options.folder + '/*.csv'))}
    rows = []
    print('| set | classes | accuracy, CART | log loss, CART | accuracy, YDF | log loss, YDF |\n|' + ' --- |' * 6)
    with Espalier(options.espalier) as espalier:
        for name in options.sets or files:
            df, y = read(files[name])
            found = []
            for seed in sets.SEEDS[: options.splits]:
                parts = sets.split(y, seed)
                points = frontier(espalier, df, parts, [f for f in flags if f != '--'])
                found.append([d for rivals in (cart, ydf_cart) for d in against(points, rivals(df, y, parts))])
            rows.append(np.mean(found, 0))
            error = np.std(found, 0, ddof=1) / len(found) ** 0.5 if len(found) > 1 else np.zeros(4)
            cells = [f'{m:+.4f} ({e:.4f})' for m, e in zip(rows[-1], error)]
            print(f'| {name} | {y.max() + 1} | ' + ' | '.join(cells) + ' |', flush=True)
    print('| mean | | ' + ' | '.join(f'{m:+.4f}' for m in np.mean(rows, 0)) + ' |')


main()

#!/usr/bin/env python3
"""What single trees of several libraries make of categories: AUC within a number of features that are bought.

    bench/categories.py [FOLDER] [--program NAME='BINARY FLAGS' ..] [--sets NAME,..] [--splits 3]
                        [--rows 71500] [--csv FILE]

FOLDER, bench/data by default, has a MANIFEST.tsv and the files of a set as NAME/*.parquet or NAME.parquet. Larger
sets are sampled down to --rows. A set is split into 70/10/20 by each seed, the same for all methods. A feature is
bought for a row at the first test that asks for it; further tests are free. The methods:

- Espalier: the frontiers of the presets default and accurate with --repeat_cost free, by each program with its
  flags (without --program, by the program of this checkout); predict scores their trees;
- YDF: CartLearner, over a grid of sizes, with its usual dictionary and with one of all values;
- LightGBM: one round at full step, over a grid of sizes, least rows, cat_smooth and max_bin;
- CatBoost: one symmetric tree, over a grid of depths, with and without combinations of categories.

Within 1, 2, 4 and 8 bought features (the average over training rows), and within any, a method answers with its tree
that is best on validation rows. The table has the average AUC of these trees on test rows, and how much higher it is
than with the last program's presets, with the standard error of the difference over the splits.
"""

import glob, itertools, os, shlex, sys, tempfile, types

sys.dont_write_bytecode = True
from needs import need

need('categories')

import catboost
import numpy as np, pandas as pd
import pyarrow.dataset as ds, pyarrow.parquet as pq
import ydf
from sklearn.metrics import roc_auc_score

import datasets, rivals
from bought import Boosting, Model, within
from protocol import Espalier, arguments, load, save, table

presets, budgets = ('default', 'accurate'), (1, 2, 4, 8, np.inf)
leaf_counts, leaf_rows = (2, 3, 4, 6, 8, 16, 32, 64, 128), (5, 20, 100)


def area(split, part, p):
    return roc_auc_score(split.labels(part), p[:, 1] if p.shape[1:] == (2,) else p, multi_class='ovr')


def of_espalier(command, preset, data, split):
    """The trees of the frontier; predict has scored those that answer the budgets."""
    binary, *flags = shlex.split(command) or [None]
    with Espalier(binary) as espalier:
        rows, out = rivals.write_parts(split, espalier.work), os.path.join(espalier.work, 'scored')
        own = '--split_column part --repeat_cost free --frontier_step 0 --report none --certificate none'
        run = espalier.train(data, [rows], '--preset', preset, *own.split(), *flags)
        points = {p['tree']: p for p in load(run, 'frontier.json')['points']}
        offered = [Model(p['expected_cost'], p['merit'], np.nan, tree) for tree, p in points.items()]
        for answer in {m.name: m for m in (within(offered, b) for b in budgets)}.values():
            p, test = points[answer.name], os.path.join(espalier.work, 'test.parquet')
            espalier.run('predict', os.path.join(run, p['tree']), '--input', test, '--output', out, '--overwrite')
            scored = ds.dataset(glob.glob(out + '/*.parquet')).to_table().to_pandas()
            answer.test = area(split, 'test', scored[['probability_' + c for c in split.classes]].to_numpy())
            answer.name, answer.tests = f"{p['leaves']} leaves, {p['algorithm']['tests']}", p['expected_tests']
        return offered


def by_part(split, kind):
    """The rows of each part: numbers, codes of categories as int or str, and the class."""
    numbers = {c: split.frame[c].to_numpy(float, na_value=np.nan) for c in split.frame if c not in split.codes}
    rows = pd.DataFrame(numbers | {c: codes.astype(kind) for c, codes in split.codes.items()} | {'class': split.y})
    return {part: rows.iloc[split.rows[part]] for part in rivals.parts}


def bought_by_leaf(node, path=frozenset()):
    if not hasattr(node, 'condition'):
        return [len(path)]
    path |= {node.condition.attribute}
    return bought_by_leaf(node.neg_child, path) + bought_by_leaf(node.pos_child, path)


def of_ydf(split):
    rows = by_part(split, str)
    for every in {}, dict(min_vocab_frequency=1, max_vocab_count=-1):
        features = [ydf.Feature(c) for c in split.frame if c not in split.codes]
        features += [ydf.Feature(c, ydf.Semantic.CATEGORICAL, **every) for c in split.categorical]
        for leaves, least in itertools.product(leaf_counts, leaf_rows):
            size = dict(growing_strategy='BEST_FIRST_GLOBAL', max_num_nodes=leaves, max_depth=-1, min_examples=least)
            learner = ydf.CartLearner(label='class', features=features, **size)
            tree = learner.train(rows['train'], valid=rows['validation'], verbose=0)
            found = np.array(bought_by_leaf(tree.get_tree(0).root))
            bought = float(found[tree.predict_leaves(rows['train'])[:, 0]].mean())
            areas = (area(split, p, tree.predict(rows[p])) for p in rivals.parts[1:])
            yield Model(bought, *areas, f'{len(found)} leaves of {least} {every}')


def of_lightgbm(split):
    for bins in 255, 20000:
        boosting = Boosting(split, max_bin=bins)
        for leaves, least, smooth in itertools.product(leaf_counts, leaf_rows, (1, 10, 100)):
            size = dict(num_leaves=leaves, min_data_in_leaf=least, min_sum_hessian_in_leaf=0.0, cat_smooth=smooth)
            yield boosting.point(1, f'{size}, {bins} bins', learning_rate=1.0, max_bin=bins, **size)


def of_catboost(split):
    pools = {p: catboost.Pool(r, r.pop('class'), split.categorical) for p, r in by_part(split, int).items()}
    own = dict(iterations=1, learning_rate=1, random_strength=0, bootstrap_type='No', verbose=0)
    for depth, together, strength in itertools.product(range(1, 11), (1, 4), (1, 10)):
        size = dict(depth=depth, max_ctr_complexity=together, l2_leaf_reg=strength)
        tree = catboost.CatBoostClassifier(allow_writing_files=False, **own, **size).fit(pools['train'])
        bought = float((tree.get_feature_importance() > 0).sum())
        yield Model(bought, *(area(split, p, tree.predict_proba(pools[p])) for p in rivals.parts[1:]), str(size))


def report(rows, last):
    lines, found = [], {}
    for r in rows:
        found.setdefault((r['set'], r['within'], r['method']), []).append(r['test'])
    for key, areas in sorted(found.items()):
        lines.append([key[0], f'{key[1]:g}', key[2], f'{np.mean(areas):.4f}'])
        for preset in presets:
            d = np.subtract(areas, found[*key[:2], f'{last}, {preset}'])
            lines[-1].append(f'{d.mean():+.4f} ± {d.std(ddof=1) / len(d) ** 0.5:.4f}')
    table(['set', 'bought', 'method', 'AUC', f'to {last}, default', f'to {last}, accurate'], lines)


def main():
    ap = arguments(__doc__)
    ap.add_argument('folder', nargs='?', default=datasets.folder)
    ap.add_argument('--program', action='append')
    ap.add_argument('--rows', type=int, default=71500)
    options = ap.parse_args()
    programs, manifest = dict(p.split('=', 1) for p in options.program or ['now=']), datasets.manifest(options.folder)
    rows = []
    for name, seed in itertools.product(options.sets or manifest, range(1, options.splits + 1)):
        with tempfile.TemporaryDirectory() as work:
            stem, file = os.path.join(options.folder, name), os.path.join(work, 'rows.parquet')
            whole = ds.dataset(sorted(glob.glob(stem + '/*.parquet') + glob.glob(stem + '.parquet'))).to_table()
            pq.write_table(whole.take(np.random.default_rng(0).permutation(whole.num_rows)[: options.rows]), file)
            data = types.SimpleNamespace(categorical=manifest[name]['categorical'], files=[file])
            split = rivals.Split(data, seed)
            methods = {'YDF': (of_ydf, split), 'LightGBM': (of_lightgbm, split), 'CatBoost': (of_catboost, split)}
            for program, preset in itertools.product(programs, presets):
                methods[f'{program}, {preset}'] = of_espalier, programs[program], preset, data, split
            for method, (make, *given) in methods.items():
                models = list(make(*given))
                for b in budgets:
                    rows.append(dict(set=name, split=seed, method=method, within=b) | vars(within(models, b)))
                save(options.csv, rows)
    report(rows, [*programs][-1])


main()

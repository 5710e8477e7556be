#!/usr/bin/env python3
"""Test AUC at a number of tests a row, beside 100 rounds of LightGBM that ask what they like.

    bench/at_tests.py SETS BINARY NAME... [--tests 1,2,3,4,6,8,10] [--without_lightgbm]
                      [-- flags of espalier]

Each set is split three times by sets.py in the folder SETS, which also reads it. For each
number of tests, frontier.json answers with its tree of the highest merit that asks no more
in the mean. Figures are means over the splits. Needs what soft_labels.py needs.
"""

import argparse, json, shutil, subprocess, sys, tempfile, time, warnings

warnings.filterwarnings('ignore')
import numpy as np

flags = []
if '--' in sys.argv:
    at = sys.argv.index('--')
    sys.argv, flags = sys.argv[:at], sys.argv[at + 1 :]
ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument('sets')
ap.add_argument('binary')
ap.add_argument('names', nargs='+')
ap.add_argument('--tests', type=lambda s: [float(t) for t in s.split(',')], default=[1, 2, 3, 4, 6, 8, 10])
ap.add_argument('--without_lightgbm', action='store_true')
a = ap.parse_args()
sys.path.insert(0, a.sets)
from sets import SEEDS, auc, load, split, write


def points(folder):
    """Merit, expected tests and test AUC of the trees of the frontier."""
    out = folder + '/run'
    run = [a.binary, 'train', '--input', folder + '/a.parquet', '--label', 'class', '--split', 'part_', '--output', out,
           '--certificate', 'none', *flags]  # fmt: skip
    done = subprocess.run(run, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-1000:])
    with open(out + '/frontier.json') as f:
        return [(q['merit'], q['expected_tests'], q['test']['auc']) for q in json.load(f)['points']]


def query(rows, tests):
    within = [r for r in rows if r[1] <= tests + 1e-9]
    return max(within)[2] if within else 0.5


def boosted(x, y, k, categorical, tr, te):
    import lightgbm as lgb

    p = dict(objective='multiclass' if k > 2 else 'binary', verbose=-1, num_threads=2, **(dict(num_class=k) if k > 2 else {}))
    m = lgb.train(p, lgb.Dataset(x[tr], y[tr], categorical_feature=categorical, params=dict(verbose=-1)), 100)
    q = m.predict(x[te])
    return auc(y[te], q if k > 2 else np.c_[1 - q, q], k)


for name in a.names:
    df, y, k, cats = load(name)
    x = df.drop(columns='class').copy()
    for c in cats:
        x[c] = x[c].astype('category').cat.codes.replace(-1, np.nan)
    categorical, x = [x.columns.get_loc(c) for c in cats], x.to_numpy('float64')
    found, ensemble, seconds = [], [], 0.0
    for seed in SEEDS:
        tr, va, te = split(y, seed)
        folder = tempfile.mkdtemp()
        write(df, tr, va, te, folder)
        began = time.time()
        frontier = points(folder)
        seconds += time.time() - began
        found.append([query(frontier, t) for t in a.tests])
        shutil.rmtree(folder)
        if not a.without_lightgbm:
            ensemble.append(boosted(x, y, k, categorical, tr, te))
    line = ' | '.join(f'{t:g}: {v:.4f}' for t, v in zip(a.tests, np.mean(found, 0)))
    print(f'{name:16s} {line}' + (f' | LightGBM {np.mean(ensemble):.4f}' if ensemble else '') + f' | {seconds:.1f} s', flush=True)

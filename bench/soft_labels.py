#!/usr/bin/env python3
"""Test AUC at a number of tests, without and with soft labels of LightGBM: its probabilities for training rows that it
has not seen (5 folds). The tree is chosen on validation rows; figures are means over three splits. SETS is the folder of
sets.py, which reads and splits the sets.
usage: soft_labels.py SETS BINARY NAME... [--tests 6] [--teacher_weight 0.5] [-- flags of espalier]"""
import argparse, json, shutil, subprocess, sys, tempfile, warnings
warnings.filterwarnings('ignore')
import lightgbm as lgb, numpy as np
from sklearn.model_selection import StratifiedKFold

flags = []
if '--' in sys.argv:
    at = sys.argv.index('--')
    sys.argv, flags = sys.argv[:at], sys.argv[at + 1:]
arguments = argparse.ArgumentParser(description=__doc__)
arguments.add_argument('sets'); arguments.add_argument('binary'); arguments.add_argument('names', nargs='+')
arguments.add_argument('--tests', default='2,4,6'); arguments.add_argument('--teacher_weight', default='0.5,1')
a = arguments.parse_args()
sys.path.insert(0, a.sets)
from sets import SEEDS, load, split, write

TESTS, WEIGHTS = [float(t) for t in a.tests.split(',')], a.teacher_weight.split(',')


def out_of_fold(X, y, k, cats):
    """probabilities of each row by a model of the other folds"""
    p = dict(objective='multiclass' if k > 2 else 'binary', num_leaves=31, learning_rate=.1, verbose=-1, num_threads=2,
             deterministic=True, **(dict(num_class=k) if k > 2 else {}))
    out = np.empty((len(y), k))
    for rest, held in StratifiedKFold(5, shuffle=True, random_state=1).split(X, y):
        m = lgb.train(p, lgb.Dataset(X[rest], y[rest], categorical_feature=cats, params=dict(verbose=-1)), 100)
        q = m.predict(X[held])
        out[held] = q if k > 2 else np.c_[1 - q, q]
    return out / out.sum(1, keepdims=True)


def points(folder, more):
    """validation merit, expected cost and test AUC of the trees of the frontier"""
    run = [a.binary, 'train', '--input', folder + '/a.parquet', '--label', 'class', '--split', 'part_',
           '--output', folder + '/run', '--overwrite', '--frontier_step', '0', '--certificate', 'none']
    r = subprocess.run(run + more + flags, capture_output=True, text=True)
    if r.returncode:
        sys.exit(r.stderr[-1000:])
    with open(folder + '/run/frontier.json') as f:
        return [(q['merit'], q['expected_cost'], q['test']['auc']) for q in json.load(f)['points']]


def query(rows, tests):
    within = [r for r in rows if r[1] <= tests + 1e-9]
    return max(within)[2] if within else .5


print(f'{"":16s} tests: AUC of the label alone, and with teacher weights ' + ', '.join(WEIGHTS))
for name in a.names:
    df, y, k, cats = load(name)
    X = df.drop(columns='class').copy()
    classes = list(df['class'].astype('category').cat.categories)
    for c in cats:
        X[c] = X[c].astype('category').cat.codes.replace(-1, np.nan)
    columns = [X.columns.get_loc(c) for c in cats]
    X = X.to_numpy('float64')
    seen = {t: [] for t in TESTS}
    for seed in SEEDS:
        tr, va, te = split(y, seed)
        p = np.full((len(y), k), np.nan)  # other rows need none
        p[tr] = out_of_fold(X[tr], y[tr], k, columns)
        d = tempfile.mkdtemp()
        names = ['teacher_' + c for c in classes]
        write(df.assign(**{n: p[:, i] for i, n in enumerate(names)}), tr, va, te, d)
        runs = [points(d, ['--ignore', ','.join(names)])]
        runs += [points(d, ['--label_probabilities', 'teacher_*', '--teacher_weight', w]) for w in WEIGHTS]
        shutil.rmtree(d)
        for t in TESTS:
            seen[t].append([query(r, t) for r in runs])
    print(f'{name:16s} ' + ' | '.join(
        f'{t:g}: ' + ' '.join(f'{x:.4f}' for x in np.mean(seen[t], 0)) for t in TESTS), flush=True)

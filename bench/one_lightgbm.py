#!/usr/bin/env python3
"""Trains one LightGBM tree on a folder of Parquet files, as a whole process.

    bench/one_lightgbm.py FOLDER

This is the other side of speed.py: read with pyarrow, one round at full step, 255
leaves, 63 bins, as many threads as processors, the AUC on a fifth of the rows (one
class against the rest, the mean of the classes). Prints one line of JSON.
"""

import glob, json, os, sys

sys.dont_write_bytecode = True
from needs import need

need('speed')

import lightgbm as lgb
import numpy as np
import pyarrow as pa, pyarrow.parquet as pq
from sklearn.metrics import roc_auc_score

threads = os.cpu_count()


def read(folder):
    """The features as one matrix, categories as codes, and the classes as codes."""
    frame = pa.concat_tables(pq.read_table(f) for f in sorted(glob.glob(folder + '/*.parquet'))).to_pandas()
    y = frame.pop('class').astype(str).astype('category').cat.codes.to_numpy()
    for c in frame:
        if frame[c].dtype == object or str(frame[c].dtype).startswith(('str', 'cat', 'bool')):
            frame[c] = frame[c].astype('category').cat.codes.astype('int32')
    return frame.to_numpy('float32'), y


def fit(x, y, classes):
    params = dict(num_leaves=255, learning_rate=1.0, max_bin=63, verbose=-1, num_threads=threads)
    params |= dict(objective='multiclass', num_class=classes) if classes > 2 else dict(objective='binary')
    return lgb.train(params, lgb.Dataset(x, y, params=dict(max_bin=63, verbose=-1)), num_boost_round=1)


def main():
    x, y = read(sys.argv[1])
    classes = int(y.max()) + 1
    u = np.random.default_rng(1).random(len(y))
    train, test = u < 0.7, u >= 0.8
    p = fit(x[train], y[train], classes).predict(x[test])
    if classes == 2:
        auc = roc_auc_score(y[test], p)
    else:
        auc = np.mean([roc_auc_score(y[test] == c, p[:, c]) for c in range(classes) if (y[test] == c).any()])
    print(json.dumps({'auc': float(auc)}))


main()

"""The common part of auc_at_tests.py and soft_labels.py: their arguments, the splits of a data
set, the frontier of a run on a split, and LightGBM.

Each set is split three times (70/10/20) by sets.py, which also reads it. The
points of a frontier have the tests that they ask in the mean as their cost, see protocol.py.
"""

import argparse, dataclasses, os, shutil, sys, warnings

import lightgbm as lgb
import numpy as np

import sets
from protocol import Point, load

warnings.filterwarnings('ignore')
names = (
    'iris,breast-w,ilpd,tic-tac-toe,phoneme,spambase,firewall,electricity,bank-marketing,speed-dating,musk,'
    'bioresponse,dota2,covertype'
)
margin = 1e-9  # a mean number of tests has rounding errors


def numbers(text):
    return [float(t) for t in text.split(',')]


def arguments(doc, tests):
    """The parser of the common options."""
    ap = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--sets', type=lambda s: s.split(','), default=names.split(','))
    ap.add_argument('--espalier', help='a binary to use instead of building one')
    ap.add_argument('--tests', type=numbers, default=numbers(tests))
    return ap


def parse(ap):
    """The options, and the flags of espalier that follow a --."""
    own, flags = sys.argv[1:], []
    if '--' in own:
        at = own.index('--')
        own, flags = own[:at], own[at + 1 :]
    return ap.parse_args(own), flags


@dataclasses.dataclass
class Rows:
    table: object  # pandas
    x: object  # the features as numbers, categories as codes
    y: object  # class codes
    classes: int
    categorical: list  # columns of x

    def splits(self):
        """Yields the row numbers of the three parts, for each split."""
        for seed in sets.SEEDS:
            yield sets.split(self.y, seed)


def read(name):
    table, y, classes, categorical = sets.load(name)
    x = table.drop(columns='class').copy()
    for c in categorical:
        x[c] = x[c].astype('category').cat.codes.replace(-1, np.nan)
    return Rows(table, x.to_numpy('float64'), y, classes, [x.columns.get_loc(c) for c in categorical])


def frontier(espalier, table, parts, *flags, counted='expected_tests'):
    """The points of a run on a split, with what is counted of them."""
    out = os.path.join(espalier.work, 'run')
    shutil.rmtree(out, ignore_errors=True)
    sets.write(table, *parts, espalier.work)
    file = os.path.join(espalier.work, 'a.parquet')
    own = ['--input', file, '--label', 'class', '--split', 'part_', '--output', out, '--certificate', 'none']
    espalier.run('train', *own, *flags)
    found = load(out, 'frontier.json')['points']
    return [Point(p[counted], p['merit'], p['test']['auc'], p['tree']) for p in found]


def boosted(rows, fit, of):
    """Probabilities of some rows by 100 rounds of LightGBM that are fitted to others."""
    p = dict(objective='binary', verbose=-1, num_threads=2, deterministic=True)
    if rows.classes > 2:
        p |= dict(objective='multiclass', num_class=rows.classes)
    data = lgb.Dataset(rows.x[fit], rows.y[fit], categorical_feature=rows.categorical, params=dict(verbose=-1))
    q = lgb.train(p, data, 100).predict(rows.x[of])
    return q if rows.classes > 2 else np.c_[1 - q, q]

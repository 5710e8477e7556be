"""Data sets, split as comparisons here do: 70/10/20, stratified, seeds 42, 250 and 777."""

import numpy as np, pandas as pd, pyarrow as pa, pyarrow.parquet as pq
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import datasets

SEEDS = (42, 250, 777)


def load(name):
    """rows, class codes, number of classes, categorical columns"""
    listed = datasets.manifest()[name]['categorical'].split(',')
    df = pd.concat([pq.read_table(f).to_pandas() for f in datasets.files(name)], ignore_index=True)
    df = df[df['class'].notna()].reset_index(drop=True); df['class'] = df['class'].astype(str)
    numeric = [c for c in df.columns if pd.api.types.is_numeric_dtype(df[c]) and not pd.api.types.is_bool_dtype(df[c])]
    cats = [c for c in df.columns if c != 'class' and (c not in numeric or c in listed)]
    for c in cats:
        df[c] = df[c].astype('string')
    y = df['class'].astype('category').cat.codes.to_numpy()
    return df, y, int(y.max() + 1), cats


def split(y, seed):
    tr, te = train_test_split(np.arange(len(y)), test_size=.3, stratify=y, random_state=seed)
    va, te = train_test_split(te, test_size=2 / 3, stratify=y[te], random_state=seed)
    return tr, va, te


def write(df, tr, va, te, folder):
    """one Parquet file with a column part_ for --split"""
    part = np.empty(len(df), object); part[tr], part[va], part[te] = 'train', 'validation', 'test'
    pq.write_table(pa.Table.from_pandas(df.assign(part_=part), preserve_index=False), folder + '/a.parquet', row_group_size=65536)


def auc(y, P, k):
    return roc_auc_score(y, P[:, -1]) if k == 2 else roc_auc_score(np.eye(k)[y], P, average='macro')

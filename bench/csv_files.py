#!/usr/bin/env python3
"""Trains on CSV files of a folder, next to scikit-learn's pruned CART on the same rows.

    bench/csv_files.py FOLDER [--files 100] [--espalier BIN] [--json FILE]

Each file is imported. Its label is its column class, label, target, outcome or y, otherwise its last column of
texts, booleans or whole numbers, with 2 to 20 classes of 10 rows on average. Files of 100 rows and more that have one
are taken in the order of a hash of their names, so that no choice is made by hand. 70 % of the rows, by a hash of
their numbers, train; Espalier has no validation rows, and chooses by its folds. CART chooses its pruning by the area
under the ROC curve in 5 folds of the training rows; its texts of up to 20 values are one-hot, others are ordinals, and
it has the columns that Espalier has. The area on the test rows is the mean of each class against the rest. The script
prints the areas, the standard error of their difference (200 paired bootstraps), and the files where Espalier is more
than .03 and more than two standard errors lower; it ends with 1 if there are any.
"""

import argparse, glob, hashlib, json, os, re, subprocess, sys, tempfile

sys.dont_write_bytecode = True
from needs import need

need('csv_files')

import numpy as np, pandas as pd
import pyarrow as pa, pyarrow.parquet as pq
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from judging import root

names = 'class', 'label', 'target', 'outcome', 'y'
most, lower, errors = 40_000_000, 0.03, 2  # bytes of a file; what counts as lower


def number(text):
    """A number that only depends on a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], 'big')


def label_of(table):
    """The column that the rule of the script takes as the label, or None."""
    fit = []
    for name in table.column_names:
        kind, column = table.schema.field(name).type, table[name]
        if pa.types.is_string(kind) or pa.types.is_boolean(kind) or pa.types.is_integer(kind):
            classes, rows = len(column.drop_null().unique()), len(column) - column.null_count
            if 2 <= classes <= 20 and rows >= max(100, 10 * classes):
                fit.append(name)
    named = [n for n in fit if n.lower() in names]
    return (named or fit or [None])[-1] if len(table.column_names) > 1 else None


def matrix(frame, train):
    """The features as CART takes them."""
    columns = []
    for name in frame:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            columns.append(column.to_numpy(float, na_value=np.nan))
        elif pd.api.types.is_datetime64_any_dtype(column):
            columns.append(np.where(column.isna(), np.nan, column.astype('int64').astype(float)))
        else:
            texts = column.astype(object).where(column.notna(), '').astype(str)
            known = sorted(set(texts[train]))
            if len(known) <= 20:
                columns += [(texts == value).to_numpy(float) for value in known]
            else:
                columns.append(texts.map({t: i for i, t in enumerate(known)}).fillna(-1).to_numpy(float))
    return np.column_stack(columns).astype(np.float32)


def area(y, p):
    """The area under the ROC curve, the mean of each class that has rows against the rest."""
    areas = []
    for c in [1] if p.shape[1] == 2 else range(p.shape[1]):
        _, rank = np.unique(p[:, c], return_inverse=True)
        there, absent = np.bincount(rank, y == c), np.bincount(rank, y != c)
        if there.sum() and absent.sum():
            areas.append(there @ (np.cumsum(absent) - absent / 2) / there.sum() / absent.sum())
    return np.mean(areas) if areas else np.nan


def shares(tree, x, classes):
    """The probabilities of all classes, of which a tree knows those of its rows."""
    p = np.zeros((len(x), classes))
    p[:, tree.classes_] = tree.predict_proba(x)
    return p


def cart(x, y, classes):
    """The tree whose pruning has the largest area in 5 folds."""
    path = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(x, y).ccp_alphas
    alphas = np.unique(np.maximum(path[np.linspace(0, len(path) - 1, 25).astype(int)], 0))
    kind = StratifiedKFold if np.bincount(y).min() >= 5 else KFold
    found = np.zeros(len(alphas))
    for train, test in kind(5, shuffle=True, random_state=0).split(x, y):
        for i, alpha in enumerate(alphas):
            tree = DecisionTreeClassifier(random_state=0, ccp_alpha=alpha).fit(x[train], y[train])
            found[i] += np.nan_to_num(area(y[test], shares(tree, x[test], classes)), nan=0.5)
    return DecisionTreeClassifier(random_state=0, ccp_alpha=alphas[np.argmax(found)]).fit(x, y)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=1800)


def compare(binary, path, folder):
    """Both areas of a file and the error of their difference; None if the file has no label, or cannot be read."""
    out, name = os.path.join(folder, 'rows'), os.path.basename(path)
    done = run(binary, 'import', path, '--output', out, '--progress', 'none')
    if done.returncode:
        return None
    table = pa.concat_tables(pq.read_table(f) for f in sorted(glob.glob(out + '/part-*')))
    label = label_of(table)
    if label is None:
        return None
    table = table.filter(pa.compute.is_valid(table[label]))
    train = np.array([number(f'{name} {i}') % 10 < 7 for i in range(len(table))])
    part = '_part'
    rows = os.path.join(folder, 'rows.parquet')
    pq.write_table(table.append_column(part, pa.array(np.where(train, 'train', 'test'))), rows)
    model, scored = os.path.join(folder, 'run'), os.path.join(folder, 'scored')
    done = run(binary, 'train', '--input', rows, '--label', label, '--split_column', part, '--output', model,
               '--report', 'none', '--certificate', 'none', '--progress', 'none')
    result = {'file': os.path.basename(os.path.dirname(path)) + '/' + name, 'label': label, 'rows': len(table)}
    if done.returncode:
        return result | {'fault': done.stderr.strip()[-300:]}
    said = [line for line in done.stderr.splitlines() if line.startswith('warning: ')]
    done = run(binary, 'predict', model, '--input', rows, '--output', scored, '--keep', 'key', '--progress', 'none')
    if done.returncode:
        return result | {'fault': done.stderr.strip()[-300:]}
    with open(model + '/tree.json') as f:
        document = json.load(f)
    classes = document['label']['classes']
    texts = [str(v).lower() if isinstance(v, bool) else str(v) for v in table[label].to_pylist()]
    y = np.array([classes.index(t) if t in classes else -1 for t in texts])
    kept, test = train & (y >= 0), ~train & (y >= 0)
    predicted = pq.read_table(glob.glob(scored + '/*.parquet')[0])
    ours = np.column_stack([predicted['probability_' + c].to_numpy() for c in classes])[test]
    left_out = {json.loads(n) for line in said if 'left out' in line for n in re.findall(r'"(?:[^"\\]|\\.)*"', line)}
    frame = table.drop_columns([label, *(left_out & set(table.column_names) - {label})]).to_pandas()
    if not len(frame.columns) or len(set(y[test])) < 2:
        return None
    x = matrix(frame, kept)
    tree = cart(x[kept], y[kept], len(classes))
    theirs, y = shares(tree, x[test], len(classes)), y[test]
    draws = np.random.default_rng(0).integers(0, len(y), (200, len(y)))
    differences = [area(y[d], ours[d]) - area(y[d], theirs[d]) for d in draws]
    return result | {
        'classes': len(classes), 'espalier': area(y, ours), 'cart': area(y, theirs), 'error': float(np.nanstd(differences)),
        'leaves': document['complexity']['leaves'], 'cart leaves': int(tree.get_n_leaves()), 'said': said,
    }


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('folder')
    ap.add_argument('--files', type=int, default=100)
    ap.add_argument('--espalier', help='a binary to use instead of building one')
    ap.add_argument('--json', help='a file for all figures')
    options = ap.parse_args()
    files = sorted(glob.glob(glob.escape(options.folder) + '/**/*.csv', recursive=True), key=lambda f: number(os.path.relpath(f, options.folder)))
    found, low = [], []
    with tempfile.TemporaryDirectory() as folder:
        binary = options.espalier or os.path.join(folder, 'espalier')
        if not options.espalier:
            subprocess.run(['go', 'build', '-o', binary, './cmd/espalier'], cwd=root, check=True)
        for path in (f for f in files if os.path.getsize(f) <= most):
            with tempfile.TemporaryDirectory() as below:
                r = compare(binary, path, below)
            if r is None:
                continue
            found.append(r)
            if 'fault' in r:
                print(f'{r["file"]}: {r["fault"]}', flush=True)
            else:
                less = r['cart'] - r['espalier']
                if less > max(lower, errors * r['error']):
                    low.append(r['file'])
                print(f'{r["espalier"]:.3f} CART {r["cart"]:.3f} +- {r["error"]:.3f} {r["file"]} {r["label"]!r}: {r["rows"]} rows, '
                      f'{r["classes"]} classes, {r["leaves"]} and {r["cart leaves"]} leaves{" LOWER" * (r["file"] in low[-1:])}', flush=True)
            if len(found) == options.files:
                break
    measured = [r for r in found if 'fault' not in r]
    if options.json:
        with open(options.json, 'w') as f:
            json.dump(found, f, indent=1)
    print(f'{len(found)} files: {len(measured)} measured, mean area {np.mean([r["espalier"] for r in measured]):.4f}, CART '
          f'{np.mean([r["cart"] for r in measured]):.4f}; lower: {low}')
    sys.exit(bool(low))


if __name__ == '__main__':
    main()

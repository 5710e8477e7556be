#!/usr/bin/env python3
"""Judges `espalier drift` by scipy, from the Parquet files alone.

    bench/check_drift.py [--sets NAME,..] [--espalier BIN]

The script trains a tree on a half of each of these sets of bench/data (iris, credit-g, phoneme
and bank-marketing, if none is named), and measures the drift of the other half, and of its first
tenth in the order of the first numeric column. It counts the rows by bin of schema.json itself, with
pyarrow and numpy, and computes PSI by scipy.special.rel_entr, the Kolmogorov-Smirnov statistic,
the Jensen-Shannon distance by scipy.spatial.distance, and the chi-square test by
scipy.stats.chi2_contingency. All must be what `drift --format json` says, to 1e-8. It fails if
anything differs. It needs Python, and Go unless --espalier names a binary; it installs by pip what
is missing of numpy, pyarrow and scipy.
"""

import json, os, subprocess, sys, tempfile

sys.dont_write_bytecode = True
from needs import need

need('check_drift')

import numpy as np
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
from scipy.spatial.distance import jensenshannon
from scipy.special import rel_entr
from scipy.stats import chi2_contingency

import datasets
from judging import root

same = 1e-8  # greatest relative difference
least = 5  # rows that the test expects in a bin


def spelled(x):
    """Spells a category as Espalier does."""
    if isinstance(x, bool):
        return 'true' if x else 'false'
    if isinstance(x, str):
        return x
    return str(int(x)) if float(x).is_integer() else repr(float(x))


def bins_of(column, values):
    """Counts the values of a column by the bins of schema.json."""
    if column['type'] == 'numeric':
        numbers = np.array([np.nan if v is None else float(v) for v in values])
        missing = np.isnan(numbers)
        at = np.searchsorted(column['cuts'], numbers[~missing], side='right')
        return [*np.bincount(at, minlength=len(column['cuts']) + 1), missing.sum()]
    codes = {v: i for i, v in enumerate(column['values'])}
    counts = [0] * (len(codes) + 2)
    for v in values:
        counts[len(codes) + 1 if v is None or v != v else codes.get(spelled(v), len(codes))] += 1
    return counts


def pooled(before, now):
    """Puts bins together in which one side expects too few rows."""
    small, rows = min(before.sum(), now.sum()), before.sum() + now.sum()
    rare = (before + now) * small < least * rows
    b, n = list(before[~rare]), list(now[~rare])
    rest = before[rare].sum(), now[rare].sum()
    if sum(rest) == 0:
        return b, n
    if sum(rest) * small >= least * rows or not b:
        return b + [rest[0]], n + [rest[1]]
    at = int(np.argmin(np.array(b) + np.array(n)))
    b[at], n[at] = b[at] + rest[0], n[at] + rest[1]
    return b, n


def measured(before, now):
    """Computes the figures of one column by scipy."""
    before, now = np.array(before, float), np.array(now, float)
    has = before + now > 0
    half = has.sum() / 2
    p, q = (before[has] + 0.5) / (before.sum() + half), (now[has] + 0.5) / (now.sum() + half)
    found = {
        'psi': (rel_entr(p, q) + rel_entr(q, p)).sum(),
        'kolmogorov_smirnov': np.abs(np.cumsum(before) / before.sum() - np.cumsum(now) / now.sum()).max(),
        'jensen_shannon': jensenshannon(before, now, base=2),
        'chi_square': 0, 'freedom': 0, 'p': 1,
    }
    b, n = pooled(before, now)
    if len(b) > 1:
        test = chi2_contingency([b, n], correction=False)
        found.update(chi_square=test.statistic, freedom=test.dof, p=test.pvalue)
    return found


def check(binary, run, table, work):
    """Compares drift's figures of a table with those of scipy; returns the number of figures."""
    file = os.path.join(work, 'now.parquet')
    pq.write_table(table, file)
    said = json.loads(
        subprocess.check_output([binary, 'drift', '--model', run, '--input', file, '--format', 'json', '--progress', 'none'])
    )
    with open(os.path.join(run, 'schema.json')) as f:
        columns = {c['name']: c for c in json.load(f)['columns'] if 'type' in c}
    figures = 0
    for one in [*said['columns'], said['leaves']]:
        if one['kind'] != 'leaves':
            counts = [int(n) for n in bins_of(columns[one['column']], table[one['column']].to_pylist())]
            if counts != one['now']:
                sys.exit(f'{run}, {one["column"]}: rows by bin {one["now"]}, want {counts}')
        for name, want in measured(one['before'], one['now']).items():
            got = one[name]
            if name == 'kolmogorov_smirnov' and one['kind'] != 'numeric':
                if got is not None:
                    sys.exit(f'{run}, {one["column"]}: {name} {got}, want null')
                continue
            if abs(got - want) > same * abs(want) + 1e-300:
                sys.exit(f'{run}, {one["column"]}: {name} {got!r}, want {want!r}')
            figures += 1
    return figures


def main():
    args = dict(zip(sys.argv[1::2], sys.argv[2::2]))
    if set(args) - {'--sets', '--espalier'} or len(sys.argv) % 2 == 0:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as work:
        binary = args.get('--espalier')
        if not binary:
            binary = os.path.join(work, 'espalier')
            subprocess.check_call(['go', 'build', '-o', binary, './cmd/espalier'], cwd=root)
        labels = {name: row['label'] for name, row in datasets.manifest().items()}
        for name in args.get('--sets', 'iris,credit-g,phoneme,bank-marketing').split(','):
            files = datasets.files(name)
            table = pa.concat_tables([pq.read_table(f) for f in files], promote_options='default')
            table = table.take(np.random.default_rng(1).permutation(table.num_rows))
            before, now = table.slice(0, table.num_rows // 2), table.slice(table.num_rows // 2)
            file, run = os.path.join(work, name + '.parquet'), os.path.join(work, name)
            pq.write_table(before, file)
            subprocess.check_output(
                [binary, 'train', '--input', file, '--label', labels[name], '--output', run, '--progress', 'none',
                 '--bins', '16']
            )
            first = next(c.name for c in table.schema if pa.types.is_floating(c.type) or pa.types.is_integer(c.type))
            moved = now.take(pc.sort_indices(now, sort_keys=[(first, 'ascending')])).slice(0, now.num_rows // 10)
            print(f'{name}: {check(binary, run, now, work) + check(binary, run, moved, work)} figures as by scipy')


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""Judges `espalier drift` by scipy, from the Parquet files alone, and by days of equal distributions.

    bench/check_drift.py [--sets NAME,..] [--espalier BIN]
    bench/check_drift.py --runs N [--days N] [--seed N] [--espalier BIN]

The script trains a tree on a half of each of these sets of bench/data (iris, credit-g, phoneme
and bank-marketing, if none is named), and measures the drift of the other half, and of its first
tenth in the order of the first numeric column. It counts the rows by bin of schema.json itself, with
pyarrow and numpy, and merges the bins as docs/production.md says. It computes PSI by
scipy.special.rel_entr, and the test by scipy.stats.chi2_contingency and scipy.special.betainc. All must be what
`drift --json` says, to 1e-8. It fails if anything differs.

With --runs it trains on made-up columns of many kinds, of several sizes, and measures days (10 a run)
of the same distributions. It prints, for each kind, the share of the days on which the column alone would
give an alarm at the level .01, with any PSI, and the mean PSI; then the share of the days with any alarm
at --false_alarms .01, and how often shifts are found. It fails if a share is above .02 beyond chance (at
the level .001).

It needs Python, and Go unless --espalier names a binary; it installs by pip what is missing of numpy,
pyarrow and scipy.
"""

import json, os, subprocess, sys, tempfile

sys.dont_write_bytecode = True
from needs import need

need('check_drift')

import numpy as np
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
from scipy.special import betainc, rel_entr
from scipy.stats import binom, chi2, chi2_contingency

import datasets
from judging import root

same = 1e-8  # greatest relative difference
least = 10  # independent rows that either side expects in a bin
share = 0.1  # part of the level of a test for codes that are too rare for bins


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


def merge(before, now, ordered, other=None, missing=None, effect=1, keys=None):
    """Merges codes to bins by the counts before and the number of independent rows now. Returns the bin of each code
    (-1: too rare for a bin), the expected rows before by bin and of bin -1, and the design effects of the bins and of
    bin -1."""
    rows, n = np.array(before, float), sum(before)
    rare, spread, wide = np.zeros(len(rows), bool), 1, effect
    mass = 0
    if other is not None:
        seen = np.array(before if keys is None else keys)
        listed = np.array([i not in (other, missing) for i in range(len(rows))])
        r = max(1, min(seen[listed & (rows > 0)], default=1)) if rows[other] > 0 else 1
        rare = listed & (seen <= r)
        rare[other] = True
        once, twice = listed & (seen == r + 1), listed & (seen == r + 2)
        mass = rows[rare].sum() + rows[once].sum()
        more = (r + 1) * rows[twice].sum() / effect
        spread = 1 + more / (mass / effect + 1)
        if 0 < mass < n:
            wide = effect * (1 + more / (mass / effect * (1 - mass / n)))
        rows[once] = 0
    need = least * max(wide, n / now)
    end, alone = (max(need, n / 10), max(4 * need, n / 10)) if ordered else (need, 4 * need)
    of, expected, apart, waiting = np.full(len(rows), -1), [], 0, []

    def add(codes, k):
        nonlocal apart
        if k < need:
            apart += k
            return
        of[codes] = len(expected)
        expected.append(k)

    for i, k in enumerate(rows):
        if rare[i] or i == missing:
            continue
        if k >= alone:
            add([i], k)
            continue
        waiting.append(i)
        if rows[waiting].sum() >= end:
            add(waiting, rows[waiting].sum())
            waiting = []
    k = rows[waiting].sum()
    if other is None or k >= need:
        add(waiting, k)
    else:
        rare[waiting] = True
        mass += k
    if other is not None:
        if mass < need:
            wide = effect
        add(np.flatnonzero(rare), mass)
    need = least * max(wide, n / now)
    if missing is not None:
        add([missing], rows[missing])
    return of, np.array(expected), apart, wide, spread


def measured(before, now, ordered, other=None, missing=None, effects=(1, 1), keys=None):
    """Computes the figures of one column by scipy."""
    b, n = sum(before), sum(now)
    of, was, apart, wide, spread = merge(before, n / effects[1], ordered, other, missing, effects[0], keys)
    now = np.array(now, float)
    came, few = np.array([now[of == i].sum() for i in range(len(was))]), now[of == -1].sum()
    p, q = np.append(was, apart), np.append(came, few)
    has = p + q > 0
    half = has.sum() / 2
    x, y = (p[has] + 0.5) / (p.sum() + half), (q[has] + 0.5) / (q.sum() + half)
    chance = (len(p) - 1) * (wide / b + effects[1] / n)
    found = {
        'psi': max(0, (rel_entr(x, y) + rel_entr(y, x)).sum() - chance),
        'chi_square': 0, 'freedom': 0,
    }
    odds = spread * n / effects[1] / (b / effects[0])
    k = few / effects[1]
    found['p'] = betainc(k, (apart / effects[0] + 1) / spread, odds / (1 + odds)) if k > 0 else 1
    if len(was) > 1:
        table = np.array([was / wide, came / effects[1]])
        test = chi2_contingency(table, correction=False, lambda_='log-likelihood')
        both, total = table.sum(0), table.sum()
        williams = 1 + (total * (1 / table.sum(1)).sum() - 1) * (total * (1 / both).sum() - 1) / (6 * total * test.dof)
        g = test.statistic / williams
        found.update(chi_square=g, freedom=test.dof,
                     p=min(1, chi2.sf(g, test.dof) / (1 - share), found['p'] / share))
    return found


def check(binary, run, table, work):
    """Compares drift's figures of a table with those of scipy; returns the number of figures."""
    file = os.path.join(work, 'now.parquet')
    pq.write_table(table, file)
    said = json.loads(
        subprocess.check_output([binary, 'drift', '--model', run, '--input', file, '--json', '--progress', 'none'])
    )
    with open(os.path.join(run, 'schema.json')) as f:
        columns = {c['name']: c for c in json.load(f)['columns'] if 'type' in c}
    figures = 0
    for one in [*said['columns'], said['leaves']]:
        if one['kind'] != 'leaves':
            counts = [int(n) for n in bins_of(columns[one['column']], table[one['column']].to_pylist())]
            if counts != one['now']:
                sys.exit(f'{run}, {one["column"]}: rows by bin {one["now"]}, want {counts}')
        codes = len(one['now'])
        special = {'leaves': {}, 'numeric': {'missing': codes - 1}, 'categorical': {'other': codes - 2, 'missing': codes - 1}}
        for name, want in measured(one['before'], one['now'], one['kind'] == 'numeric', **special[one['kind']]).items():
            got = one[name]
            if abs(got - want) > same * abs(want) + 1e-300:
                sys.exit(f'{run}, {one["column"]}: {name} {got!r}, want {want!r}')
            figures += 1
    return figures


kinds = {
    'normal': lambda r, n: r.normal(size=n),
    'log-normal': lambda r, n: np.exp(2 * r.normal(size=n)),
    'integers': lambda r, n: r.poisson(3, n),
    'rounded': lambda r, n: r.normal(size=n).round(1),
    '80 % zeros': lambda r, n: np.where(r.random(n) < 0.8, 0, r.exponential(size=n)),
    '99 % zeros': lambda r, n: np.where(r.random(n) < 0.99, 0, r.exponential(size=n)),
    'dates': lambda r, n: np.datetime64('2026-01-01') + r.integers(0, 90, n),
    'missing 10 %': lambda r, n: pa.array(r.normal(size=n), mask=r.random(n) < 0.1),
    'missing 0.2 %': lambda r, n: pa.array(r.normal(size=n), mask=r.random(n) < 0.002),
    'booleans': lambda r, n: r.random(n) < 0.1,
    'rare boolean': lambda r, n: r.random(n) < 0.003,
    '6 categories': lambda r, n: names(r.choice(6, n, p=[0.4, 0.3, 0.1, 0.1, 0.07, 0.03])),
    'rare categories': lambda r, n: names(r.choice(10, n, p=[0.6, 0.38, *[0.0025] * 8])),
    '300 values': lambda r, n: names(r.integers(0, 300, n)),
    '5,000 values': lambda r, n: names(r.integers(0, 5000, n)),
    'Zipf': lambda r, n: names(np.minimum(r.zipf(1.5, n), 10**9)),
    'id': lambda r, n: names(r.integers(0, 2**40, n)),
    'constant': lambda r, n: np.full(n, 'one'),
}


def names(numbers):
    return np.char.add('v', numbers.astype(str))


def ungrouped(r, n):
    return {name: draw(r, n) for name, draw in kinds.items()}


def grouped(r, n, rows=10):
    """Rows of keys: values that all rows of a key share, that they share in part, and that they do not."""
    k = -(-n // rows)
    of = np.repeat(np.arange(k), rows)[:n]
    key = r.integers(0, 2**40, k)[of]
    own = r.normal(size=k)[of]
    noise = r.normal(size=n)
    return {
        'key': key, 'number of the key': own, 'half of the key': own + noise, 'number of the row': noise,
        'category of the key': names(r.choice(6, k, p=[0.4, 0.3, 0.1, 0.1, 0.07, 0.03]))[of],
        'category of the row': names(r.choice(6, n, p=[0.4, 0.3, 0.1, 0.1, 0.07, 0.03])),
        '300 values of keys': names(r.integers(0, 300, k))[of],
        'name of the key': names(r.integers(0, 2**40, k))[of],
        'Zipf of keys': names(np.minimum(r.zipf(1.5, k), 10**9))[of],
    }


def truth(binary, work, runs, days, seed):
    """Measures days of equal distributions, and days with a shift."""
    r = np.random.default_rng(seed)
    file, run, day = (os.path.join(work, name) for name in ('rows.parquet', 'run', 'day.parquet'))
    failed = False

    def measure(columns):
        pq.write_table(pa.table(columns), day)
        said = json.loads(subprocess.check_output([
            binary, 'drift', '--model', run, '--input', day, '--json', '--progress', 'none', '--least_psi', '0']))
        return [*said['columns'], *([said['leaves']] if said['leaves'] else [])]

    for title, draw, options, sizes in (
        ('rows', ungrouped, [], [(700, 500), (2000, 2000), (5000, 500)]),
        ('10 rows per key', grouped, ['--group', 'key'], [(2000, 1000), (5000, 5000)]),
    ):
        for train, size in sizes:
            alarms, psi, measured_days, any_alarm = {}, {}, 0, 0
            found = {'0.5 standard deviations': 0, 'a share from .1 to .2': 0}
            for _ in range(runs):
                columns = draw(r, int(train / 0.7))
                number = next(name for name in columns if name.startswith(('normal', 'number of the row')))
                category = next(name for name in columns if name.startswith(('6 cat', 'category of the row')))
                columns['label'] = np.where(columns[number] > r.normal(size=len(columns[number])), 'b', 'a')
                pq.write_table(pa.table(columns), file)
                subprocess.check_output([
                    binary, 'train', '--input', file, '--label', 'label', '--output', run, '--overwrite', '--select', 'first',
                    '--folds', '0', '--teacher', 'none', '--certificate', 'none', '--report', 'none', '--progress', 'none',
                    *options], stderr=subprocess.DEVNULL)
                for _ in range(days):
                    columns = measure(draw(r, size))
                    measured_days += 1
                    any_alarm += any(c['alarm'] for c in columns)
                    for c in columns:
                        alarms[c['column']] = alarms.get(c['column'], 0) + (c['p'] <= 0.01 and 'left_out' not in c)
                        psi[c['column']] = psi.get(c['column'], 0) + c['psi']
                columns = draw(r, size)
                columns[number] = columns[number] + 0.5
                third = r.random(size) < 0.1 / 0.9
                columns[category] = np.where(third, 'v2', columns[category])
                shifted = {c['column'] for c in measure(columns) if c['alarm'] and c['psi'] >= 0.05}
                for name, column in zip(found, (number, category)):
                    found[name] += column in shifted
            print(f'{title}: {train} training rows, days of {size} rows, {measured_days} days')
            limit = binom.ppf(0.999, measured_days, 0.02)
            for name, count in alarms.items():
                print(f'  {name:22}{count / measured_days:7.3f}  PSI {psi[name] / measured_days:.4f}')
                failed |= count > limit
            print(f'  {"any alarm":22}{any_alarm / measured_days:7.3f}')
            failed |= any_alarm > limit
            for name, count in found.items():
                print(f'  found: {name:25}{count / runs:7.3f}', flush=True)
    if failed:
        sys.exit('more alarms than .02 of the days')


def main():
    args = dict(zip(sys.argv[1::2], sys.argv[2::2]))
    if set(args) - {'--sets', '--espalier', '--runs', '--days', '--seed'} or len(sys.argv) % 2 == 0:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as work:
        binary = args.get('--espalier')
        if not binary:
            binary = os.path.join(work, 'espalier')
            subprocess.check_call(['go', 'build', '-o', binary, './cmd/espalier'], cwd=root)
        if '--runs' in args:
            truth(binary, work, int(args['--runs']), int(args.get('--days', 10)), int(args.get('--seed', 1)))
            return
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

#!/usr/bin/env python3
"""Holds the predictions of `espalier predict` against an independent routing of
tree.json, row by row, and its time against pyarrow's.

    bench/predict.py [--sets NAME,..] [--espalier BIN] [--runs 5]

For each data set of bench/data a tree is trained (by ec45 with tests for
single bins, random costs in groups for every second set, a quarter of the values
of every third column of the new rows replaced by nulls and by values that
training did not have), and rows are scored with --keep all. In every file the rows
stand in the order of the input, the input's columns are as they were, and
prediction, probabilities, leaf, tests and cost must be those of the leaf found by
this script from the conditions of tree.json.

On covertype the time from Parquet to Parquet is compared with pyarrow's time for
reading the tested columns and writing the columns of the predictions: the median
of RUNS pairs, one after the other. Fails if a row differs or the ratio is above 2.
Needs the data sets and Python; installs by pip what is missing of numpy and
pyarrow.
"""

import argparse, glob, os, sys, time

sys.dont_write_bytecode = True
from needs import need

need('predict')

import numpy as np
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq

from protocol import Espalier, data_sets, load, table


def spell(x):
    """A value as tree.json spells categories."""
    if isinstance(x, bool):
        return 'true' if x else 'false'
    if isinstance(x, float) and x == int(x) and abs(x) < 1e21:
        return str(int(x))
    return str(x)


class Column:
    """A column in the form for conditions."""

    def __init__(self, array, kind):
        self.null = np.array(array.is_null(nan_is_null=True))
        if kind == 'numeric':
            self.values = np.array(pc.cast(array, pa.float64()).fill_null(np.nan), dtype=float)
        else:
            self.values = np.array([None if x is None else spell(x) for x in array.to_pylist()], dtype=object)


def holds(when, column, listed):
    """The rows with a value that fulfil a condition, as a mask."""
    (first, value), *rest = when.items()
    v = column.values
    with np.errstate(invalid='ignore'):
        if first in ('in', 'not_in'):
            found = np.isin(v.astype(str), value) & ~column.null
            return found if first == 'in' else ~found
        if first in ('other', 'not_other'):
            found = ~np.isin(v.astype(str), listed) & ~column.null
            return found if first == 'other' else ~found
        if first in ('missing', 'not_missing'):
            return column.null if first == 'missing' else ~column.null
        bounds = dict(when)
        inside = np.ones(len(v), bool)
        for key, bound in bounds.items():
            inside &= v >= bound if key.endswith('ge') else v < bound
        return ~inside if first.startswith('not_') else inside


def route(tree, rows):
    """The node of the leaf of each row, and the tests and costs on its path."""
    features = {f['name']: f for f in tree['features']}
    asked = {n['test']['feature'] for n in tree['nodes'] if 'test' in n}
    columns = {name: Column(rows[name].combine_chunks(), features[name]['type']) for name in asked}
    n = rows.num_rows
    leaf, tests, cost = np.zeros(n, int), np.zeros(n, int), np.zeros(n)
    todo = [(0, np.arange(n), 0, 0.0)]
    while todo:
        node, ids, depth, paid = todo.pop()
        node = tree['nodes'][node]
        if 'test' not in node:
            leaf[ids], tests[ids], cost[ids] = node['id'], depth, paid
            continue
        test = node['test']
        c = columns[test['feature']]
        part = Column.__new__(Column)
        part.values, part.null = c.values[ids], c.null[ids]
        listed = features[test['feature']].get('values', [])
        known = ~part.null
        if 'values' in features[test['feature']]:
            known &= np.isin(part.values.astype(str), listed)
        taken = np.zeros(len(ids), bool)
        for b in node['branches']:
            go = known & holds(b['when'], part, listed)
            if b.get('missing'):
                go |= part.null
            if b.get('other'):
                go |= ~part.null & ~known
            assert not (taken & go).any(), (test, b)
            taken |= go
            todo.append((b['child'], ids[go], depth + 1, paid + test.get('billed', test['cost'])))
        assert taken.all(), test
    return leaf, tests, cost


def changed(rows, label, rng):
    """The rows with nulls and new values in every third column."""
    for i, name in enumerate(rows.column_names):
        if name == label or i % 3:
            continue
        values = rows[name].to_pylist()
        for r in rng.choice(len(values), min(len(values) // 4, 5000), replace=False):
            x = values[r]
            values[r] = (
                None
                if rng.random() < 0.5 or x is None or isinstance(x, bool)
                else x + '?'
                if isinstance(x, str)
                else type(x)(x * 3 + 1)
            )
        try:
            rows = rows.set_column(rows.column_names.index(name), name, pa.array(values, rows.schema.field(name).type))
        except (pa.ArrowInvalid, OverflowError):
            pass  # the type has no room for the new value
    return rows


def check(espalier, data, number):
    rng = np.random.default_rng(number)
    first = pq.read_schema(data.files[0])
    names = [n for n in first.names if n != 'class']
    flags = ['--select', 'first', '--certificate', 'none', '--tests', 'both']
    if number % 2:
        costs = os.path.join(espalier.work, 'costs.csv')
        with open(costs, 'w') as f:
            f.write('feature,cost,group,group_cost\n')
            for i, name in enumerate(names):
                quoted = '"' + name.replace('"', '""') + '"'
                f.write(f'{quoted},{rng.integers(1, 9)},{"lab" if i % 4 == 0 else ""},{7 if i % 4 == 0 else ""}\n')
        flags += ['--costs', costs]
    run = espalier.train(data, data.files, *flags)
    tree = load(run, 'tree.json')
    folder = os.path.join(espalier.work, 'new')
    os.makedirs(folder, exist_ok=True)
    for old in glob.glob(os.path.join(folder, '*')):
        os.remove(old)
    for file in data.files:
        pq.write_table(
            changed(pq.read_table(file), 'class', rng),
            os.path.join(folder, os.path.basename(file)),
            row_group_size=20_000,
        )
    out = os.path.join(espalier.work, 'scored')
    espalier.run(
        'predict',
        '--model',
        run,
        '--input',
        os.path.join(folder, '*.parquet'),
        '--output',
        out,
        '--keep',
        'all',
        '--overwrite',
        '--progress',
        'none',
    )
    total = 0
    for file in sorted(glob.glob(os.path.join(folder, '*.parquet'))):
        rows, got = pq.read_table(file), pq.read_table(os.path.join(out, os.path.basename(file)))
        leaf, tests, cost = route(tree, rows)
        nodes = tree['nodes']
        problems = [
            name
            for name in rows.column_names
            if not got[name].cast(rows[name].type).combine_chunks().equals(rows[name].combine_chunks())
        ]
        want = {'leaf': leaf, 'tests': tests, 'cost': cost, 'prediction': np.array([nodes[i]['class'] for i in leaf])}
        for k, c in enumerate(tree['label']['classes']):
            want['probability_' + c] = np.array([nodes[i]['probabilities'][k] for i in leaf])
        problems += [name for name, w in want.items() if not np.array_equal(np.array(got[name]), w)]
        if problems:
            sys.exit(f'{data.name}: {file}: these columns differ: {problems}')
        total += rows.num_rows
    return total, len(nodes)


def ratio(espalier, data, runs):
    run = espalier.train(data, data.files, '--select', 'first', '--certificate', 'none')
    needed = sorted({n['test']['feature'] for n in load(run, 'tree.json')['nodes'] if 'test' in n})
    out = os.path.join(espalier.work, 'timed')
    ours = lambda: espalier.run(
        'predict',
        '--model',
        run,
        '--input',
        ','.join(data.files),
        '--output',
        out,
        '--overwrite',
        '--label',
        'none',
        '--progress',
        'none',
    )
    ours()
    scored = [(f, pq.read_table(os.path.join(out, os.path.basename(f)))) for f in data.files]

    def peer():
        for f, t in scored:
            pq.read_table(f, columns=needed)
            pq.write_table(t, os.path.join(espalier.work, 'peer.parquet'))

    peer()
    times = []
    for _ in range(runs):
        times.append([])
        for side in ours, peer:
            start = time.perf_counter()
            side()
            times[-1].append(time.perf_counter() - start)
    times = np.array(times)
    return np.median(times[:, 0] / times[:, 1]), np.median(times, 0)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--sets', type=lambda s: s.split(','), default=[])
    ap.add_argument('--espalier')
    ap.add_argument('--runs', type=int, default=5)
    options = ap.parse_args()
    rows = []
    with Espalier(options.espalier) as espalier:
        every = data_sets(options.sets, of_paper=False)
        for number, data in enumerate(every):
            n, nodes = check(espalier, data, number)
            rows.append([data.name, n, nodes, 'all equal'])
        table(['data set', 'rows', 'nodes', 'columns'], rows)
        for data in every:
            if data.name != 'covertype':
                continue
            r, (ours, peer) = ratio(espalier, data, options.runs)
            print(f'covertype: {r:.2f} of the time of pyarrow ({ours:.2f} s, {peer:.2f} s)')
            if r > 2:
                sys.exit('slower than twice the time of pyarrow')


main()
